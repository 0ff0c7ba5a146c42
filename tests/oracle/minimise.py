"""Makes a program that differs small: leaves statements out, puts a body in the place of its branch or loop, and
operands or constants in the place of expressions, as long as the difference stays."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterator

from .grid import Shape
from .make_expressions import constant
from .program import Expression, Program, Statement, all_blocks, all_expressions, loops, statements_of
from .scalar_types import boolean

together = 8  # candidates that are compiled as one library

# Expressions that stand for a place and not for its value, by the kind of statement.
_places = {"assign": 1, "step": 1, "exchange": 1, "gather": 1, "reference": 1}


def minimise(
    program: Program, shape: Shape, differs: Callable[[list[Program], Shape], list[bool]], seconds: float = 120
) -> tuple[Program, Shape]:
    """`differs` says of each program whether it still does."""
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for candidates in (_without_statements, _flattened, _simpler_expressions):
            place = 0
            while time.monotonic() < end:
                found = _first(program, shape, candidates(program), place, differs)
                if found is None:
                    break
                program, place = found
                progress = True
    program = _without_unused_functions(program)
    return program, _smaller_shape(program, shape, differs)


def _first(program, shape, candidates: Iterator[Program], skip: int, differs) -> tuple[Program, int] | None:
    """The first candidate that differs, of those behind the first `skip`, and its number."""
    batch: list[tuple[int, Program]] = []

    def tested() -> tuple[Program, int] | None:
        answers = differs([candidate for _, candidate in batch], shape) if batch else []
        hit = next((number for number, answer in enumerate(answers) if answer), None)
        found = None if hit is None else (batch[hit][1], batch[hit][0])
        batch.clear()
        return found

    for number, candidate in enumerate(candidates):
        if number < skip or not is_valid(candidate):
            continue
        batch.append((number, candidate))
        if len(batch) == together and (found := tested()):
            return found
    return tested()


def _without_statements(program: Program) -> Iterator[Program]:
    """Halves of blocks first, then less."""
    counts = [len(block) for block in _blocks(program)]
    for size in (64, 32, 16, 8, 4, 2, 1):
        for number, count in enumerate(counts):
            if size > 1 and size >= count:
                continue
            for start in range(count - size, -1, -size):
                made = copy.deepcopy(program)
                del _blocks(made)[number][start : start + size]
                yield made


def _blocks(program: Program) -> list[list[Statement]]:
    """All blocks, also inner ones."""
    result = []
    for block in all_blocks(program):
        result.append(block)
        for statement in statements_of(block):
            result.extend(statement.blocks)
    return result


def _flattened(program: Program) -> Iterator[Program]:
    for number, block in enumerate(_blocks(program)):
        for place, statement in enumerate(block):
            for which in range(len(statement.blocks)):
                if statement.kind == "block":
                    continue
                made = copy.deepcopy(program)
                inner = _blocks(made)[number]
                inner[place] = Statement("block", [], [inner[place].blocks[which]])
                yield made
            if statement.kind == "block" and not any(map(declared_by, statement.blocks[0])):
                made = copy.deepcopy(program)
                inner = _blocks(made)[number]
                inner[place : place + 1] = inner[place].blocks[0]
                yield made


def _positions(program: Program) -> list[tuple[list[Expression], int]]:
    """Where expressions stand whose value alone counts, outermost first."""
    result: list[tuple[list[Expression], int]] = []

    def visit(siblings: list[Expression], number: int, is_place: bool) -> None:
        expression = siblings[number]
        if not is_place and expression.kind not in ("constant", "address", "struct"):
            result.append((siblings, number))
        for inner in range(len(expression.operands)):
            of_place = is_place and expression.kind in ("swizzle", "component") and inner == 0
            named = expression.kind == "component" and inner == 0
            visit(expression.operands, inner, of_place or named or _is_reference(program, expression, inner))

    for block in all_blocks(program):
        for statement in statements_of(block):
            for number in range(len(statement.expressions)):
                if statement.kind != "run":
                    visit(statement.expressions, number, number < _places.get(statement.kind, 0))
    return result


def _is_reference(program: Program, expression: Expression, number: int) -> bool:
    if expression.kind != "invoke":
        return False
    function = next(function for function in program.functions if function.name == expression.data)
    return function.parameters[number].kind != "value"


def _simpler_expressions(program: Program) -> Iterator[Program]:
    for number, (siblings, place) in enumerate(_positions(program)):
        for other in _simpler(siblings[place]):
            made = copy.deepcopy(program)
            inner, where = _positions(made)[number]
            inner[where] = copy.deepcopy(other)
            yield made


def _simpler(expression: Expression) -> Iterator[Expression]:
    type = expression.type
    for operand in expression.operands:
        if operand.type == type and operand.kind not in ("address", "struct"):
            yield operand
    simple = expression.kind == "cast" and expression.operands[0].kind in ("constant", "variable")
    if type.lanes == 1:
        for value in (0, 1) if expression.kind != "variable" else ():
            yield constant(bool(value) if type == boolean else value, type)
    if not simple:
        for operand in expression.operands:
            if (
                operand.type != type
                and operand.kind not in ("address", "struct")
                and operand.type.lanes == type.lanes
                and type != boolean
            ):
                yield Expression("cast", type, [operand])


def _without_unused_functions(program: Program) -> Program:
    used = {expression.data for expression in all_expressions(program) if expression.kind == "invoke"}
    made = copy.deepcopy(program)
    made.functions = [function for function in made.functions if function.name in used]
    return made


def _smaller_shape(program: Program, shape: Shape, differs) -> Shape:
    for count in (1, 2, 4, 8, 16, 32, 64):
        rest = (1,) * (program.dimensions - 1) + (1,) * (3 - program.dimensions)
        smaller = Shape((count, *rest), (min(count, 32), *rest), shape.inputs)
        if differs([program], smaller)[0]:
            return smaller
    return shape


def declared_by(statement: Statement) -> set[str]:
    """The names that a statement adds to its block; of a struct, its members' too."""
    if statement.kind in ("declare", "array", "pointer", "reference"):
        return {statement.data[0]}
    if statement.kind == "struct" or (statement.kind == "copy" and statement.data[3]):
        name = statement.data[0]
        struct = statement.data[1] if statement.kind == "struct" else statement.data[2]
        return {name, *(f"{name}.{member}" for member in (*struct.members, *struct.arrays))}
    return set()


def _is_local(name: str) -> bool:
    return re.match(r"[avis]\d", name) is not None


def is_valid(program: Program) -> bool:
    """Whether all names are declared, and all jumps have where to go."""
    functions = {function.name for function in program.functions}

    def known(expression: Expression, names: set[str]) -> bool:
        if expression.kind in ("variable", "struct") and _is_local(expression.data) and expression.data not in names:
            return False
        if expression.kind in ("element", "address") and expression.data[0] not in names:
            return expression.data[0].startswith(("own_", "table")) and all(
                known(o, names) for o in expression.operands
            )
        if expression.kind == "invoke" and expression.data not in functions:
            return False
        return all(known(operand, names) for operand in expression.operands)

    def check(block: list[Statement], names: set[str], loop: bool, breakable: bool) -> bool:
        names = set(names)
        for statement in block:
            inner = set(names)
            if statement.kind in loops:
                inner.add(statement.data[0])
            if not all(known(expression, inner) for expression in statement.expressions):
                return False
            if (statement.kind == "break" and not breakable) or (statement.kind == "continue" and not loop):
                return False
            if statement.kind == "copy":
                target, source, _, declares = statement.data
                if source not in names or not (declares or target in names):
                    return False
            names |= declared_by(statement)
            is_loop = statement.kind in loops
            for some in statement.blocks:
                if not check(some, inner, loop or is_loop, breakable or is_loop or statement.kind == "switch"):
                    return False
        return True

    for function in program.functions:
        names = set()
        for parameter in function.parameters:
            names.add(parameter.name)
            if parameter.struct:
                names |= {f"{parameter.name}.{m}" for m in (*parameter.struct.members, *parameter.struct.arrays)}
        if not function.body or function.body[-1].kind != "return" or not check(function.body, names, False, False):
            return False
    return check(program.body, set(), False, False)
