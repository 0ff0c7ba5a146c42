"""Random expressions. Those that count are there often: rows (a base plus or minus a thread's position) near the ends
of their type's range, widened and narrowed."""

from __future__ import annotations

import dataclasses
import random

from . import functions
from .evaluate_expressions import forms
from .memory import arguments
from .program import Expression, Function
from .scalar_types import Type, boolean, common_type, floats, int_type, promoted, type_of


@dataclasses.dataclass
class Features:
    """What a kernel is made of."""

    integers: list[str]
    floats: list[str]
    vectors: bool
    across_lanes: bool
    exact_floats: bool  # false in fast mathematics: no arithmetic of floats but on small whole numbers


@dataclasses.dataclass
class Scope:
    """The names that can be read, with their types; arrays with their lengths."""

    variables: list[tuple[str, Type, bool]]  # may be assigned to
    arrays: list[tuple[str, Type, int]]
    in_function: bool = False

    def inner(self) -> Scope:
        return Scope(list(self.variables), list(self.arrays), self.in_function)


def constant(value, type: Type) -> Expression:
    if type.kind in "iu":
        value = (int(value) - type.smallest) % (1 << type.bits) + type.smallest
    return Expression("constant", type, data=value)


def cast(type: Type, operand: Expression) -> Expression:
    return Expression("cast", type, [operand])


def binary(operator: str, a: Expression, b: Expression) -> Expression:
    if operator in ("<<", ">>"):
        type = promoted(a.type)
    else:
        type = common_type(a.type, b.type)
        if operator in ("==", "!=", "<", "<=", ">", ">=", "&&", "||"):
            type = type_of("bool", type.lanes)
    return Expression("binary", type, [a, b], operator)


_positions = ("g", "t", "lane", "p", "p.x", "p.y", "q", "q.x", "w")


def _is_counter(name: str) -> bool:
    """Of a loop."""
    return name[0] == "i" and name[1:].isdigit()


class Expressions:
    def __init__(self, choose: random.Random, features: Features) -> None:
        self.choose, self.features = choose, features
        self.functions: list[Function] = []  # without side effects

    def one_in(self, n: int) -> bool:
        return self.choose.randrange(n) == 0

    def any_integer(self, lanes: int = 1) -> Type:
        return type_of(self.choose.choice(self.features.integers), lanes)

    def number(self, type: Type) -> Expression:
        """A constant: small, at the range's ends, at a power of two, or any."""
        if type.kind == "b":
            return constant(self.one_in(2), type)
        if type.kind == "f":
            return constant(self.choose.choice([0, 1, 2, 3, -1, 7, 100, 0.5, 1.5]), type)
        near = self.choose.randint(-40, 40)
        pick = self.choose.randrange(8)
        if pick < 3:
            return constant(self.choose.randint(0, 12), type)
        if pick == 3:
            return constant(type.largest + near, type)
        if pick == 4:
            return constant((1 << self.choose.randrange(type.bits)) + near, type)
        return constant(
            self.choose.choice([self.choose.getrandbits(type.bits), near, self.choose.randint(0, 300)]), type
        )

    def make(self, type: Type, scope: Scope, depth: int) -> Expression:
        """An expression of exactly that type."""
        if depth <= 0 or self.one_in(8):
            return self.leaf(type, scope)
        if type.lanes > 1:
            return self.vector(type, scope, depth)
        if type.kind == "b":
            return self.condition(scope, depth)
        return self.real(type, scope, depth) if type.kind == "f" else self.integer(type, scope, depth)

    def leaf(self, type: Type, scope: Scope) -> Expression:
        named = [Expression("variable", t, data=name) for name, t, _ in scope.variables if t == type]
        if named and not self.one_in(3):
            return self.choose.choice(named)
        if type.lanes > 1:
            return Expression("construct", type, [self.leaf(type.element, scope) for _ in range(type.lanes)])
        if type.kind == "b" or self.one_in(4):
            return self.number(type)
        if not scope.in_function and self.one_in(3) and (type.kind == "f" or type.is_integer):
            return self.load(type, scope, 0)
        if type.kind == "f" and not self.features.exact_floats:
            return self.number(type)
        others = [
            Expression("variable", t, data=name) for name, t, _ in scope.variables if t.is_integer and t.lanes == 1
        ]
        return cast(type, self.choose.choice(others)) if others else self.number(type)

    def row(self, type: Type, scope: Scope) -> Expression:
        """A base and a stride over the threads, which often wraps."""
        variables = [Expression("variable", t, data=n) for n, t, _ in scope.variables if t.is_integer and t.lanes == 1]
        places = [v for v in variables if v.data in _positions or _is_counter(v.data)] or variables
        place = self.choose.choice(places)
        bases = [v for v in variables if v.data in arguments or v.data in ("total",)]
        base = self.choose.choice(bases) if bases and self.one_in(2) else self.number(type)
        if promoted(base.type).bits > type.bits or base.type != type:
            base = cast(type, base)
        if place.type != type:
            place = cast(type, place)
        if self.one_in(3):
            place = binary("*", place, self.number(type))
        return self.fit(
            type, binary(self.choose.choice("+-"), base, place) if not self.one_in(3) else binary("-", place, base)
        )

    def fit(self, type: Type, expression: Expression) -> Expression:
        return expression if expression.type == type else cast(type, expression)

    def integer(self, type: Type, scope: Scope, depth: int) -> Expression:
        pick = self.choose.randrange(25)
        some = lambda t=type: self.make(t, scope, depth - 1)  # noqa: E731
        if pick < 4:
            return self.fit(type, binary(self.choose.choice("+-*&|^+-"), some(), self.mixed(type, scope, depth - 1)))
        if pick < 6:
            return self.row(type, scope)
        if pick < 9:  # widened, narrowed or with the other sign
            other = self.any_integer()
            return cast(type, self.row(other, scope) if self.one_in(2) else self.make(other, scope, depth - 1))
        if pick < 12:
            return self.call(type, scope, depth, functions.of_integers)
        if pick == 12:
            amount = self.make(self.any_integer(), scope, depth - 1)
            return self.fit(type, binary(self.choose.choice(["<<", ">>"]), some(), amount))
        if pick == 13:
            return self.fit(type, self.quotient(type, scope, depth))
        if pick == 14:
            return Expression("choose", type, [self.make(boolean, scope, depth - 1), some(), some()])
        if pick == 15:
            return self.fit(type, Expression("unary", promoted(type), [some()], self.choose.choice("-~")))
        if pick == 16 and not scope.in_function:
            return self.load(type, scope, depth)
        if pick == 17 and scope.arrays:
            return self.array_element(type, scope, depth)
        if pick == 18 and self.features.vectors:
            return self.part_of_vector(type, scope, depth)
        if pick == 19 and self.features.across_lanes:
            return self.lanes(type, scope, depth)
        if pick == 20 and self.functions:
            return self.invocation(type, scope, depth)
        if pick == 21 and self.features.floats:
            return cast(type, self.make(type_of(self.choose.choice(self.features.floats)), scope, depth - 1))
        if pick == 22:
            return self.reinterpreted(type, scope, depth)
        if pick == 23:
            return cast(type, self.make(boolean, scope, depth - 1))
        return self.fit(type, binary(self.choose.choice("+-*"), some(), some()))

    def mixed(self, type: Type, scope: Scope, depth: int) -> Expression:
        """An operand that C++ converts to the type."""
        if self.one_in(3):
            other = self.any_integer()
            if common_type(type, other) == promoted(type):
                return self.row(other, scope) if self.one_in(2) else self.make(other, scope, depth)
        return self.make(type, scope, depth)

    def quotient(self, type: Type, scope: Scope, depth: int) -> Expression:
        """Divisors above 0; and what is divided with a remainder is not negative."""
        a, b = self.make(type, scope, depth - 1), self.make(type, scope, depth - 1)
        if self.one_in(2):
            b = constant(self.choose.randint(1, 100), type)
        elif type.kind == "u":
            b = binary("|", b, constant(1, type))
        else:
            b = binary("+", binary("&", b, constant(63, type)), constant(1, type))
        if self.one_in(2):
            if type.kind == "i":
                a = Expression("binary", promoted(type), [a, constant(type.largest, type)], "&")
            return binary("%", a, b)
        return binary("/", a, b)

    def call(self, type: Type, scope: Scope, depth: int, table: dict[str, functions.Function]) -> Expression:
        names = [
            name
            for name, function in table.items()
            if type.kind in function.kinds and type.bits in function.sizes and function.result != "bool"
        ]
        name = self.choose.choice(names)
        function = table[name]
        result = function.result_type(type)
        operands = []
        for parameter in function.parameters:
            wanted = type if parameter == "T" else type_of(parameter, type.lanes if parameter == "bool" else 1)
            operands.append(self.make(wanted, scope, depth - 1))
        return self.fit(type, Expression("call", result, operands, (name, type)))

    def load(self, type: Type, scope: Scope, depth: int) -> Expression:
        form = self.choose.choice([*forms, None, None, None, None])
        operands = [] if form else [self.make(self.any_integer(), scope, depth - 1)]
        if not form and self.one_in(3):
            wide = [name for name in self.features.integers if type_of(name).bits > 8]
            index = self.row(type_of(self.choose.choice(wide)), scope) if wide else operands[0]
            if wide:
                return Expression("load", type, [index], (type.scalar, 1, "shifted", None))
        if form and not any(name == "total" for name, _, _ in scope.variables):
            return self.number(type)
        return Expression("load", type, operands, (type.scalar, 1, self.choose.choice(["", "", "pointer"]), form))

    def array_element(self, type: Type, scope: Scope, depth: int) -> Expression:
        name, element, length = self.choose.choice(scope.arrays)
        index = self.make(self.any_integer(), scope, depth - 1)
        value = Expression("element", element, [index], (name, length))
        if value.type == type:
            return value
        return cast(type, value) if element.lanes == 1 and element.kind != "f" else self.leaf(type, scope)

    def part_of_vector(self, type: Type, scope: Scope, depth: int) -> Expression:
        vector = self.make(type_of(type.scalar, self.choose.choice((2, 3, 4))), scope, depth - 1)
        if vector.kind == "variable" and vector.type.lanes != 3 and self.one_in(2):
            return Expression("component", type, [vector, self.make(self.any_integer(), scope, 1)], vector.type.lanes)
        return Expression("swizzle", type, [vector], (self.choose.randrange(vector.type.lanes),))

    def reinterpreted(self, type: Type, scope: Scope, depth: int) -> Expression:
        """as_type, of a scalar or of a vector as large."""
        sources = [type_of(name) for name in (*self.features.integers, *self.features.floats)]
        same = [t for t in sources if t.bits == type.bits and t != type]
        if self.features.vectors:
            same += [type_of(t.scalar, n) for t in sources for n in (2, 4) if t.bits * n == type.bits and t.kind != "f"]
        if not same:
            return self.leaf(type, scope)
        source = self.choose.choice(same)
        if source.kind == "f" and not self.features.exact_floats:
            return self.leaf(type, scope)
        return Expression("as_type", type, [self.fit(source, self.make(source, scope, depth - 1))])

    def condition(self, scope: Scope, depth: int) -> Expression:
        pick = self.choose.randrange(14)
        some = lambda: self.make(boolean, scope, depth - 1)  # noqa: E731
        if pick < 2:
            return binary(self.choose.choice(["&&", "||"]), some(), some())
        if pick == 2:
            return Expression("unary", boolean, [some()], "!")
        if pick == 3 and self.features.across_lanes:
            return Expression(
                "lanes", boolean, [some()], self.choose.choice(["simd_any", "simd_all", "quad_any", "quad_all"])
            )
        if pick == 4 and self.features.across_lanes:
            return Expression("lanes", boolean, [], self.choose.choice(["simd_is_first", "quad_is_first"]))
        if pick == 5 and self.features.floats and self.features.exact_floats:
            type = type_of(self.choose.choice(self.features.floats))
            if self.one_in(3):
                name = self.choose.choice(["isnan", "isinf", "isfinite"])
                return Expression("call", boolean, [self.make(type, scope, depth - 1)], (name, type))
            return self.comparison(type, scope, depth)
        if pick == 6:
            type = self.any_integer()
            small = constant(self.choose.choice([1, 1, 2, 4, 3]), type)
            return binary("!=", binary("&", self.make(type, scope, depth - 1), small), constant(0, type))
        return self.comparison(self.any_integer(), scope, depth)

    def comparison(self, type: Type, scope: Scope, depth: int) -> Expression:
        operator = self.choose.choice(["<", "<=", ">", ">=", "==", "!="])
        left = self.row(type, scope) if type.is_integer and self.one_in(3) else self.make(type, scope, depth - 1)
        return binary(
            operator, left, self.mixed(type, scope, depth - 1) if type.is_integer else self.make(type, scope, depth - 1)
        )

    def real(self, type: Type, scope: Scope, depth: int) -> Expression:
        if self.functions and self.one_in(8):
            return self.invocation(type, scope, depth)
        if not self.features.exact_floats:
            return self.small_real(type, scope, depth)
        if self.one_in(12):
            return self.small_real(type, scope, depth)
        pick = self.choose.randrange(16)
        some = lambda t=type: self.make(t, scope, depth - 1)  # noqa: E731
        if pick < 5:
            return binary(self.choose.choice("+-*/"), some(), some())
        if pick < 8:
            return cast(type, self.make(self.any_integer(), scope, depth - 1))
        if pick < 10:
            if type.scalar == "bfloat":
                return binary(self.choose.choice("+-*/"), some(), some())
            return self.call(type, scope, depth, functions.of_floats)
        if pick == 10:
            return cast(type, some(type_of(self.choose.choice(floats))))
        if pick == 11:
            return Expression("choose", type, [self.make(boolean, scope, depth - 1), some(), some()])
        if pick == 12 and not scope.in_function:
            return self.load(type, scope, depth)
        if pick == 13 and self.features.vectors:
            return self.part_of_vector(type, scope, depth)
        if pick == 14:
            return self.reinterpreted(type, scope, depth)
        if self.features.across_lanes and self.one_in(2):
            return self.permutation(type, scope, depth)
        return Expression("unary", type, [some()], "-")

    def small_real(self, type: Type, scope: Scope, depth: int) -> Expression:
        """Whole numbers that every order of operations gives exactly."""
        limit = {"bfloat": 7, "half": 15, "float": 255}[type.scalar]
        whole = lambda: cast(type, binary("&", self.make(int_type, scope, depth - 1), constant(limit, int_type)))  # noqa: E731
        if self.features.across_lanes and self.one_in(6):
            operation = self.choose.choice(["sum", "min", "max", "prefix_inclusive_sum", "prefix_exclusive_sum"])
            return Expression("lanes", type, [whole()], f"{self.choose.choice(['simd', 'quad'])}_{operation}")
        if depth <= 1 or self.one_in(2):
            return whole()
        return binary(self.choose.choice("+-*"), whole(), whole())

    def vector(self, type: Type, scope: Scope, depth: int) -> Expression:
        some = lambda t=type: self.make(t, scope, depth - 1)  # noqa: E731
        element, pick = type.element, self.choose.randrange(14)
        if self.functions and type.kind != "b" and self.one_in(8):
            return self.invocation(type, scope, depth)
        floating = type.kind == "f"
        if self.features.across_lanes and type.kind != "b" and self.one_in(12):
            return (
                self.permutation(type, scope, depth) if floating or self.one_in(2) else self.lanes(type, scope, depth)
            )
        if type.kind == "b":
            other = self.any_integer(type.lanes)
            return binary(self.choose.choice(["<", ">=", "==", "!="]), some(other), some(other))
        if floating and not self.features.exact_floats:
            return Expression(
                "construct", type, [self.small_real(element, scope, depth - 1) for _ in range(type.lanes)]
            )
        if pick < 3:
            operator = self.choose.choice("+-*/" if floating else "+-*&|^")
            second = self.fit(element, some(element)) if self.one_in(3) else some()
            if second.type.lanes == 1:
                second = cast(element, second)
            return (
                binary(operator, some(), second)
                if self.one_in(2) or second.type.lanes > 1
                else binary(operator, second, some())
            )
        if pick < 5:
            parts, left = [], type.lanes
            while left:
                lanes = self.choose.randint(1, min(left, 3))
                parts.append(some(type_of(type.scalar, lanes)))
                left -= lanes
            return Expression("construct", type, parts) if len(parts) > 1 else parts[0]
        if pick < 7:
            source = some(type_of(type.scalar, self.choose.choice((2, 3, 4))))
            return Expression(
                "swizzle", type, [source], tuple(self.choose.randrange(source.type.lanes) for _ in range(type.lanes))
            )
        if pick < 9:
            scalars = [*self.features.integers, *(self.features.floats if self.features.exact_floats else [])]
            return cast(type, some(type_of(self.choose.choice(scalars), type.lanes)))
        if pick == 9 and not scope.in_function:
            layout = self.choose.choice(["vector", "packed"])
            if layout == "vector" or type.lanes > 1:
                index = self.make(self.any_integer(), scope, depth - 1)
                return Expression("load", type, [index], (type.scalar, type.lanes, layout, None))
        if pick == 10 and not floating:
            return binary(self.choose.choice(["<<", ">>"]), some(), some())
        if pick == 11:
            return Expression("call", type, [some(), some(), some(type_of("bool", type.lanes))], ("select", type))
        if pick == 12:
            return Expression("choose", type, [self.make(boolean, scope, depth - 1), some(), some()])
        if floating:
            return (
                Expression("unary", type, [some()], "-")
                if type.scalar == "bfloat"
                else self.call(type, scope, depth, functions.of_floats)
            )
        return self.call(type, scope, depth, functions.of_integers)

    def lanes(self, type: Type, scope: Scope, depth: int) -> Expression:
        """An operation across lanes with that result."""
        some = lambda t=type: self.make(t, scope, depth - 1)  # noqa: E731
        group = self.choose.choice(["simd", "simd", "quad"])
        pick = self.choose.randrange(16)
        made = lambda name, *operands: Expression("lanes", type, list(operands), f"{group}_{name}")  # noqa: E731
        if pick < 4:
            return made(self.choose.choice(["sum", "product", "min", "max", "and", "or", "xor"]), some())
        if pick >= 6 and pick < 14:
            return self.permutation(type, scope, depth)
        if pick < 6:
            kind, operation = self.choose.choice(["inclusive", "exclusive"]), self.choose.choice(["sum", "product"])
            return made(f"prefix_{kind}_{operation}", some())
        votes = type_of("ulong")
        if type.lanes > 1:
            return self.permutation(type, scope, depth)
        if pick == 14:
            return self.fit(type, Expression("lanes", votes, [self.make(boolean, scope, depth - 1)], f"{group}_ballot"))
        return self.fit(type, Expression("lanes", votes, [], f"{group}_active_threads_mask"))

    def permutation(self, type: Type, scope: Scope, depth: int) -> Expression:
        """What another lane has; of any type."""
        some = lambda: self.make(type, scope, depth - 1)  # noqa: E731
        group = self.choose.choice(["simd", "simd", "quad"])
        width = 32 if group == "simd" else 4
        pick, number = self.choose.randrange(8), self.choose.randrange(width)
        made = lambda name, *operands: Expression("lanes", type, list(operands), f"{group}_{name}")  # noqa: E731
        if pick < 2:
            return made("shuffle", some(), self.make(self.any_integer(), scope, depth - 1))
        if pick < 4:
            return made(f"{self.choose.choice(['shuffle_xor', 'broadcast'])}:{number}", some())
        if pick < 6:
            names = ["shuffle_up", "shuffle_down", "shuffle_rotate_up", "shuffle_rotate_down"]
            return made(f"{self.choose.choice(names)}:{number}", some())
        if pick == 6:
            modulo = self.choose.choice([2, 4, 8, 16, 32] if group == "simd" else [2, 4])
            name = self.choose.choice(["shuffle_and_fill_up", "shuffle_and_fill_down"])
            return made(f"{name}:{number % modulo}:{modulo}", some(), some())
        return made("broadcast_first", some())

    def invocation(self, type: Type, scope: Scope, depth: int) -> Expression:
        is_scalar = type.is_integer and type.lanes == 1
        found = [f for f in self.functions if f.result == type or (is_scalar and f.result.lanes == 1)]
        if not found:
            return self.leaf(type, scope)
        function = self.choose.choice(found)
        operands = [self.make(parameter.type, scope, depth - 1) for parameter in function.parameters]
        return self.fit(type, Expression("invoke", function.result, operands, function.name))
