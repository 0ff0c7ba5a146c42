"""Runs programs on Metalloid's devices and says where they write something else than the evaluator."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

import metalloid

from .arithmetic import bits_of
from .evaluate import Evaluator
from .grid import Shape
from .memory import argument_values, arguments, atomic_values, input_values, own_length, slots_by_type
from .metal_source import Printer, library_source
from .program import Program
from .scalar_types import Type, type_of


@dataclasses.dataclass
class Difference:
    device: str
    shape: Shape | None
    kind: str  # result, error
    text: str


def stored(values: np.ndarray, type: Type) -> np.ndarray:
    """As memory holds it: threads first, three components take the room of four."""
    values = np.ascontiguousarray(values.T) if values.ndim > 1 else values
    if type.scalar == "bfloat":
        values = bits_of(values, type).reshape(values.shape)
    if type.lanes == 3:
        values = np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1)
    return values


class Expected:
    """What a program writes for a shape, by the names of its buffers."""

    def __init__(self, program: Program, shape: Shape, evaluator: Callable = Evaluator) -> None:
        self.program, self.shape = program, shape
        self.evaluator = run = evaluator(program, shape)
        run.run()
        self.total = run.threads.total
        self.slots = dict(slots_by_type(program))

    def buffers(self, printer: Printer) -> dict[str, np.ndarray]:
        """New arrays for a run, by name."""
        result: dict[str, np.ndarray] = {}
        constants = argument_values(self.shape.inputs)
        for name in printer.buffers:
            kind, _, type = name.partition("_")
            if name in arguments:
                result[name] = constants[name]
            elif kind == "in":
                result[name] = stored(input_values(type, self.shape.inputs), type_of(type))
            elif kind == "out":
                result[name] = self._zeros(self.program.slots[self.slots[type][0]], len(self.slots[type]))
            elif kind == "tickets":
                result[name] = np.zeros(8, np.uint32)
            elif kind == "own":
                result[name] = self._zeros(type_of(type), own_length)
            else:
                result[name] = atomic_values(type.rstrip("_"))
        return result

    def _zeros(self, type: Type, count: int) -> np.ndarray:
        item = np.uint16 if type.scalar == "bfloat" else type.dtype
        lanes = {1: 1, 2: 2, 3: 4, 4: 4}[type.lanes]
        return np.zeros(self.total * count * lanes, item)

    def differs(self, buffers: dict[str, np.ndarray]) -> str | None:
        """The first element that is not as expected, in words."""
        run = self.evaluator
        for name, found in buffers.items():
            if name.startswith("out_"):
                if text := self._slots_differ(name[4:], found):
                    return text
            elif name.startswith("own_"):
                type = type_of(name[4:])
                wanted = run.scratch.get(name[4:])
                wanted = np.zeros((own_length, self.total), type.dtype) if wanted is None else wanted
                if text := self._one_differs(name, found.reshape(self.total, own_length).T, wanted, type):
                    return text
            elif name == "tickets" or name.startswith("atomic_"):
                wanted = run.tickets if name == "tickets" else run.atomics[name.split("_")[1]]
                if (found != wanted).any():
                    place = int(np.argmax(found != wanted))
                    return f"{name}[{place}] is {found[place]}, expected {wanted[place]}"
        return None

    def _slots_differ(self, name: str, found: np.ndarray) -> str | None:
        slots = self.slots[name]
        type = self.program.slots[slots[0]]
        shape = (self.total, len(slots)) if self.program.layout == "rows" else (len(slots), self.total)
        whole = found.reshape(*shape, -1)
        for place, slot in enumerate(slots):
            values = whole[:, place] if self.program.layout == "rows" else whole[place]
            wanted = self.evaluator.slots[slot]
            if slot in self.program.tolerances:
                text = self._misses(slot, values[:, 0], wanted)
            else:
                got = values[:, : type.lanes] if type.lanes > 1 else values[:, 0]
                want = wanted.T if type.lanes > 1 else wanted
                text = self._one_differs(f"out_{name}, slot {place}", got.T, want.T, type)
            if text:
                return text
        return None

    def _one_differs(self, name: str, found: np.ndarray, wanted: np.ndarray, type: Type) -> str | None:
        if type.kind == "f":
            if type.scalar == "bfloat":
                found = (found.astype(np.uint32) << np.uint32(16)).view(np.float32)
            same = (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | (np.isnan(found) & np.isnan(wanted))
            if self.program.mathematics != "safe":
                same = same | (found == wanted)
        else:
            same = found == wanted
        if same.all():
            return None
        place = np.unravel_index(int(np.argmax(~same)), same.shape)
        thread, rest = int(place[-1]), [int(p) for p in place[:-1]]
        where = f"{name} of thread {thread}" + (f", element {rest[0]}" if rest else "")
        count = int((~same).sum())
        return f"{where} is {_shown(found[place])}, expected {_shown(wanted[place])} ({count} of {same.size} differ)"

    def _misses(self, slot: int, found: np.ndarray, wanted: np.ndarray) -> str | None:
        """Beyond the tolerance of a function that is not exact."""
        function = self.program.tolerances[slot]
        near = np.abs(wanted.astype(np.float32))
        unit = np.spacing(np.maximum(near, np.float32(2.0**-126))).astype(np.float64)
        error = np.abs(found.astype(np.float64) - wanted)
        if self.program.mathematics == "safe":
            allowed = function.ulp * unit
        else:
            allowed = np.maximum(function.fast_ulp * unit, function.absolute)
        bad = ~(error <= allowed)
        if not bad.any():
            return None
        thread = int(np.argmax(bad))
        return (
            f"slot {slot} of thread {thread} is {found[thread]!r}, expected {wanted[thread]!r}: "
            f"{error[thread] / unit[thread]:.1f} units in the last place"
        )


def _shown(value) -> str:
    return f"{value} ({value:#x})" if isinstance(value, np.integer) else repr(value)


class Library:
    """Kernels that are compiled as one source for a device."""

    def __init__(self, programs: list[Program], device: str) -> None:
        self.programs, self.device = programs, device
        source, self.printers = library_source([(f"k{n}", program) for n, program in enumerate(programs)])
        self.source = source
        self.library = metalloid.compile_shader(source, device=device, math_mode=programs[0].mathematics)

    def engine(self, number: int) -> str:
        """The one that took the kernel; none if that failed."""
        try:
            return self.library.get_kernel(f"k{number}").engine
        except Exception:  # `run` has reported it
            return ""

    def run(self, number: int, expected: Expected) -> Difference | None:
        printer, shape = self.printers[f"k{number}"], expected.shape
        buffers = expected.buffers(printer)
        try:
            kernel = self.library.get_kernel(f"k{number}")
            kernel(*(buffers[name] for name in printer.buffers), threads=shape.grid, group_size=shape.group, timeout=200)
        except Exception as error:  # whatever it says is the finding
            return Difference(self.device, shape, "error", f"{type(error).__name__}: {error}")
        text = expected.differs(buffers)
        return Difference(self.device, shape, "result", text) if text else None
