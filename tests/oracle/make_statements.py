"""Random statements: assignments to all kinds of places, branches, loops that threads leave at different turns,
switches, calls, and what threads of a threadgroup exchange."""

from __future__ import annotations

import dataclasses
import random

from . import functions
from .make_aliases import Aliases
from .make_expressions import Features, Scope, binary, constant
from .memory import atomics, atomics_of_a_threadgroup, most_bytes_per_group, most_threads_per_group, own_length
from .program import Expression, Function, Program, Statement, Struct
from .scalar_types import Type, boolean, int_type, type_of, uint_type

assignments = ["=", "=", "=", "+=", "-=", "*=", "^=", "|=", "&=", "<<=", ">>="]


@dataclasses.dataclass
class Context:
    """Where a statement is: whether all threads of the threadgroup come there, and what it can leave."""

    uniform: bool = False
    loop: bool = False  # `continue` has a meaning
    breakable: bool = False
    loops: int = 0
    function: Function | None = None
    uniform_loop: bool = False  # all threads take the same turns of what it can leave


class Statements(Aliases):
    def __init__(self, choose: random.Random, features: Features, program: Program) -> None:
        super().__init__(choose, features)
        self.program = program
        self.changing_functions: list[Function] = []
        self.names = 0
        self.exchanges = not self.one_in(3)  # through threadgroup memory
        self.struct_variables: list[tuple[str, Struct]] = []
        self.shared: set[Type] = set()  # element types of arrays in threadgroup memory

    def name(self, start: str) -> str:
        self.names += 1
        return f"{start}{self.names}"

    def any_type(self) -> Type:
        lanes = self.choose.choice([1, 2, 3, 4]) if self.features.vectors and self.one_in(3) else 1
        if self.features.floats and self.features.exact_floats and self.one_in(3):
            return type_of(self.choose.choice(self.features.floats), lanes)
        if self.one_in(10) and lanes == 1:
            return boolean
        return self.any_integer(lanes)

    def any_number(self) -> Type:
        type = self.any_type()
        return type if type.kind != "b" else int_type

    def declarations(self, scope: Scope, count: int) -> list[Statement]:
        result = []
        for _ in range(count):
            if self.one_in(4):
                type, length = self.any_type(), self.choose.choice([2, 4, 8])
                type = type if type.kind != "b" else int_type
                name = self.name("array")
                values = [self.make(type, scope, 1) for _ in range(length)]
                result.append(Statement("array", values, data=(name, type, length)))
                scope.arrays.append((name, type, length))
            else:
                result.append(self.declaration(scope))
        return result

    def declaration(self, scope: Scope, type: Type | None = None) -> Statement:
        type = type or self.any_type()
        name = self.name("v")
        if type.is_integer and type.lanes == 1 and self.one_in(2):  # converted implicitly
            other = self.any_integer()
            value = self.row(other, scope) if self.one_in(2) else self.make(other, scope, 3)
        else:
            value = self.make(type, scope, 3)
        scope.variables.append((name, type, True))
        return Statement("declare", [value], data=(name, type))

    def results(self, scope: Scope) -> list[Statement]:
        """What the variables hold at the end, and some expressions."""
        result = [
            self.store(type, Expression("variable", type, data=name))
            for name, type, mutable in scope.variables
            if mutable
        ]
        for name, type, length in scope.arrays:
            if not name.startswith("table"):  # by thread another element
                index = Expression("variable", uint_type, data="g")
                result.append(self.store(type, Expression("element", type, [index], (name, length))))
        for _ in range(self.choose.randint(1, 2)):
            type = self.any_integer()
            result.append(self.store(type, self.make(type, scope, 3)))
        if self.features.floats and self.one_in(2):
            result.append(self.approximate(scope))
        return result

    def slot(self, type: Type) -> int:
        self.program.slots.append(type if type.kind != "b" else int_type)
        return len(self.program.slots) - 1

    def store(self, type: Type, value: Expression) -> Statement:
        return Statement("store", [value], data=self.slot(type))

    def approximate(self, scope: Scope) -> Statement:
        name = self.choose.choice([*functions.approximate])
        slot = self.slot(type_of("float"))
        self.program.tolerances[slot] = functions.approximate[name]
        return Statement("approximate", [self.make(self.any_integer(), scope, 2)], data=(slot, name))

    def place(self, scope: Scope, scalars: bool = False) -> Expression | None:
        """Something that can be assigned to."""
        pick = self.choose.randrange(6)
        arrays = [a for a in scope.arrays if (not scalars or a[1].lanes == 1) and not a[0].startswith("table")]
        if pick == 0 and arrays:
            name, type, length = self.choose.choice(arrays)
            return Expression("element", type, [self.make(self.any_integer(), scope, 2)], (name, length))
        if pick == 1 and not scope.in_function:
            type = self.any_integer()
            return Expression("element", type, [self.make(self.any_integer(), scope, 2)], (f"own_{type}", own_length))
        found = [(n, t) for n, t, mutable in scope.variables if mutable and (not scalars or t.lanes == 1)]
        if not found:
            return None
        name, type = self.choose.choice(found)
        place = Expression("variable", type, data=name)
        if type.lanes > 1 and self.one_in(2):
            if type.lanes != 3 and self.one_in(2):
                return Expression(
                    "component", type.element, [place, self.make(self.any_integer(), scope, 1)], type.lanes
                )
            components = tuple(self.choose.sample(range(type.lanes), self.choose.randint(1, type.lanes)))
            return Expression("swizzle", type_of(type.scalar, len(components)), [place], components)
        return place

    def assignment(self, scope: Scope) -> Statement:
        place = self.place(scope)
        if place is None:
            return self.declaration(scope)
        type = place.type
        operator = self.choose.choice(assignments)
        if type.kind == "f" and operator not in ("=", "+=", "-=", "*="):
            operator = "="
        if type.kind == "b" or (type.kind == "f" and not self.features.exact_floats):
            operator = "="
        if type.is_integer and type.lanes == 1 and self.one_in(12):
            return Statement("step", [place], data=self.choose.choice(["++", "--"]))
        if type.is_integer and type.lanes == 1 and self.one_in(2):
            other = self.any_integer()
            value = self.row(other, scope) if self.one_in(3) else self.make(other, scope, 3)
        else:
            value = self.make(type, scope, 3)
        return Statement("assign", [place, value], data=operator)

    def block(self, scope: Scope, context: Context, count: int, depth: int) -> list[Statement]:
        result = []
        for _ in range(count):
            made = self.statement(scope, context, depth)
            result.append(made)
            if made.kind in ("break", "continue", "return"):
                break
        return result

    def statement(self, scope: Scope, context: Context, depth: int) -> Statement:
        pick = self.choose.randrange(30)
        if depth > 0:
            if pick < 4:
                return self.branch(scope, context, depth)
            if pick < 7 and context.loops < 2:
                return self.loop(scope, context, depth)
            if pick == 7:
                return self.switch(scope, context, depth)
        if pick == 8 and self.changing_functions:
            return self.call_statement(scope)
        if pick in (9, 10) and context.uniform and self.exchanges and not scope.in_function:
            made = self.exchange(scope)
            if made:
                return made
        if pick == 11 and not scope.in_function:
            if self.one_in(4):
                return Statement("ticket", data=2 * self.choose.randrange(4))
            function = self.choose.choice([*atomics])
            index, value = self.make(self.any_integer(), scope, 2), self.make(uint_type, scope, 2)
            return Statement("atomic", [index, value], data=function)
        if pick == 12 and not scope.in_function:
            type = self.any_type()
            return self.store(type, self.make(type, scope, 3))
        if pick == 15:
            made = self.with_structs(scope) if self.one_in(2) and not scope.in_function else self.alias(scope)
            if made:
                return made
        if pick == 13 and len(scope.variables) < 24 and depth == 3 and not scope.in_function:
            return self.declaration(scope)
        if pick == 14 and not context.uniform_loop:
            left = self.leave(scope, context)
            if left:
                return left
        return self.assignment(scope)

    def leave(self, scope: Scope, context: Context) -> Statement | None:
        """Some threads go: always in a branch, so that what follows is not dead."""
        kinds = ["break"] * context.breakable + ["continue"] * context.loop
        if context.function:
            kinds.append("return")
        elif not self.exchanges:  # a thread that has returned would be missed at barriers
            kinds.append("return")
        if not kinds:
            return None
        kind = self.choose.choice(kinds)
        value = [self.make(context.function.result, scope, 2)] if kind == "return" and context.function else []
        leaving = Statement(kind, value, data=context.function.name if value else None)
        before = [self.assignment(scope.inner())] if self.one_in(2) else []
        return Statement("if", [self.make(boolean, scope, 2)], [[*before, leaving]])

    def branch(self, scope: Scope, context: Context, depth: int) -> Statement:
        is_uniform = context.uniform and self.one_in(3)
        if is_uniform:
            condition = self.comparison_of_arguments()
        else:
            condition = self.make(boolean, scope, 3)
        inner = dataclasses.replace(context, uniform=is_uniform)
        blocks = [self.block(scope.inner(), inner, self.choose.randint(1, 3), depth - 1)]
        if self.one_in(2):
            blocks.append(self.block(scope.inner(), inner, self.choose.randint(1, 3), depth - 1))
        return Statement("if", [condition], blocks)

    def comparison_of_arguments(self) -> Expression:
        name = self.choose.choice(["n0", "n3"])
        type = type_of({"n0": "uint", "n3": "ulong"}[name])
        value = binary("&", Expression("variable", type, data=name), constant(self.choose.choice([1, 2, 3, 5]), type))
        return binary("!=", value, constant(0, type))

    def loop(self, scope: Scope, context: Context, depth: int) -> Statement:
        is_uniform = context.uniform and self.one_in(2)
        kind = self.choose.choice(["for", "walk"] if is_uniform else ["for", "for", "walk", "while", "do"])
        type, name = self.any_integer(), self.name("i")
        inner = Context(
            uniform=is_uniform,
            loop=True,
            breakable=True,
            loops=context.loops + 1,
            function=context.function,
            uniform_loop=is_uniform,
        )
        inside = scope.inner()
        inside.variables.append((name, type, False))
        most = self.choose.choice([3, 7])
        if kind == "for":
            if is_uniform:
                bound = (
                    Expression("variable", uint_type, data="n0")
                    if self.one_in(2)
                    else constant(self.choose.randint(1, 5), type)
                )
            else:
                bound = (
                    self.row(self.any_integer(), scope) if self.one_in(2) else self.make(self.any_integer(), scope, 2)
                )
            body = self.block(inside, inner, self.choose.randint(1, 3), depth - 1)
            return Statement("for", [bound], [body], (name, type, most, self.choose.choice([1, 1, 1, 2, 3])))
        if kind == "walk":
            start = self.row(type, scope) if self.one_in(2) else self.make(type, scope, 2)
            step = self.number(type) if self.one_in(2) else self.make(type, scope, 1)
            bound = self.make(self.any_integer(), scope, 2)
            if is_uniform:
                bound = constant(self.choose.randint(1, 5), uint_type)
            body = self.block(inside, inner, self.choose.randint(1, 3), depth - 1)
            return Statement("walk", [bound, start, step], [body], (name, type, most))
        condition = self.make(boolean, inside if kind == "while" else scope, 2)
        body = self.block(inside, inner, self.choose.randint(1, 3), depth - 1)
        return Statement(kind, [condition], [body], (name, type, most))

    def switch(self, scope: Scope, context: Context, depth: int) -> Statement:
        count = self.choose.choice([2, 4, 8])
        inner = dataclasses.replace(context, uniform=False, breakable=True, uniform_loop=False)
        if context.uniform_loop:
            inner.loop = False  # `continue` would take some threads out of it
        numbers = self.choose.sample(range(count), self.choose.randint(1, min(count, 4)))
        labels = [[number] for number in numbers]
        if len(labels) > 2 and self.one_in(3):
            labels[0] += labels.pop()
        if self.one_in(2):
            labels.insert(self.choose.randrange(len(labels) + 1), [None])
        falls = [self.one_in(3) for _ in labels]
        blocks = [self.block(scope.inner(), inner, self.choose.randint(1, 2), depth - 1) for _ in labels]
        value = self.make(self.any_integer(), scope, 2)
        return Statement("switch", [value], blocks, (labels, falls, count))

    def exchange(self, scope: Scope) -> Statement | None:
        """Through threadgroup memory, between barriers."""
        if self.one_in(4):
            place = self.place(scope, scalars=True)
            if place is None or not place.type.is_integer:
                return None
            index, value = self.make(self.any_integer(), scope, 2), self.make(uint_type, scope, 2)
            read = self.make(self.any_integer(), scope, 2)
            return Statement("gather", [place, index, value, read], data=self.choose.choice(atomics_of_a_threadgroup))
        place = self.place(scope)
        if place is None or place.type.kind == "b":
            return None
        type = place.type
        shared = self.shared | {type}
        if most_threads_per_group * sum(other.bytes for other in shared) > most_bytes_per_group:
            return None
        self.shared = shared
        condition = self.make(boolean, scope, 2) if self.one_in(3) else constant(True, boolean)
        value = self.make(type, scope, 2)
        write = self.choose.choice(["t", "t", "255u - t", "t ^ 37u", "t * 5u", "t + 100u"])
        return Statement(
            "exchange", [place, value, self.make(self.any_integer(), scope, 2), condition], data=(type, write, None)
        )
