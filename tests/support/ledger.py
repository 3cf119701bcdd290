"""What a store must hold, by what it has acknowledged.

A change is noted before it is asked for, and settled once it was acknowledged; a value that failed
half-way may be there or not. One thread may write each key, others read.

    ledger = Ledger()
    ledger.asked(key, text)         # None: it is deleted
    ...                             # the request
    ledger.acknowledged(key, text)
    ledger.differences(lambda key: what the store has of it, None where that is nothing)
"""


class Ledger:
    def __init__(self):
        self.may = {}  # key: what may be there

    def asked(self, key, value):
        self.may[key] = (*self.may.get(key, (None,)), value)

    def acknowledged(self, key, value):
        self.may[key] = (value,)

    def refused(self, key):
        """The last that was asked for has certainly not been done."""
        self.may[key] = self.may[key][:-1]

    def known(self):
        """Keys of which one value alone may be there, with that."""
        return {key: values[0] for key, values in list(self.may.items()) if len(values) == 1}

    def differences(self, read):
        """[(key, what may be there, what is)] of those keys that have something else."""
        found = ((key, values, read(key)) for key, values in sorted(self.may.items()))
        return [one for one in found if one[2] not in one[1]]
