"""What can be assigned to: a variable of all threads, an element of an array, components of a vector. Scalars are
arrays of (threads), vectors of (components, threads), a kernel's arrays have their length in front of that."""

from __future__ import annotations

import numpy as np


class Place:
    def get(self) -> np.ndarray:
        raise NotImplementedError

    def set(self, value: np.ndarray, mask: np.ndarray) -> None:
        raise NotImplementedError


class Variable(Place):
    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def get(self) -> np.ndarray:
        return self.values.copy()

    def set(self, value: np.ndarray, mask: np.ndarray) -> None:
        np.copyto(self.values, value, where=mask)


class Element(Place):
    """One element for each thread: of an array, or a component of a vector."""

    def __init__(self, values: np.ndarray, index: np.ndarray) -> None:
        threads = values.shape[-1]
        self.values, self.index, self.each = values, np.broadcast_to(index, threads), np.arange(threads)

    def get(self) -> np.ndarray:
        if self.values.ndim == 2:
            return self.values[self.index, self.each]
        components = np.arange(self.values.shape[1])[:, None]
        return self.values[self.index[None], components, self.each[None]]

    def set(self, value: np.ndarray, mask: np.ndarray) -> None:
        who = np.flatnonzero(mask)
        if self.values.ndim == 2:
            self.values[self.index[who], who] = np.broadcast_to(value, self.each.shape)[who]
        else:
            whole = np.broadcast_to(value, (self.values.shape[1], len(self.each)))
            self.values[self.index[who], :, who] = whole[:, who].T


class Components(Place):
    """A swizzle of a place; one component is a scalar."""

    def __init__(self, place: Place, components: tuple[int, ...]) -> None:
        self.place, self.components = place, components

    def get(self) -> np.ndarray:
        whole = self.place.get()
        return whole[self.components[0]] if len(self.components) == 1 else whole[list(self.components)]

    def set(self, value: np.ndarray, mask: np.ndarray) -> None:
        whole = self.place.get()
        parts = [value] if len(self.components) == 1 else np.broadcast_to(value, (len(self.components), whole.shape[1]))
        for component, part in zip(self.components, parts, strict=True):
            whole[component] = part
        self.place.set(whole, mask)


class Pointer:
    """The address of an element of an array, one for each thread."""

    def __init__(self, values: np.ndarray, first: np.ndarray) -> None:
        self.values, self.first = values, first

    def element(self, index: np.ndarray) -> Place:
        return Element(self.values, self.first + index)

    def moved(self, first: int) -> Pointer:
        return Pointer(self.values, self.first + first)


class ChosenPointer(Pointer):
    """One of two, by thread."""

    def __init__(self, condition: np.ndarray, one: Pointer, other: Pointer) -> None:
        self.condition, self.one, self.other = condition, one, other

    def element(self, index: np.ndarray) -> Place:
        return ChosenPlace(self.condition, self.one.element(index), self.other.element(index))

    def moved(self, first: int) -> Pointer:
        return ChosenPointer(self.condition, self.one.moved(first), self.other.moved(first))


class ChosenPlace(Place):
    def __init__(self, condition: np.ndarray, one: Place, other: Place) -> None:
        self.condition, self.one, self.other = condition, one, other

    def get(self) -> np.ndarray:
        return np.where(self.condition, self.one.get(), self.other.get())

    def set(self, value: np.ndarray, mask: np.ndarray) -> None:
        self.one.set(value, mask & self.condition)
        self.other.set(value, mask & ~self.condition)


class Dynamic(Place):
    """v[i] of a vector."""

    def __init__(self, place: Place, index: np.ndarray) -> None:
        self.place, self.index = place, index

    def get(self) -> np.ndarray:
        return Element(self.place.get(), self.index).get()

    def set(self, value: np.ndarray, mask: np.ndarray) -> None:
        whole = self.place.get()
        Element(whole, self.index).set(value, mask)
        self.place.set(whole, mask)
