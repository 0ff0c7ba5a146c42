"""The values of a program's expressions for all threads at once, with NumPy, and what there is to read."""

from __future__ import annotations

import numpy as np

from . import arithmetic, functions
from .across_lanes import across_lanes
from .grid import Shape, Threads
from .memory import (
    argument_values,
    arguments,
    atomic_values,
    atomics,
    input_bits,
    input_length,
    input_values,
    own_length,
)
from .places import Components, Dynamic, Place, Pointer, Variable
from .program import Expression, Parameter, Program, Statement
from .scalar_types import Type, boolean, common_type, promoted, type_of


class Frame:
    """A call: its variables, and who has returned with what."""

    def __init__(self, none: np.ndarray) -> None:
        self.names: dict[str, Place | Pointer | np.ndarray] = {}
        self.jumps: list = []
        self.returned = none.copy()
        self.result: np.ndarray | None = None


class Expressions:
    """`mask` says which threads take part in what is evaluated."""

    def __init__(self, program: Program, shape: Shape) -> None:
        self.program, self.threads = program, Threads(shape)
        self.none = np.zeros(self.threads.total, bool)
        self.mask = ~self.none
        self.number = shape.inputs
        self.functions = {function.name: function for function in program.functions}
        self.inputs: dict[str, np.ndarray] = {}
        self.shared: dict[str, np.ndarray] = {}
        self.scratch: dict[str, np.ndarray] = {}
        self.slots = [self._zeros(type) for type in program.slots]
        for slot in program.tolerances:
            self.slots[slot] = self.slots[slot].astype(np.float64)
        self.atomics = {name: atomic_values(name) for name in atomics}
        self.tickets = np.zeros(8, np.uint32)
        self.tables = {name: self._table(type, values) for name, type, values in program.tables}
        self.base: dict[str, Place] = {}
        values = self.threads.variables(program.dimensions, program.index_type)
        for name, (type, value) in values.items():
            self.base[name] = Variable(value.astype(type_of(type).dtype))
        for name, value in argument_values(self.number).items():
            self.base[name] = Variable(value.astype(type_of(arguments[name]).dtype))
        self.frame = Frame(self.none)
        self._meets: dict[int, bool] = {}

    # Memory

    def _zeros(self, type: Type, length: int | None = None) -> np.ndarray:
        shape = (() if length is None else (length,)) + ((type.lanes,) if type.lanes > 1 else ())
        return np.zeros((*shape, self.threads.total), type.dtype)

    def _table(self, type: Type, values: list[int]) -> Pointer:
        rows = np.broadcast_to(np.array(values, type.dtype)[:, None], (len(values), self.threads.total))
        return Pointer(rows, np.zeros(1, np.int64))

    def array_of(self, name: str) -> Pointer:
        found = self.frame.names.get(name)
        if name in self.tables:
            return self.tables[name]
        if found is None and name.startswith("own_"):
            type = name.removeprefix("own_")
            if type not in self.scratch:
                self.scratch[type] = self._zeros(type_of(type), own_length)
            return Pointer(self.scratch[type], np.zeros(1, np.int64))
        return found

    def input(self, name: str) -> np.ndarray:
        if name not in self.inputs:
            self.inputs[name] = input_values(name, self.number)
        return self.inputs[name]

    def place(self, expression: Expression) -> Place:
        if expression.kind == "variable":
            found = self.frame.names.get(expression.data)
            return self.base[expression.data] if found is None else found
        if expression.kind == "element":
            name, length = expression.data
            index = self._index(expression.operands[0], length)
            return self.array_of(name).element(index)
        if expression.kind == "component":  # v[i]
            inner = self.place(expression.operands[0])
            index = self._index(expression.operands[1], expression.data)
            return Dynamic(inner, index)
        if expression.kind == "swizzle":
            return Components(self.place(expression.operands[0]), expression.data)
        raise AssertionError(expression.kind)

    def _index(self, expression: Expression, length: int) -> np.ndarray:
        return np.asarray(self.value(expression)).astype(np.int64) & (length - 1)

    # Expressions

    def meets(self, expression: Expression) -> bool:
        """Whether it matters who evaluates it."""
        known = self._meets.get(id(expression))
        if known is None:
            known = expression.kind in ("lanes", "invoke") or any(map(self.meets, expression.operands))
            self._meets[id(expression)] = known
        return known

    def value(self, expression: Expression) -> np.ndarray:
        result = getattr(self, "_" + expression.kind)(expression)
        assert result is None or result.dtype == expression.type.dtype, (expression.kind, expression.data, result.dtype)
        return result

    def value_where(self, expression: Expression, mask: np.ndarray) -> np.ndarray:
        if not self.meets(expression):
            return self.value(expression)
        outer, self.mask = self.mask, self.mask & mask
        result = self.value(expression)
        self.mask = outer
        return result

    def converted(self, expression: Expression, type: Type) -> np.ndarray:
        value = arithmetic.convert(np.asarray(self.value(expression)), expression.type, type)
        if type.lanes > 1 and expression.type.lanes == 1:
            value = np.broadcast_to(value, (type.lanes, self.threads.total))
        return value

    def _constant(self, expression: Expression) -> np.ndarray:
        return np.array([expression.data], expression.type.dtype)

    def _variable(self, expression: Expression) -> np.ndarray:
        return self.place(expression).get()

    _element = _component = _variable

    def _unary(self, expression: Expression) -> np.ndarray:
        type = expression.type
        if expression.data == "!":
            return ~self.value(expression.operands[0])
        value = self.converted(expression.operands[0], type)
        if expression.data == "~":
            return np.invert(value)
        return np.negative(value)

    def _binary(self, expression: Expression) -> np.ndarray:
        left, right = expression.operands
        operator = expression.data
        if operator in ("&&", "||") and left.type.lanes == 1:
            first = self.value(left)
            second = self.value_where(right, first if operator == "&&" else ~first)
            return arithmetic.binary(operator, first, second, boolean)
        if operator in ("<<", ">>"):
            type = promoted(left.type)
            return arithmetic.binary(operator, self.converted(left, type), self.converted(right, type.element), type)
        type = common_type(left.type, right.type)
        return arithmetic.binary(operator, self.converted(left, type), self.converted(right, type), type)

    def _choose(self, expression: Expression) -> np.ndarray:
        condition, one, other = expression.operands
        truth = self.value(condition)
        first, second = self.value_where(one, truth), self.value_where(other, ~truth)
        return np.where(
            truth,
            arithmetic.convert(np.asarray(first), one.type, expression.type),
            arithmetic.convert(np.asarray(second), other.type, expression.type),
        )

    def _convert(self, expression: Expression) -> np.ndarray:
        return self.converted(expression.operands[0], expression.type)

    _cast = _convert

    def _as_type(self, expression: Expression) -> np.ndarray:
        """NaN becomes 0 on both sides: its bits are open, and Metal has no signalling one."""
        operand, type = expression.operands[0], expression.type
        value = np.asarray(self.value(operand))
        if operand.type.kind == "f":
            value = np.where(np.isnan(value), operand.type.dtype.type(0), value)
        bits = arithmetic.bits_of(value, operand.type)
        if operand.type.lanes == type.lanes:
            result = arithmetic.from_bits(bits, type)
        else:
            rows = np.broadcast_to(bits, (*bits.shape[:-1], self.threads.total))
            rows = np.ascontiguousarray(rows.reshape(-1, self.threads.total).T)  # a thread's components side by side
            cast = np.ascontiguousarray(rows.view(f"u{type.bits // 8}").T)
            result = arithmetic.from_bits(cast if type.lanes > 1 else cast[0], type)
        return np.where(np.isnan(result), type.dtype.type(0), result) if type.kind == "f" else result

    def _call(self, expression: Expression) -> np.ndarray:
        name, type = expression.data
        function = functions.table[name]
        values = []
        for parameter, operand in zip(function.parameters, expression.operands, strict=True):
            wanted = type if parameter == "T" else type_of(parameter, type.lanes if parameter == "bool" else 1)
            values.append(self.converted(operand, wanted))
        result = function.compute(*values, type)
        if name in functions.needs_zero_added:
            result = arithmetic.binary("+", result, np.zeros(1, type.dtype), type)
        return result

    def _construct(self, expression: Expression) -> np.ndarray:
        parts = []
        for operand in expression.operands:
            value = self.converted(operand, type_of(expression.type.scalar, operand.type.lanes))
            parts.extend(
                np.broadcast_to(part, self.threads.total) for part in (value if operand.type.lanes > 1 else [value])
            )
        return np.stack(parts)

    def _swizzle(self, expression: Expression) -> np.ndarray:
        value = self.value(expression.operands[0])
        components = expression.data
        return value[components[0]] if len(components) == 1 else value[list(components)]

    def _load(self, expression: Expression) -> np.ndarray:
        name, lanes, layout, form = expression.data
        values = self.input(name)
        count = input_length // (4 if lanes == 3 else lanes)
        if layout == "shifted":
            type = expression.operands[0].type
            high = np.asarray(self.value(expression.operands[0])) >> type.dtype.type(type.bits - input_bits)
            index = high.astype(np.int64) + (input_length // 2 if type.kind == "i" else 0)
        else:
            index = forms[form](self) if form else self._index(expression.operands[0], count)
        index = np.broadcast_to(index, self.threads.total).astype(np.int64)
        if lanes == 1:
            return values[index]
        stride = 3 if expression.data[2] == "packed" and lanes == 3 else (4 if lanes == 3 else lanes)
        return values[index[None] * stride + np.arange(lanes)[:, None]]

    def _lanes(self, expression: Expression) -> np.ndarray:
        values = [np.asarray(self.value(operand)) for operand in expression.operands]
        types = [operand.type for operand in expression.operands]
        return across_lanes(self.threads, expression.data, values, types, self.mask)

    def _invoke(self, expression: Expression) -> np.ndarray:
        function = self.functions[expression.data]
        frame = Frame(self.none)
        frame.names["lane"] = Variable(self.threads.lane.astype(np.uint32))  # passed as a uint
        for parameter, operand in zip(function.parameters, expression.operands, strict=True):
            if parameter.kind == "struct":  # a reference to it
                for member in (*parameter.struct.members, *parameter.struct.arrays):
                    frame.names[f"{parameter.name}.{member}"] = self.frame.names[f"{operand.data}.{member}"]
            else:
                frame.names[parameter.name] = self._bound(parameter, operand)
        outer_frame, outer_mask = self.frame, self.mask
        self.frame = frame
        frame.result = None if function.result is None else self._zeros(function.result)
        self.block(function.body)
        self.frame, self.mask = outer_frame, outer_mask
        return frame.result

    def _bound(self, parameter: Parameter, operand: Expression):
        if parameter.kind == "pointer":
            name, first = operand.data
            found = self.array_of(name)
            return found.moved(first)
        if parameter.kind == "reference":
            return self.place(operand)
        values = self._zeros(parameter.type)
        values[...] = self.converted(operand, parameter.type)
        return Variable(values)

    def block(self, statements: list[Statement]) -> None:
        raise NotImplementedError


# Indices that need no mask, as Metal and here. `g` is the thread's linear position, `total` how many there are.
forms = {
    "g": lambda e: e.threads.each,
    "g + 1u": lambda e: e.threads.each + 1,
    "2u * g + 1u": lambda e: 2 * e.threads.each + 1,
    "1023u - g": lambda e: 1023 - e.threads.each,
    "total - 1u - g": lambda e: e.threads.total - 1 - e.threads.each,
    "long(g) - 3l + 3l": lambda e: e.threads.each,
    "int(g) - int(total) + 512": lambda e: e.threads.each - e.threads.total + 512,
    "ulong(g - 5u) + 5ul & 1023ul": lambda e: e.threads.each & 1023,
    "uint(lane) * 3u + 7u": lambda e: e.threads.lane * 3 + 7,
    "g / 3u": lambda e: e.threads.each // 3,
    "g % 5u": lambda e: e.threads.each % 5,
    "g ^ 1u": lambda e: e.threads.each ^ 1,
}
