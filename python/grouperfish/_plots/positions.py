"""Places of clusters on a map: numpy alone, and nothing left to chance.

    cosines of the centres -> t-SNE from classical scaling -> inches -> circles and names moved apart

t-SNE: van der Maaten & Hinton, JMLR 9 (2008) 2579-2605, exact, O(k^2) a step. It starts from
the two main axes of classical scaling (Torgerson, Psychometrika 17 (1952) 401-419), whose signs are
fixed, so that the same centres have the same map. A handful of clusters stays as scaling has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy

HANDFUL = 8
STEPS, EXAGGERATED = 600, 200
LETTER, LINE = 0.075, 0.16  # inches of a name's letter and of its lines
AREA = 0.28  # of the map under circles, before they are moved apart
CANVAS = (9.0, 6.0)


@dataclass
class Layout:
    """Inches, from the lower left corner."""

    x: list
    y: list
    radius: list
    width: float
    height: float


def cosines(centers: Any, rows: list) -> Any:
    """Of some rows of the centres with each other: k by k. Columns are made dense a few at a time."""
    indptr, indices = numpy.asarray(centers.indptr), numpy.asarray(centers.indices)
    data = numpy.asarray(centers.data, dtype="float64")
    entries = numpy.concatenate([numpy.arange(indptr[r], indptr[r + 1], dtype="int64") for r in rows])
    lengths = [int(indptr[r + 1] - indptr[r]) for r in rows]
    row_of = numpy.repeat(numpy.arange(len(rows)), lengths)
    columns, column_of = numpy.unique(indices[entries], return_inverse=True)
    product = numpy.zeros((len(rows), len(rows)))
    for start in range(0, len(columns), 4096):
        here = (column_of >= start) & (column_of < start + 4096)
        dense = numpy.zeros((len(rows), min(4096, len(columns) - start)))
        dense[row_of[here], column_of[here] - start] = data[entries[here]]
        product += dense @ dense.T
    return numpy.clip(product, -1, 1)


def lay_out(near: Any, sizes: list, names: list, width_of: Callable[[str], int]) -> Layout:
    k = len(sizes)
    places = scaled(near)
    if k > HANDFUL:
        places = neighbours(near, places)
    places = _spread(places)
    width, height = CANVAS
    grown = max(0.5, (k / 12) ** 0.5) if k < 12 else max(1.0, (k / 30) ** 0.4)  # names want room
    width, height = width * grown, height * grown
    weights = numpy.sqrt(numpy.maximum(numpy.asarray(sizes, dtype=float), 1e-9))
    radius = weights * numpy.sqrt(AREA * width * height / numpy.pi / (weights**2).sum())
    radius = numpy.clip(radius, 0.06, 0.2 * height)
    letters = numpy.array([max(width_of(line) for line in lines) for lines in names])
    half = numpy.stack(
        [
            numpy.maximum(radius, letters * LETTER / 2) + 0.04,
            numpy.maximum(radius, numpy.array([len(lines) for lines in names]) * LINE / 2) + 0.03,
        ],
        axis=1,
    )
    places = move_apart(places * [width, height], half)
    low, high = (places - half).min(axis=0), (places + half).max(axis=0)
    room = numpy.maximum(high - low + 0.3, [4.0, 2.5])
    places = places - (low + high) / 2 + room / 2
    return Layout(places[:, 0].tolist(), places[:, 1].tolist(), radius.tolist(), float(room[0]), float(room[1]))


def scaled(near: Any) -> Any:
    """Classical scaling to two axes of the distances between unit rows."""
    k = len(near)
    if k == 1:
        return numpy.zeros((1, 2))
    squares = 2 - 2 * near
    numpy.fill_diagonal(squares, 0)
    middle = numpy.eye(k) - 1 / k
    values, vectors = numpy.linalg.eigh(-0.5 * middle @ squares @ middle)
    places = numpy.zeros((k, 2))
    for axis in range(min(2, k)):
        vector = vectors[:, -1 - axis]
        sign = 1 if vector[numpy.abs(vector).argmax()] > 0 else -1
        places[:, axis] = sign * vector * numpy.sqrt(max(values[-1 - axis], 0))
    return places


def neighbours(near: Any, start: Any) -> Any:
    """t-SNE of cosine distances, exact, from a start that is given."""
    k = len(near)
    p = _affinities(numpy.maximum(2 - 2 * near, 0), min(10.0, (k - 1) / 3))
    deviation = start.std() or 1.0
    y = start / deviation * 1e-2
    moved, gains = numpy.zeros_like(y), numpy.ones_like(y)
    rate = max(k / 48, 20.0)
    for step in range(STEPS):
        squares = (y**2).sum(axis=1)
        weights = 1 / (1 + numpy.maximum(squares[:, None] + squares - 2 * y @ y.T, 0))
        numpy.fill_diagonal(weights, 0)
        pull = ((12 if step < EXAGGERATED else 1) * p - weights / weights.sum()) * weights
        slope = 4 * (pull.sum(axis=1)[:, None] * y - pull @ y)
        same = numpy.sign(slope) == numpy.sign(moved)
        gains = numpy.maximum(numpy.where(same, gains * 0.8, gains + 0.2), 0.01)
        moved = (0.5 if step < EXAGGERATED else 0.8) * moved - rate * gains * slope
        y = y + moved
        y -= y.mean(axis=0)
    return y


def _affinities(squares: Any, perplexity: float) -> Any:
    """Joint probabilities whose rows have that perplexity, by halving of the precision."""
    k = len(squares)
    low, high = numpy.zeros(k), numpy.full(k, numpy.inf)
    precision = numpy.ones(k)
    squares = numpy.where(numpy.eye(k, dtype=bool), numpy.inf, squares)
    squares = squares - squares.min(axis=1)[:, None]
    for _ in range(40):
        p = numpy.exp(-squares * precision[:, None])
        p /= p.sum(axis=1)[:, None]
        entropy = -(p * numpy.log(numpy.maximum(p, 1e-300))).sum(axis=1)
        wide = entropy > numpy.log(max(perplexity, 1.01))
        low, high = numpy.where(wide, precision, low), numpy.where(wide, high, precision)
        precision = numpy.where(numpy.isinf(high), precision * 2, (low + high) / 2)
    return numpy.maximum((p + p.T) / (2 * k), 1e-12)


def _spread(places: Any) -> Any:
    """Into the unit square, each axis by its own range; a few far ones do not crowd the others."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = numpy.where(high - low > 1e-9, high - low, 1)
    return (places - low) / span


def move_apart(places: Any, half: Any) -> Any:
    """Boxes moved apart, each along the way on which it overlaps less; the plane grows where that fails.

    half: half the width and height of each box.
    """
    places = places + numpy.arange(len(places))[:, None] * 1e-6  # none lie on one another
    reach = half[:, None] + half[None]
    for step in range(2000):
        between = places[:, None] - places[None]
        over = reach - numpy.abs(between)
        hit = (over > 1e-6).all(axis=2)
        numpy.fill_diagonal(hit, False)
        if not hit.any():
            break
        flat = (over[:, :, 0] < over[:, :, 1]) & hit
        tall = hit & ~flat
        push = numpy.stack([numpy.where(flat, over[:, :, 0], 0), numpy.where(tall, over[:, :, 1], 0)], axis=2)
        places = places + 0.3 * (numpy.sign(between) * push).sum(axis=1)
        if step % 100 == 99:
            places = places * 1.04
    return places
