"""Rows of numbers (embeddings, a TF-IDF of one's own) for the library."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Sequence

from . import _library as lib
from ._errors import Invalid


def is_sparse(data: Any) -> bool:
    """Whether it is one of scipy's sparse matrices."""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def is_matrix(data: Any) -> bool:
    """Whether it is an array of two dimensions, or sparse."""
    return is_sparse(data) or (hasattr(data, "shape") and len(data.shape) == 2)


class Rows:
    """A gf_matrix, and what it points into."""

    def __init__(self, matrix: lib.Matrix, n: int, held: list) -> None:
        self.matrix, self.n, self._held = matrix, n, held


def rows_of(data: Any, ids: Optional[Sequence[str]]) -> Rows:
    """Rows of an array or a sparse matrix, as float32; ids name their documents.

    Raises
    ------
    Invalid
        Values that are not finite, no two dimensions, too many rows or columns, or as many ids as rows
        are not there.
    """
    import numpy

    if not is_matrix(data):
        raise Invalid(f"rows are an array of two dimensions, not {type(data).__name__}")
    n, width = data.shape
    if n >= 2**32 or width >= 2**32:
        raise Invalid(f"an array of {n:,} x {width:,}: rows and columns are fewer than {2**32:,} each")
    if ids is not None and len(ids) != n:
        raise Invalid(f"{len(ids)} ids for {n} rows")
    held: list = []
    matrix = lib.Matrix(n_rows=n, n_cols=width)
    if is_sparse(data):
        csr = data.tocsr(copy=True)
        csr.sum_duplicates()
        csr.sort_indices()
        values = numpy.ascontiguousarray(csr.data, dtype="float32")
        indptr = numpy.ascontiguousarray(csr.indptr, dtype="uint64")
        indices = numpy.ascontiguousarray(csr.indices, dtype="uint32")
        sparse = lib.Csr(
            n,
            width,
            indptr.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64)),
            indices.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)),
            values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
        )
        matrix.sparse = ctypes.pointer(sparse)
        held += [values, indptr, indices, sparse]
    else:
        try:
            values = numpy.ascontiguousarray(data, dtype="float32")
        except (TypeError, ValueError) as bad:
            raise Invalid(f"rows are numbers: {bad}") from None
        matrix.dense = values.ctypes.data
        held.append(values)
    if not numpy.isfinite(values).all():
        raise Invalid("a row holds NaN or infinity")
    if ids is not None:
        encoded = [one.encode() for one in ids]
        slices = (lib.Slice * max(n, 1))(*[lib.slice_of(one) for one in encoded])
        matrix.id = slices
        held += [encoded, slices]
    return Rows(matrix, n, held)


def rows_of_file(file: bytes) -> tuple[Any, list]:
    """The rows of a file as ``export --matrix`` writes it, and the ids of their documents."""
    import io

    import numpy

    arrays = numpy.load(io.BytesIO(file))
    ids = arrays["ids"].tolist()
    if "rows" in arrays:
        return arrays["rows"], ids
    from scipy.sparse import csr_matrix

    parts = (arrays["data"], arrays["indices"], arrays["indptr"])
    return csr_matrix(parts, shape=tuple(arrays["shape"])), ids
