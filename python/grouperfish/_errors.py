"""Exceptions: what went wrong, in the engine's words."""

from __future__ import annotations

__all__ = [
    "AlreadyExists",
    "Cancelled",
    "Closed",
    "Conflict",
    "Corrupt",
    "GrouperfishError",
    "InputOutput",
    "Invalid",
    "LimitExceeded",
    "Locked",
    "NotFound",
    "OutOfMemory",
]


class GrouperfishError(Exception):
    """A failure of the engine; the message says what, where, and what to do.

    Attributes
    ----------
    status : str
        The engine's name of the kind of failure, such as ``"corrupt"``.
    """

    status = "error"


class NotFound(GrouperfishError, LookupError):
    """A store, collection, document, cluster or build is not there."""

    status = "not found"


class Invalid(GrouperfishError, ValueError):
    """An argument, a setting, a column or a record is not acceptable."""

    status = "invalid"


class AlreadyExists(GrouperfishError):
    """What was to be made is there already."""

    status = "exists"


class Locked(GrouperfishError):
    """Another process holds the store, or another rebuild the configuration."""

    status = "busy"


class Conflict(GrouperfishError):
    """The build cannot answer: a text asked of a build of embeddings, or the other way round."""

    status = "conflict"


class Corrupt(GrouperfishError):
    """Stored bytes are damaged."""

    status = "corrupt"


class InputOutput(GrouperfishError, OSError):
    """A disk, a file or a stream failed."""

    status = "io"

    def __str__(self) -> str:
        return Exception.__str__(self)


class OutOfMemory(GrouperfishError, MemoryError):
    """An allocation failed."""

    status = "memory"


class Cancelled(GrouperfishError):
    """Stopped on request."""

    status = "cancelled"


class LimitExceeded(GrouperfishError, ValueError):
    """A stated limit was passed."""

    status = "limit"


class OutcomeUnknown(GrouperfishError, OSError):
    """The answer to a write was lost: it was carried out or not."""

    status = "unknown"

    def __str__(self) -> str:
        return Exception.__str__(self)


class Closed(GrouperfishError, ValueError):
    """The store was closed, or belongs to the process that this one was forked from."""

    status = "closed"


# In the order of gf_status (include/grouperfish/status.h), from 1 on.
_BY_STATUS = (
    NotFound,
    Invalid,
    AlreadyExists,
    Locked,
    Conflict,
    Corrupt,
    InputOutput,
    OutOfMemory,
    Cancelled,
    LimitExceeded,
    OutcomeUnknown,
)


def of_status(status: int, message: str) -> GrouperfishError:
    """The exception of a gf_status that is not GF_OK."""
    kind = _BY_STATUS[status - 1] if 1 <= status <= len(_BY_STATUS) else GrouperfishError
    return kind(message or kind.status)
