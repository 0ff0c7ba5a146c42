"""Prints expressions as Metal, and the helper functions that they call."""

from __future__ import annotations

import math

import numpy as np

from . import functions
from .arithmetic import bits_of
from .memory import input_bits, input_length, own_length
from .program import Expression, Program
from .scalar_types import Type, type_of

# Around functions whose result Metal leaves open for some operands: what is open is decided here, as in the oracle.
_helpers = {
    "extract_inside": """template <typename T> T extract_inside(uint width, T x, uint offset, uint bits) {
  const uint first = offset % width;
  return extract_bits(x, first, min(bits, width - first));
}
""",
    "insert_inside": """template <typename T> T insert_inside(uint width, T x, T y, uint offset, uint bits) {
  const uint first = offset % width;
  return insert_bits(x, y, first, min(bits, width - first));
}
""",
    "takes_part": """bool takes_part(uint lane) { return (ulong(simd_active_threads_mask()) >> lane & 1) != 0; }
""",
    "quad_takes_part": """bool quad_takes_part(uint lane) {
  return (ulong(quad_active_threads_mask()) >> (lane & 3) & 1) != 0;
}
""",
    "not_nan": """template <typename T> T not_nan(T x) { return select(x, T(0), isnan(x)); }
""",
}


def _permutation(group: str, operation: str) -> str:
    """A helper that keeps a lane's own value where the source takes no part."""
    part = "takes_part" if group == "simd" else "quad_takes_part"
    width = 32 if group == "simd" else 4
    sources = {
        "shuffle": ("ushort n", "n", "n"),
        "broadcast": ("ushort n", "n", "n"),
        "shuffle_xor": ("ushort n", "lane ^ n", "n"),
        "shuffle_up": ("ushort n", "lane < n ? lane : lane - n", "n"),
        "shuffle_down": ("ushort n", f"lane + n >= {width}u ? lane : lane + n", "n"),
        "shuffle_rotate_up": ("ushort n", f"(lane - n) & {width - 1}u", "n"),
        "shuffle_rotate_down": ("ushort n", f"(lane + n) & {width - 1}u", "n"),
        "shuffle_and_fill_up": (
            "T fill, ushort n, ushort m",
            "lane / m * m + ((lane % m - n) & (m - 1u))",
            "fill, n, m",
        ),
        "shuffle_and_fill_down": (
            "T fill, ushort n, ushort m",
            "lane / m * m + ((lane % m + n) & (m - 1u))",
            "fill, n, m",
        ),
    }
    parameters, source, passed = sources[operation]
    name = f"{group}_{operation}"
    return f"""template <typename T> T {name}_active(uint lane, T x, {parameters}) {{
  const T y = {name}(x, {passed});
  return {part}({source}) ? y : x;
}}
"""


class ExpressionPrinter:
    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        self.inputs: set[str] = set()
        self.used_helpers: dict[str, str] = {}
        self.own: set[str] = set()

    def text(self, expression: Expression) -> str:
        return getattr(self, "_" + expression.kind)(expression)

    def _constant(self, expression: Expression) -> str:
        return constant(expression.data, expression.type)

    def _variable(self, expression: Expression) -> str:
        return expression.data

    def _unary(self, expression: Expression) -> str:
        return f"({expression.data}{self.text(expression.operands[0])})"

    def _binary(self, expression: Expression) -> str:
        left, right = map(self.text, expression.operands)
        return f"({left} {expression.data} {right})"

    def _choose(self, expression: Expression) -> str:
        condition, one, other = map(self.text, expression.operands)
        return f"({condition} ? {one} : {other})"

    def _convert(self, expression: Expression) -> str:
        return self.text(expression.operands[0])

    def _cast(self, expression: Expression) -> str:
        return f"{expression.type}({self.text(expression.operands[0])})"

    def _as_type(self, expression: Expression) -> str:
        operand = self.text(expression.operands[0])
        if expression.operands[0].type.kind == "f":
            operand = self._helped("not_nan") + f"({operand})"
        text = f"as_type<{expression.type}>({operand})"
        return text if expression.type.kind != "f" else f"{self._helped('not_nan')}({text})"

    def _helped(self, name: str) -> str:
        if name not in self.used_helpers:
            self.used_helpers[name] = _helpers[name]
        return name

    def _call(self, expression: Expression) -> str:
        name, type = expression.data
        function = functions.table[name]
        operands = []
        for parameter, operand in zip(function.parameters, expression.operands, strict=True):
            wanted = type if parameter == "T" else type_of(parameter, type.lanes if parameter == "bool" else 1)
            text = self.text(operand)
            operands.append(text if operand.type == wanted and _is_sure(operand) else f"{wanted}({text})")
        if name in ("extract_bits", "insert_bits"):
            name = self._helped(name.split("_")[0] + "_inside")
            operands.insert(0, f"{type.bits}u")
        text = f"{name}({', '.join(operands)})"
        return f"({text} + {type}(0))" if name in functions.needs_zero_added else text

    def _construct(self, expression: Expression) -> str:
        return f"{expression.type}({', '.join(map(self.text, expression.operands))})"

    def _swizzle(self, expression: Expression) -> str:
        return f"{self.text(expression.operands[0])}.{''.join('xyzw'[place] for place in expression.data)}"

    def _element(self, expression: Expression) -> str:
        name, length = expression.data
        index = self.text(expression.operands[0])
        if name.startswith("table"):
            name += f"_{self.name}"
        if name.startswith("own_"):
            self.own.add(name.removeprefix("own_"))
            return f"{name}[g * {own_length}u + uint({index} & {length - 1})]"
        return f"{name}[{index} & {length - 1}]"

    def _component(self, expression: Expression) -> str:
        vector, index = map(self.text, expression.operands)
        return f"{vector}[{index} & {expression.data - 1}]"

    def _load(self, expression: Expression) -> str:
        name, lanes, layout, form = expression.data
        self.inputs.add(name)
        if layout == "shifted":  # the highest bits, with no mask that would hide how the index changes
            type, text = expression.operands[0].type, self.text(expression.operands[0])
            start = f"(in_{name} + {input_length // 2})" if type.kind == "i" else f"in_{name}"
            return f"{start}[{type}({text}) >> {type.bits - input_bits}]"
        count = input_length // (4 if lanes == 3 else lanes)
        index = form or f"{self.text(expression.operands[0])} & {count - 1}"
        if layout == "pointer":
            return f"*(in_{name} + ({index}))"
        if lanes == 1:
            return f"in_{name}[{index}]"
        type = f"packed_{name}{lanes}" if layout == "packed" else f"{name}{lanes}"
        load = f"((const device {type}*)in_{name})[{index}]"
        return f"{name}{lanes}({load})" if layout == "packed" else load

    def _address(self, expression: Expression) -> str:
        name, first = expression.data
        if name.startswith("own_"):
            self.own.add(name.removeprefix("own_"))
            return f"&{name}[g * {own_length}u + {first}u]"
        return f"&{name}[{first}]" if first else name

    def _struct(self, expression: Expression) -> str:
        return expression.data

    def _lanes(self, expression: Expression) -> str:
        name, *numbers = expression.data.split(":")
        group, operation = name.split("_", 1)
        operands = [self.text(operand) for operand in expression.operands]
        if operation in ("ballot", "active_threads_mask"):
            return f"ulong({name}({', '.join(operands)}))"
        if "shuffle" in operation or operation == "broadcast":
            if operation == "shuffle":
                operands[1] = f"ushort({operands[1]} & {31 if group == 'simd' else 3})"
            self._helped("takes_part" if group == "simd" else "quad_takes_part")
            self.used_helpers.setdefault(name, _permutation(group, operation))
            lane = "lane" if group == "simd" else "(lane & 3u)"
            operands = [
                f"{expression.type}({operand})" if i != 1 or operation != "shuffle" else operand
                for i, operand in enumerate(operands)
            ]
            return f"{name}_active({', '.join([lane, *operands, *numbers])})"
        typed = [f"{operand.type}({text})" for operand, text in zip(expression.operands, operands, strict=True)]
        return f"{name}({', '.join(typed)})"

    def _invoke(self, expression: Expression) -> str:
        operands = ", ".join([*map(self.text, expression.operands), "g", "lane"])
        return f"{expression.data}_{self.name}({operands})"


def _is_sure(expression: Expression) -> bool:
    """Whether C++ gives the expression the very type that it has here."""
    return expression.kind in ("variable", "cast", "construct", "element", "load", "constant")


def constant(value, type: Type) -> str:
    if type.kind == "b":
        return "true" if value else "false"
    if type.kind == "f":
        number = float(value)
        if (
            math.isfinite(number)
            and number == int(number)
            and abs(number) < 1000
            and not (number == 0 and math.copysign(1, number) < 0)
        ):
            return (
                f"{type}({int(number)}.0f)"
                if type.scalar != "float"
                else (f"{int(number)}.0f" if number >= 0 else f"({int(number)}.0f)")
            )
        bits = int(bits_of(np.array([value], type.dtype), type)[0])
        return f"as_type<{type}>({'uint' if type.bits == 32 else 'ushort'}({hex(bits)}))"
    value = int(value)
    if type.scalar == "int":
        return f"int({value & 0xFFFFFFFF:#x}u)" if value == type.smallest else f"({value})" if value < 0 else str(value)
    if type.scalar == "long":
        return (
            f"long({value & (1 << 64) - 1:#x}ul)"
            if value == type.smallest
            else f"({value}l)"
            if value < 0
            else f"{value}l"
        )
    suffix = {"uint": "u", "ulong": "ul"}.get(type.scalar)
    return f"{value}{suffix}" if suffix else f"{type}({value})"
