"""What a dispatch works on: inputs made for a number, and outputs that begin as zeros."""

from __future__ import annotations

import dataclasses

import numpy as np

from .arithmetic import from_bits
from .program import Program
from .scalar_types import floats, integers, type_of

input_bits = 10
input_length = 1 << input_bits  # elements
own_length = 8  # elements of device memory that belong to one thread
atomic_length = 64
most_threads_per_group = 256
most_bytes_per_group = 24576  # of threadgroup memory for exchanges
arguments = {"n0": "uint", "n1": "int", "n2": "long", "n3": "ulong"}  # the same for all threads

_special_floats = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 65504.0, 65520.0, 3.0e38, 1e-40, 6e-8, np.inf, -np.inf, np.nan]
_special_floats += [2.0**31, -(2.0**31), 2.0**32, 2.0**63, 2.0**64, -(2.0**63), 255.0, 256.0, 127.5, -128.9, 1e-3]


def input_values(name: str, number: int) -> np.ndarray:
    """The elements of the input of a type: some small, some at the ends of the range, some anything."""
    type = type_of(name)
    random = np.random.default_rng([number, (*integers, *floats).index(name)])
    anything = random.integers(0, 1 << type.bits, input_length, dtype=f"u{type.bits // 8}")
    small = random.integers(-9, 10, input_length)
    which = random.integers(0, 4, input_length)
    if type.kind == "f":
        with np.errstate(over="ignore"):
            special = np.array(_special_floats).astype(np.float32).astype(type.dtype)
        special = (
            from_bits((special.view(np.uint32) >> np.uint32(16)).astype(np.uint16), type)
            if name == "bfloat"
            else special
        )
        anything = np.where(np.isnan(from_bits(anything, type)), anything.dtype.type(0), anything)
        values = np.where(which < 2, small.astype(type.dtype), from_bits(anything, type))
        return np.where(which == 2, special[random.integers(0, len(special), input_length)], values)
    ends = np.array([type.smallest, type.largest], dtype=type.dtype)[random.integers(0, 2, input_length)]
    small = small.astype(type.dtype)
    return np.select([which == 0, which == 1], [small, ends + small], anything.view(type.dtype))


def argument_values(number: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng([number, 99])
    values = {}
    for name, type_name in arguments.items():
        type = type_of(type_name)
        kind = int(random.integers(0, 4))
        near = int(random.integers(-40, 200))
        base = [near, near, (1 << 31) + near, (1 << 32) + near][kind] if random.integers(0, 4) else type.largest - near
        base &= (1 << type.bits) - 1
        values[name] = np.array([base], dtype=f"u{type.bits // 8}").view(type.dtype)
    return values


@dataclasses.dataclass(frozen=True)
class Atomic:
    """An operation whose result does not depend on the order of the threads. `spelling`: between atomic_fetch_ and
    _explicit; none: a loop that compares and exchanges. Of a float each thread adds a whole number."""

    compute: np.ufunc
    spelling: str | None
    type: str = "uint"
    start: int = 0

    def operand(self, value: np.ndarray) -> np.ndarray:
        """What a thread adds, of a uint."""
        if self.type == "float":
            return (value & np.uint32(255)).astype(np.float32)
        return value.astype(type_of(self.type).dtype)


atomics = {
    "add": Atomic(np.add, "add"),
    "sub": Atomic(np.subtract, "sub"),
    "or": Atomic(np.bitwise_or, "or"),
    "and": Atomic(np.bitwise_and, "and", start=0xFFFFFFFF),
    "xor": Atomic(np.bitwise_xor, "xor"),
    "max": Atomic(np.maximum, "max"),
    "min": Atomic(np.minimum, "min", start=0xFFFFFFFF),
    "largest": Atomic(np.maximum, "max", "int", -(1 << 31)),
    "smallest": Atomic(np.minimum, "min", "int", (1 << 31) - 1),
    "sum": Atomic(np.add, "add", "int"),
    "total": Atomic(np.add, "add", "float"),
    "exchanged": Atomic(np.add, None),
}
atomics_of_a_threadgroup = [name for name, atomic in atomics.items() if atomic.type == "uint" and atomic.spelling]


def atomic_values(name: str) -> np.ndarray:
    """What the array of an operation begins with."""
    return np.full(atomic_length, atomics[name].start, type_of(atomics[name].type).dtype)


@dataclasses.dataclass
class Outputs:
    """By name, each array as Metalloid gets it. Arrays of a bfloat are its bits."""

    arrays: dict[str, np.ndarray]
    slots: dict[str, list[int]]  # of which slots an array is


def slots_by_type(program: Program) -> dict[str, list[int]]:
    result: dict[str, list[int]] = {}
    for number, type in enumerate(program.slots):
        result.setdefault(str(type), []).append(number)
    return result
