"""The library by ctypes: where it is found, what its structs and functions look like.

Everything here mirrors the headers of ``include/grouperfish/``; the library's version has to be the
package's, so that neither side guesses what the other's structs are.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
)

from . import _errors

VERSION = "0.1.0"
SONAME = "libgrouperfish.so.0"

GF_OK, GF_ENOTFOUND, GF_EINVAL = 0, 1, 2
GF_EIO, GF_ENOMEM, GF_ECANCELLED = 7, 8, 9

# ---- structs -------------------------------------------------------------------------------------


class Error(Structure):
    _fields_ = [("status", c_int), ("message", c_char * 512)]


class Slice(Structure):
    # c_void_p, so that bytes behind a NUL are not lost.
    _fields_ = [("ptr", c_void_p), ("len", c_size_t)]

    def bytes(self) -> bytes:
        return ctypes.string_at(self.ptr, self.len) if self.len else b""

    def text(self) -> str:
        return self.bytes().decode("utf-8", "replace")


class Cancel(Structure):
    _fields_ = [("requested", c_int)]


class Place(Structure):
    _fields_ = [("name_space", Slice), ("collection", Slice)]


class StoreOptions(Structure):
    _fields_ = [
        ("version", c_uint),
        ("create", c_bool),
        ("wait_seconds", c_double),
        ("purpose", c_char_p),
        ("cancel", POINTER(Cancel)),
        ("small_buffers", c_bool),
        ("more", c_void_p),
        ("more_repair", c_void_p),
        ("drop_unreadable", c_bool),
        ("read_only", c_bool),
        ("reads", c_bool),
        ("in_memory", c_bool),
        ("archive", c_void_p),
        ("archive_context", c_void_p),
    ]


class Argument(Structure):
    _fields_ = [("name", Slice), ("value", Slice)]


class Notice(Structure):
    _fields_ = [
        ("reason", c_char_p),
        ("source", Slice),
        ("line", c_uint64),
        ("message", c_char_p),
        ("refused", c_bool),
    ]


EMIT = CFUNCTYPE(c_int, c_void_p, Slice, POINTER(Error))
NOTICE = CFUNCTYPE(None, c_void_p, POINTER(Notice))
PROGRESS = CFUNCTYPE(None, c_void_p, Slice, c_char_p, c_uint64, c_uint64)
READ = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, POINTER(c_size_t), POINTER(Error))


class Sink(Structure):
    _fields_ = [
        ("context", c_void_p),
        ("emit", EMIT),
        ("write", EMIT),
        ("notice", NOTICE),
        ("progress", PROGRESS),
        ("reject", EMIT),
    ]


class Ask(Structure):
    _fields_ = [
        ("version", c_uint),
        ("arguments", POINTER(Argument)),
        ("n_arguments", c_size_t),
        ("name_space", Slice),
        ("sink", Sink),
        ("read", READ),
        ("context", c_void_p),
        ("input_name", Slice),
        ("path", c_char_p),
        ("wait_seconds", c_double),
        ("cancel", POINTER(Cancel)),
    ]


class AskResult(Structure):
    _fields_ = [("outcome", c_int), ("taken", c_uint64)]


REFUSED = CFUNCTYPE(c_int, c_void_p, c_uint64, c_char_p, c_char_p, POINTER(Error))
ARROW_PROGRESS = CFUNCTYPE(None, c_void_p, c_uint64)


class ArrowOptions(Structure):
    _fields_ = [
        ("version", c_uint),
        ("id", c_char_p),
        ("text", c_char_p),
        ("time", c_char_p),
        ("language", c_char_p),
        ("fields", POINTER(c_char_p)),
        ("n_fields", c_size_t),
        ("no_fields", c_bool),
        ("first_id", c_uint64),
        ("refused", REFUSED),
        ("progress", ARROW_PROGRESS),
        ("context", c_void_p),
        ("cancel", POINTER(Cancel)),
    ]


class PutCounts(Structure):
    _fields_ = [
        ("created", c_uint64),
        ("changed", c_uint64),
        ("unchanged", c_uint64),
        ("deleted", c_uint64),
        ("absent", c_uint64),
        ("collections", c_uint64),
    ]


class ArrowCounts(Structure):
    _fields_ = [
        ("rows", c_uint64),
        ("refused", c_uint64),
        ("bad_times", c_uint64),
        ("put", PutCounts),
    ]


class Csr(Structure):
    _fields_ = [
        ("n_rows", c_uint32),
        ("n_cols", c_uint32),
        ("start", POINTER(c_uint64)),
        ("col", POINTER(c_uint32)),
        ("val", POINTER(c_float)),
    ]


class BuildMatrix(Structure):
    _fields_ = [
        ("rows", Csr),
        ("id", POINTER(Slice)),
        ("label", POINTER(c_uint32)),
        ("score", POINTER(c_float)),
        ("replaced", POINTER(c_bool)),
        ("n_clusters", c_uint32),
        ("cluster", POINTER(c_uint32)),
        ("name", POINTER(Slice)),
        ("centroids", Csr),
        ("vocabulary", c_void_p),
        ("id_bytes", c_void_p),
    ]


class Matrix(Structure):
    _fields_ = [
        ("n_rows", c_uint32),
        ("n_cols", c_uint32),
        ("id", POINTER(Slice)),
        ("sparse", POINTER(Csr)),
        ("dense", c_void_p),
    ]


class Pair(Structure):
    _fields_ = [("name", Slice), ("value", Slice)]


REBUILD_PROGRESS = CFUNCTYPE(None, c_void_p, Place, c_char_p, c_uint64, c_uint64)


class RebuildOptions(Structure):
    _fields_ = [
        ("version", c_uint),
        ("force", c_bool),
        ("dry_run", c_bool),
        ("start", c_int),
        ("matrix", POINTER(Matrix)),
        ("threads", c_uint),
        ("memory", c_uint64),
        ("cancel", POINTER(Cancel)),
        ("progress", REBUILD_PROGRESS),
        ("context", c_void_p),
        ("same_rows", c_bool),
        ("set", POINTER(Pair)),
        ("n_set", c_size_t),
        ("ranks", c_uint),
        ("hosts", c_char_p),
    ]


class BuildInfo(Structure):
    _fields_ = [
        ("build", c_int64),
        ("served", c_bool),
        ("pinned", c_bool),
        ("documents", c_uint64),
        ("without_terms", c_uint64),
        ("distinct", c_uint64),
        ("terms", c_uint32),
        ("k", c_uint32),
        ("objective", c_double),
        ("seconds", c_double),
        ("seq", c_uint64),
        ("settings", Slice),
        ("versions", Slice),
        ("rows", c_int),
        ("edits", c_uint64),
        ("unplaced", c_uint64),
    ]


class RebuildResult(Structure):
    # gf_memory_estimate, which only dry runs fill, is 23 numbers of 8 bytes, of which one is narrower.
    _fields_ = [
        ("outcome", c_int),
        ("build", BuildInfo),
        ("unknown", c_uint64),
        ("memory", c_uint64 * 32),
    ]


class ClusterState(Structure):
    _fields_ = [("status", Slice), ("owner", Slice), ("link", Slice), ("note", Slice)]


class Membership(Structure):
    _fields_ = [
        ("cluster", c_uint32),
        ("label", Slice),
        ("score", c_float),
        ("runner_up", c_uint32),
        ("runner_up_label", Slice),
        ("second", c_float),
        ("replaced", c_bool),
        ("provisional", c_bool),
        ("copies", c_uint64),
        ("state", POINTER(ClusterState)),
        ("is_new", c_bool),
        ("before", c_uint32),
    ]


VISIT_NEAREST = CFUNCTYPE(c_int, c_void_p, c_size_t, Slice, c_double, POINTER(Error))
# gf_visit_nearest_earlier: context, number, id, cosine, err


class NearestEarlierOptions(Structure):
    _fields_ = [
        ("version", c_uint),
        ("configuration", Slice),
        ("ids", POINTER(Slice)),
        ("n", c_size_t),
        ("least", c_double),
        ("threads", c_uint),
        ("cancel", POINTER(Cancel)),
    ]


TAKE = CFUNCTYPE(c_int, c_void_p, Slice, POINTER(Error))
# gf_archive_give: context, take, taker, err
GIVE = CFUNCTYPE(c_int, c_void_p, TAKE, c_void_p, POINTER(Error))

# ---- finding and loading -------------------------------------------------------------------------


def _candidates() -> list[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    told = os.environ.get("GROUPERFISH_LIBRARY")
    if told:
        return [os.path.join(told, SONAME) if os.path.isdir(told) else told]
    found = [os.path.join(here, SONAME), os.path.join(here, "lib", SONAME)]
    tree = os.path.dirname(os.path.dirname(here))
    if os.path.exists(os.path.join(tree, "include", "grouperfish.h")):
        found += [os.path.join(tree, "build", kind, SONAME) for kind in ("release", "dev")]
    return [path for path in found if os.path.exists(path)] + [SONAME]


def _load() -> ctypes.CDLL:
    failures = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            library.gf_version.restype = c_char_p
            version = library.gf_version().decode()
        except (OSError, AttributeError) as failure:
            failures.append(f"{path}: {failure}")
            continue
        if version != VERSION:
            raise ImportError(
                f"{path} is of version {version}, and this package of {VERSION}: install both of one "
                "version, or have GROUPERFISH_LIBRARY name the right one"
            )
        return library
    raise ImportError(
        f"{SONAME} is not found; install Grouperfish, or have GROUPERFISH_LIBRARY name it\n  "
        + "\n  ".join(failures)
    )


library = _load()

_PROTOTYPES = {
    "gf_version": (c_char_p, []),
    "gf_version_libraries": (c_char_p, []),
    "gf_store_open": (c_int, [c_char_p, POINTER(StoreOptions), POINTER(c_void_p), POINTER(Error)]),
    "gf_store_close": (None, [c_void_p]),
    "gf_store_is_read_only": (c_bool, [c_void_p]),
    "gf_backup_archive": (c_int, [c_void_p, TAKE, c_void_p, POINTER(Cancel), POINTER(Error)]),
    "gf_ask_run": (c_int, [c_void_p, c_char_p, POINTER(Ask), POINTER(AskResult), POINTER(Error)]),
    "gf_ask_operations": (c_int, [TAKE, c_void_p, POINTER(Error)]),
    "gf_arrow_put": (
        c_int,
        [c_void_p, Place, c_void_p, POINTER(ArrowOptions), POINTER(ArrowCounts), POINTER(Error)],
    ),
    "gf_arrow_memberships": (c_int, [c_void_p, POINTER(Cancel), c_void_p, POINTER(Error)]),
    "gf_arrow_assign": (
        c_int,
        [c_void_p, c_void_p, POINTER(ArrowOptions), c_uint, c_void_p, POINTER(Error)],
    ),
    "gf_arrow_similarities": (
        c_int,
        [c_void_p, c_void_p, POINTER(ArrowOptions), c_uint, c_void_p, POINTER(Error)],
    ),
    "gf_view_open": (c_int, [c_void_p, Place, Slice, c_int64, POINTER(c_void_p), POINTER(Error)]),
    "gf_view_close": (None, [c_void_p]),
    "gf_view_build": (POINTER(BuildInfo), [c_void_p]),
    "gf_view_assign_rows": (
        c_int,
        [c_void_p, POINTER(Matrix), c_uint, POINTER(Cancel), POINTER(Membership), POINTER(Error)],
    ),
    "gf_nearest_earlier": (
        c_int,
        [c_void_p, Place, POINTER(NearestEarlierOptions), VISIT_NEAREST, c_void_p, POINTER(Error)],
    ),
    "gf_view_cluster_size": (c_uint64, [c_void_p, c_uint32]),
    "gf_view_read_centres": (c_int, [c_void_p, POINTER(BuildMatrix), POINTER(Error)]),
    "gf_view_read_matrix": (
        c_int,
        [c_void_p, POINTER(Cancel), POINTER(BuildMatrix), POINTER(Error)],
    ),
    "gf_build_matrix_release": (None, [POINTER(BuildMatrix)]),
    "gf_build_matrix_surface": (Slice, [POINTER(BuildMatrix), c_uint32]),
    "gf_rebuild": (
        c_int,
        [c_void_p, Place, Slice, POINTER(RebuildOptions), POINTER(RebuildResult), POINTER(Error)],
    ),
}

for _name, (_result, _arguments) in _PROTOTYPES.items():
    _function = getattr(library, _name)
    _function.restype = _result
    _function.argtypes = _arguments

# ---- small help ----------------------------------------------------------------------------------


def slice_of(data: bytes) -> Slice:
    """A slice over bytes, which the caller keeps as long as it is used."""
    return Slice(ctypes.cast(c_char_p(data), c_void_p), len(data))


def raise_for(status: int, error: Error) -> None:
    """Raise the exception of a status that is not GF_OK."""
    if status != GF_OK:
        raise _errors.of_status(status, error.message.decode("utf-8", "replace"))


def fail_in(error, status: int, message: str) -> int:
    """Fill a gf_error from within a callback, and give its status."""
    if error:
        error.contents.status = status
        error.contents.message = message.encode()[:511]
    return status


def version() -> str:
    """The version of the library that is loaded."""
    return library.gf_version().decode()


