"""Metal's arithmetic types as the oracle sees them, and C++'s conversions between them."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

# name: kind (b bool, i signed, u unsigned, f floating), bits, the array type that holds its values. A bfloat is a
# float32 whose lower 16 bits are zero.
_scalars = {
    "bool": ("b", 8, np.bool_),
    "char": ("i", 8, np.int8),
    "uchar": ("u", 8, np.uint8),
    "short": ("i", 16, np.int16),
    "ushort": ("u", 16, np.uint16),
    "int": ("i", 32, np.int32),
    "uint": ("u", 32, np.uint32),
    "long": ("i", 64, np.int64),
    "ulong": ("u", 64, np.uint64),
    "half": ("f", 16, np.float16),
    "bfloat": ("f", 16, np.float32),
    "float": ("f", 32, np.float32),
}
integers = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
floats = ("half", "bfloat", "float")


@dataclasses.dataclass(frozen=True)
class Type:
    """A scalar, or a vector of 2 to 4 of them."""

    scalar: str
    lanes: int = 1

    def __str__(self) -> str:
        return self.scalar + (str(self.lanes) if self.lanes > 1 else "")

    @functools.cached_property
    def kind(self) -> str:
        return _scalars[self.scalar][0]

    @functools.cached_property
    def bits(self) -> int:
        return _scalars[self.scalar][1]

    @functools.cached_property
    def dtype(self) -> np.dtype:
        return np.dtype(_scalars[self.scalar][2])

    @property
    def bytes(self) -> int:
        """In memory: three components take the room of four."""
        return self.bits // 8 * (4 if self.lanes == 3 else self.lanes)

    @property
    def element(self) -> Type:
        return type_of(self.scalar)

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def smallest(self) -> int:
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def largest(self) -> int:
        return (1 << (self.bits - (self.kind == "i"))) - 1

    @property
    def unsigned(self) -> Type:
        return type_of(self.scalar if self.kind == "u" else "u" + self.scalar, self.lanes)


@functools.cache
def type_of(scalar: str, lanes: int = 1) -> Type:
    return Type(scalar, lanes)


boolean, int_type, uint_type, ulong_type = (type_of(name) for name in ("bool", "int", "uint", "ulong"))


def promoted(type: Type) -> Type:
    """What a scalar is in arithmetic; vectors stay what they are."""
    if type.lanes == 1 and (type.kind == "b" or (type.is_integer and type.bits < 32)):
        return int_type
    return type


def common_type(a: Type, b: Type) -> Type:
    """The type of an operation on both: C++'s usual arithmetic conversions, and a scalar beside a vector is one."""
    if a.lanes > 1 or b.lanes > 1:
        assert a.scalar == b.scalar and (a.lanes == b.lanes or 1 in (a.lanes, b.lanes)), (a, b)
        return a if a.lanes > 1 else b
    a, b = promoted(a), promoted(b)
    if "f" in (a.kind, b.kind):
        ranked = [type_of(name) for name in ("float", "bfloat", "half")]
        assert {a.scalar, b.scalar} != {"half", "bfloat"}, "Metal has no arithmetic of half and bfloat"
        return next(type for type in ranked if type in (a, b))
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "u" else b
