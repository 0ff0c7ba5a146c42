"""What a kernel is made of: expressions and statements as plain trees, which generators make, the printer and the
evaluator read, and the minimiser changes. Every tree that the minimiser can reach is valid: what must hold (an index
inside its array, a loop that ends) is part of the node and not of its operands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from .scalar_types import Type


@dataclasses.dataclass
class Expression:
    """kind, with data and operands:

    constant (value), variable (name), unary (operator; a), binary (operator; a, b), choose (; condition, a, b),
    convert (; a): implicitly, cast (; a), as_type (; a), call (function of the library, its T; ...),
    construct (; components), swizzle (places; a), element (name of an array; index), load (buffer's element type,
    lanes, layout, form; index), whose layout is "vector", "packed", "pointer", or "shifted": at the index's highest
    bits, invoke (name of a function of the kernel's; ...), lanes (operation; value, ...): an operation across lanes,
    address (name of an array, first element)
    """

    kind: str
    type: Type
    operands: list[Expression] = dataclasses.field(default_factory=list)
    data: Any = None


loops = ("for", "walk", "while", "do")


@dataclasses.dataclass
class Statement:
    """kind, with data, expressions and blocks:

    declare (name, type; value), array (name, type, length; values), assign (operator; place, value),
    step (operator; place): ++ or --, if (; condition; then, else), for (name, type, most turns; bound; body),
    while and do (name, type, most turns; condition; body), walk (name, type, most turns; bound, start, step; body): a
    loop with a number beside its counter, which begins anywhere and may wrap, switch (labels of each block, falls;
    value; blocks), break, continue, return (; [value]), store (slot; value), approximate (slot, function; value),
    exchange (type, where it is written; place, value, index, condition), gather (function; place, index, value, read
    index), atomic (function; index, value), ticket (place's number), block (; ; body), run (; invocation),
    struct (name, struct; values), copy (name, source, struct, declares), pointer (name, type; condition, two
    addresses), reference (name, type; place)
    """

    kind: str
    expressions: list[Expression] = dataclasses.field(default_factory=list)
    blocks: list[list[Statement]] = dataclasses.field(default_factory=list)
    data: Any = None


@dataclasses.dataclass
class Struct:
    """Its members by name, and those that are arrays, with their lengths."""

    name: str
    members: dict[str, Type]
    arrays: dict[str, tuple[Type, int]]


@dataclasses.dataclass
class Parameter:
    name: str
    type: Type | None
    kind: str  # value, reference, pointer, struct (a reference to one)
    length: int = 0  # elements behind a pointer
    space: str = "thread"
    struct: Struct | None = None


@dataclasses.dataclass
class Function:
    name: str
    result: Type | None
    parameters: list[Parameter]
    body: list[Statement]
    is_inline: bool = True


@dataclasses.dataclass
class Program:
    """A kernel. `slots` are the types of what each thread writes; slots of approximate results have their ULPs."""

    seed: int
    dimensions: int
    index_type: str  # uint or ushort: of positions in the threadgroup
    mathematics: str
    slots: list[Type]
    tolerances: dict[int, float]
    layout: str  # rows or columns: whether a thread's slots of one type lie side by side
    body: list[Statement]
    functions: list[Function]
    structs: list[Struct] = dataclasses.field(default_factory=list)
    tables: list[tuple[str, Type, list[int]]] = dataclasses.field(default_factory=list)  # arrays in constant memory


def statements_of(block: list[Statement]) -> Iterator[Statement]:
    for statement in block:
        yield statement
        for inner in statement.blocks:
            yield from statements_of(inner)


def expressions_of(expression: Expression) -> Iterator[Expression]:
    yield expression
    for operand in expression.operands:
        yield from expressions_of(operand)


def all_blocks(program: Program) -> list[list[Statement]]:
    return [program.body, *(function.body for function in program.functions)]


def all_statements(program: Program) -> Iterator[Statement]:
    for block in all_blocks(program):
        yield from statements_of(block)


def all_expressions(program: Program) -> Iterator[Expression]:
    for statement in all_statements(program):
        for expression in statement.expressions:
            yield from expressions_of(expression)
