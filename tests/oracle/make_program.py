"""Makes a kernel for a seed."""

from __future__ import annotations

import random

from .grid import Shape
from .make_expressions import Features, Scope
from .make_statements import Context, Statements
from .memory import arguments, most_threads_per_group
from .program import Function, Parameter, Program, Statement, Struct
from .scalar_types import floats, integers, type_of

kernels_per_library = 16  # which have the same mathematics


def make_program(seed: int, mathematics: str | None = None) -> Program:
    choose = random.Random(seed)
    mathematics = mathematics or mathematics_of(seed)
    word = ["int", "uint", "long", "ulong"]
    names = choose.choice(
        [word, word, list(integers), choose.sample(integers, 3) + ["uint", "int"], ["uint", "ulong", "int"]]
    )
    real = choose.choice([[], ["float"], ["float"], ["half", "float"], ["bfloat", "float"], list(floats)])
    features = Features(
        integers=names,
        floats=real,
        vectors=choose.randrange(3) == 0,
        across_lanes=choose.randrange(2) == 0,
        exact_floats=mathematics == "safe",
    )
    dimensions = choose.choice([1, 1, 1, 2, 3])
    program = Program(
        seed=seed,
        dimensions=dimensions,
        index_type=choose.choice(["uint", "uint", "ushort"]),
        mathematics=mathematics,
        slots=[],
        tolerances={},
        layout=choose.choice(["rows", "columns"]),
        body=[],
        functions=[],
    )
    maker = Statements(choose, features, program)
    scope = Scope(_built_in_names(program), [])
    if maker.one_in(4):
        program.structs.append(_make_struct(maker))
    if maker.one_in(4):
        type = maker.any_integer()
        values = [maker.number(type).data for _ in range(8)]
        program.tables.append(("table0", type, values))
        scope.arrays.append(("table0", type, 8))
    for number in range(choose.choice([0, 0, 1, 2])):
        _make_function(maker, f"f{number}")
    context = Context(uniform=True)
    body = maker.declarations(scope, choose.randint(1, 3))
    body += maker.block(scope, context, choose.randint(2, 6), depth=3)
    body += maker.results(scope)
    program.body = body
    return program


def mathematics_of(seed: int) -> str:
    """The same for all seeds of a library."""
    return random.Random(seed // kernels_per_library).choice(["safe", "safe", "safe", "fast"])


def _built_in_names(program: Program) -> list:
    vector = lambda name: [name] if program.dimensions == 1 else [f"{name}.{a}" for a in "xyz"[: program.dimensions]]  # noqa: E731
    index, unsigned = type_of(program.index_type), type_of("uint")
    names = [(name, index, False) for name in (*vector("q"), *vector("size"), "t", "lane", "simd", "simds")]
    names += [
        (name, unsigned, False) for name in (*vector("p"), *vector("w"), *vector("groups"), "g", "total", "g", "g")
    ]
    return names + [(name, type_of(type), False) for name, type in arguments.items()]


def _make_struct(maker: Statements) -> Struct:
    members = {f"m{number}": maker.any_type() for number in range(maker.choose.randint(1, 4))}
    members = {name: type if type.kind != "b" else type_of("uchar") for name, type in members.items()}
    arrays = {"array": (maker.any_integer(), 4)} if maker.one_in(2) else {}
    return Struct("S", members, arrays)


def _make_function(maker: Statements, name: str) -> None:
    """A function of the kernel's own: of values alone, for expressions; or one that changes what it is given."""
    choose = maker.choose
    parameters, scope = [], Scope([("g", type_of("uint"), False), ("lane", type_of("uint"), False)], [], True)
    is_pure = maker.one_in(2)
    for number in range(choose.randint(1, 3)):
        kind = "value" if is_pure else choose.choice(["value", "reference", "pointer"])
        type = maker.any_integer() if kind == "pointer" else maker.any_number()
        parameter = Parameter(f"a{number}", type, kind, 4 if kind == "pointer" else 0)
        if kind == "pointer" and maker.one_in(3):
            parameter.space = "device"
        if not is_pure and maker.program.structs and maker.one_in(3):
            struct = maker.program.structs[0]
            parameter = Parameter(f"a{number}", None, "struct", struct=struct)
            parameters.append(parameter)
            scope.variables += [(f"{parameter.name}.{name}", type, True) for name, type in struct.members.items()]
            scope.arrays += [(f"{parameter.name}.{name}", *array) for name, array in struct.arrays.items()]
            continue
        parameters.append(parameter)
        if kind == "pointer":
            scope.arrays.append((parameter.name, parameter.type, parameter.length))
        else:
            scope.variables.append((parameter.name, parameter.type, kind == "reference"))
    result = maker.any_number()
    function = Function(name, result, parameters, [], is_inline=not maker.one_in(3))
    body = maker.declarations(scope, 1)
    body += maker.block(scope, Context(function=function), choose.randint(1, 4), depth=2)
    body.append(Statement("return", [maker.make(result, scope, 2)], data=name))
    function.body = body
    maker.program.functions.append(function)
    if is_pure:
        maker.functions.append(function)
    else:
        maker.changing_functions.append(function)


def shapes_for(program: Program, seed: int, count: int = 3) -> list[Shape]:
    """Grids and threadgroups: whole simdgroups, parts of them, edges that cut threadgroups."""
    choose = random.Random(seed * 7919 + 1)
    shapes = []
    for number in range(count):
        if program.dimensions == 1:
            group = (choose.choice([32, 64, 32, 1, 7, 33, 40, 96, 128, 256, choose.randint(1, 200)]), 1, 1)
            grid = (choose.choice([group[0], group[0] * 2, choose.randint(1, 400), group[0] * 2 - 1]), 1, 1)
        else:
            extents = [choose.choice([16, 8, 32, 4, 5, 3, 1, 2, 33]), choose.choice([1, 2, 3, 4, 7, 8])]
            extents.append(choose.choice([1, 2, 3]) if program.dimensions == 3 else 1)
            grid = tuple(
                extent * choose.choice([1, 1, 2]) + (choose.choice([0, 0, 1, -1]) if extent > 1 else 0)
                for extent in extents
            )
            grid = grid if program.dimensions == 3 else (*grid[:2], 1)
            group = tuple(extents)
        if group[0] * group[1] * group[2] > most_threads_per_group or grid[0] * grid[1] * grid[2] > 480:
            group, grid = (
                (32, 2, 1)[: program.dimensions] + (1,) * (3 - program.dimensions),
                (40, 3, 2)[: program.dimensions] + (1,) * (3 - program.dimensions),
            )
        shapes.append(Shape(grid, group, inputs=(seed + number) % 50))
    return shapes
