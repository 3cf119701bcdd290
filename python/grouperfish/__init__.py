"""Grouperfish: documents grouped, groups named, in the documents' own words.

>>> from grouperfish import Grouperfish
>>> texts = ["the cat sat", "a cat purrs", "cats purr", "stocks fell", "stocks rose", "a stock split"]
>>> g = Grouperfish(k=2, language="english").fit(texts)
>>> sorted(g.cluster_names_)
['cat purrs', 'stocks']

``Grouperfish`` is an estimator as scikit-learn has them; ``open`` opens a store, the same that the
command and the server use. See docs/python.md.
"""

from ._calls import Answer, operations
from ._errors import (
    AlreadyExists,
    Cancelled,
    Closed,
    Conflict,
    Corrupt,
    GrouperfishError,
    InputOutput,
    Invalid,
    LimitExceeded,
    Locked,
    NotFound,
    OutOfMemory,
    OutcomeUnknown,
)
from ._estimator import Grouperfish
from ._library import VERSION as __version__
from ._store import Build, Centers, Cluster, Collection, Document, Store, open
from ._table import Table

__all__ = [
    "AlreadyExists",
    "Answer",
    "Build",
    "Cancelled",
    "Centers",
    "Closed",
    "Cluster",
    "Collection",
    "Conflict",
    "Corrupt",
    "Document",
    "Grouperfish",
    "GrouperfishError",
    "InputOutput",
    "Invalid",
    "LimitExceeded",
    "Locked",
    "NotFound",
    "OutOfMemory",
    "OutcomeUnknown",
    "Store",
    "Table",
    "__version__",
    "open",
    "operations",
]
