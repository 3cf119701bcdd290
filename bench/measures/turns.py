"""Runs of what is compared take turns, so that a busy machine is busy for all; and what becomes of
their figures.
"""
import statistics

from process import TooLong

MEDIANS = ("seconds", "mib")
MEANS = ("cosine", "nmi", "ari")


class Plan:
    """How often each is run, how long one run may take (seconds), and who is told what is under
    way.
    """

    def __init__(self, runs, limit, quick, say):
        self.runs, self.limit, self.quick, self.say = runs, limit, quick, say


def take_turns(plan, systems):
    """Run all systems, each a name with a function of a seed, in turns: {name: figures}, as
    `middle` has them.

    One that was stopped at the limit is not run again; its figures are None.
    """
    told = {name: [] for name in systems}
    for seed in range(1, plan.runs + 1):
        for name, work in systems.items():
            if told[name] is None:
                continue
            plan.say(f"  run {seed} of {plan.runs}: {name}")
            try:
                told[name].append(work(seed))
            except TooLong:
                plan.say(f"    stopped after {plan.limit:.0f} s")
                told[name] = None
    return {name: middle(runs) for name, runs in told.items()}


def middle(runs):
    """Of the figures of several runs: medians of seconds and memory, means of the measures, the
    last of the rest.
    """
    if runs is None:
        return None
    result = dict(runs[-1], all_seconds=[one["seconds"] for one in runs])
    for key in result.keys() & (MEDIANS + MEANS):
        values = [one[key] for one in runs]
        result[key] = statistics.median(values) if key in MEDIANS else statistics.mean(values)
    return result
