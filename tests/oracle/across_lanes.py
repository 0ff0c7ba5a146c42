"""Operations across the lanes of a simdgroup or quadgroup, among those that take part."""

from __future__ import annotations

import numpy as np

from .arithmetic import bfloat_of_float
from .grid import Threads
from .scalar_types import Type

_reductions = {
    "sum": (np.add, lambda t: 0),
    "product": (np.multiply, lambda t: 1),
    "min": (np.minimum, lambda t: np.inf if t.kind == "f" else t.largest),
    "max": (np.maximum, lambda t: -np.inf if t.kind == "f" else t.smallest),
    "and": (np.bitwise_and, lambda t: -1 if t.kind == "i" else t.largest),
    "or": (np.bitwise_or, lambda t: 0),
    "xor": (np.bitwise_xor, lambda t: 0),
}


class Lanes:
    def __init__(self, threads: Threads, width: int) -> None:
        self._threads, self._width = threads, width

    def _rows(self, values: np.ndarray) -> np.ndarray:
        rows = self._threads.rows(values)
        return rows.reshape(*rows.shape[:-2], -1, self._width)

    def _back(self, rows: np.ndarray) -> np.ndarray:
        return self._threads.threads(np.ascontiguousarray(rows).reshape(*rows.shape[:-2], -1, 32))

    def _active(self, mask: np.ndarray) -> np.ndarray:
        present = self._threads.table.reshape(-1, self._width) >= 0
        return self._rows(mask) & present

    def reduce(self, name: str, value: np.ndarray, type: Type, mask: np.ndarray) -> np.ndarray:
        function, identity = _reductions[name]
        rows = np.where(self._active(mask), self._rows(value), type.dtype.type(identity(type)))
        result = function.reduce(rows, axis=-1, keepdims=True, dtype=None if name in ("min", "max") else type.dtype)
        if type.scalar == "bfloat":
            result = bfloat_of_float(result)
        return self._back(np.broadcast_to(result, rows.shape))

    def prefix(self, name: str, value: np.ndarray, type: Type, mask: np.ndarray) -> np.ndarray:
        """prefix_inclusive_sum and its like."""
        _, kind, operation = name.split("_")
        function, identity = _reductions[operation]
        neutral = type.dtype.type(identity(type))
        rows = np.where(self._active(mask), self._rows(value), neutral)
        result = function.accumulate(rows, axis=-1, dtype=type.dtype)
        if kind == "exclusive":
            first = np.full_like(result[..., :1], neutral)
            result = np.concatenate([first, result[..., :-1]], axis=-1)
        return self._back(result)

    def votes(self, condition: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """A bit for each lane that takes part and has the condition."""
        rows = self._active(mask) & self._rows(condition)
        bits = (rows.astype(np.uint64) << np.arange(self._width, dtype=np.uint64)).sum(-1, keepdims=True)
        return self._back(np.broadcast_to(bits.astype(np.uint64), rows.shape))

    def is_first(self, mask: np.ndarray) -> np.ndarray:
        rows = self._active(mask)
        return self._back(rows & (np.cumsum(rows, axis=-1) == 1))

    def first(self, value: np.ndarray, mask: np.ndarray) -> np.ndarray:
        rows, active = self._rows(value), self._active(mask)
        first = np.argmax(active, axis=-1)
        return self._back(np.broadcast_to(_take(rows, first[..., None]), rows.shape))

    def permute(self, value: np.ndarray, source: np.ndarray, takes: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """The value of lane `source` where `takes` and that lane takes part; elsewhere one's own."""
        rows, from_ = self._rows(value), self._rows(source)
        active = np.take_along_axis(self._active(mask), from_, axis=-1)
        return self._back(np.where(self._rows(takes) & active, _take(rows, from_), rows))

    def lane(self) -> np.ndarray:
        return self._threads.lane % self._width


def _take(rows: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    return np.take_along_axis(rows, np.broadcast_to(lanes, (*rows.shape[:-1], lanes.shape[-1])), axis=-1)


def across_lanes(threads: Threads, name: str, operands: list, types: list[Type], mask: np.ndarray) -> np.ndarray:
    """`name` as in Metal; permutations with a number behind a colon: simd_shuffle_up:3. A permutation that would read
    a lane which takes no part keeps the lane's own value, as the printed code sees to."""
    group, operation = name.split("_", 1)
    operation, _, parameter = operation.partition(":")
    lanes = Lanes(threads, 32 if group == "simd" else 4)
    width, own = lanes._width, lanes.lane()
    if operation in ("ballot", "any", "all"):
        votes = lanes.votes(~operands[0] if operation == "all" else operands[0], mask)
        return votes if operation == "ballot" else (votes != 0) == (operation == "any")
    if operation == "active_threads_mask":
        return lanes.votes(np.array([True]), mask)
    if operation == "is_first":
        return lanes.is_first(mask)
    value, always = operands[0], np.array([True])
    if operation in _reductions:
        return lanes.reduce(operation, value, types[0], mask)
    if operation.startswith("prefix_"):
        return lanes.prefix(operation, value, types[0], mask)
    if operation == "broadcast_first":
        return lanes.first(value, mask)
    if operation == "shuffle":
        return lanes.permute(value, np.asarray(operands[1]).astype(np.int64) % width, always, mask)
    number = int(parameter.split(":")[0])
    if operation == "broadcast":
        return lanes.permute(value, np.full_like(own, number), always, mask)
    if operation == "shuffle_xor":
        return lanes.permute(value, own ^ number, always, mask)
    direction = -1 if operation.endswith("_up") else 1
    if operation.startswith("shuffle_rotate"):
        return lanes.permute(value, (own + direction * number) % width, always, mask)
    if operation.startswith("shuffle_and_fill"):
        modulo = int(parameter.split(":")[1])
        place = own % modulo
        source = own - place + (place + direction * number) % modulo
        inside = (place + direction * number >= 0) & (place + direction * number < modulo)
        data = lanes.permute(value, source, always, mask)
        fill = lanes.permute(operands[1], source, always, mask)
        return np.where(_source_takes_part(lanes, source, mask), np.where(inside, data, fill), value)
    source = own + direction * number
    inside = (source >= 0) & (source < width)
    return lanes.permute(value, np.where(inside, source, 0), inside, mask)


def _source_takes_part(lanes: Lanes, source: np.ndarray, mask: np.ndarray) -> np.ndarray:
    votes = lanes.votes(np.array([True]), mask)
    return (votes >> source.astype(np.uint64)) & np.uint64(1) != 0
