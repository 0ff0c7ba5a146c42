"""Random kernels on every CPU device against NumPy, some of what `make compare-oracle` runs, and that the oracle itself is
right and can fail.
"""

import fractions
import random

import numpy as np
import pytest

from . import arithmetic, functions, sweep
from .compare import Expected, Library
from .evaluate import Evaluator
from .evaluate_expressions import forms
from .grid import Shape, Threads
from .make_program import kernels_per_library, make_program, shapes_for
from .memory import atomics
from .metal_source import library_source
from .program import all_expressions, all_statements, expressions_of, loops, statements_of
from .scalar_types import Type, floats, integers, type_of


@pytest.mark.parametrize("library", range(4))
def test_kernels_write_what_numpy_computes(library):
    first = library * kernels_per_library
    counts, reports = sweep.compare_library(range(first, first + kernels_per_library), sweep.DEVICES)
    assert not reports, "\n".join(reports)
    assert all(counts[device]["kernels"] == kernels_per_library for device in sweep.DEVICES)
    assert counts["cpu"]["taken"] >= kernels_per_library // 2  # by the SIMD engine


def test_a_seed_is_a_kernel():
    for seed in (3, 400):
        texts = {library_source([("k0", make_program(seed))])[0] for _ in range(2)}
        assert len(texts) == 1 and shapes_for(make_program(seed), seed) == shapes_for(make_program(seed), seed)


def features_of(program):
    """What the page about the comparison names, as far as a kernel has it."""
    yield from (f"{program.dimensions} dimensions", f"{program.mathematics} mathematics")
    for function in program.functions:
        yield "noinline" if not function.is_inline else "inline"
        yield f"function of {function.result.kind}"
        yield from (f"{parameter.kind} in {parameter.space} memory" for parameter in function.parameters)
        calls = (e.kind for s in statements_of(function.body) for top in s.expressions for e in expressions_of(top))
        yield from (f"{kind} in a function" for kind in calls if kind in ("lanes", "invoke"))
    for statement in all_statements(program):
        yield statement.kind
        if statement.kind == "atomic":
            yield f"atomic {statement.data}"
        if statement.kind == "exchange":
            yield f"exchange of {'vectors' if statement.data[0].lanes > 1 else statement.data[0].kind}"
        if statement.kind == "switch" and any(statement.data[1][:-1]):
            yield "falls through"
        for inner in (inner for block in statement.blocks for inner in statements_of(block)):
            if any(e.kind == "lanes" for top in inner.expressions for e in expressions_of(top)):
                yield "lanes under divergence"
    for expression in all_expressions(program):
        yield expression.kind
        yield str(expression.type)
        if expression.kind == "call":
            yield expression.data[0]
        if expression.kind == "load":
            yield f"{expression.data[2] or 'plain'} load"
            yield f"load at {expression.data[3]}"
        if expression.kind == "lanes":
            yield expression.data.split(":")[0]
    for shape in shapes_for(program, program.seed):
        threads = shape.group[0] * shape.group[1] * shape.group[2]
        yield from ["partial simdgroup"] * (threads % 32 != 0)
        yield from ["grid that does not fit"] * any(a % b for a, b in zip(shape.grid, shape.group, strict=True))


def test_kernels_have_all_that_the_page_names():
    found = {feature for seed in range(2000) for feature in features_of(make_program(seed))}
    groups = {f"{kind} memory" for kind in ("pointer in thread", "pointer in device", "reference in thread")}
    wanted = groups | {"struct in thread memory", "lanes in a function", "invoke in a function", "noinline", "inline"}
    wanted |= {f"function of {kind}" for kind in "iuf"} | {"lanes under divergence", "falls through"}
    wanted |= {"partial simdgroup", "grid that does not fit", *(f"{n} dimensions" for n in (1, 2, 3))}
    wanted |= {"safe mathematics", "fast mathematics", *(f"atomic {name}" for name in atomics)}
    wanted |= {f"exchange of {what}" for what in ("i", "u", "f", "vectors")} | {*loops}
    wanted |= {"if", "switch", "break", "continue", "return", "array", "pointer", "reference", "struct", "copy"}
    wanted |= {"atomic", "ticket", "gather", "approximate", "swizzle", "component", "as_type", "choose", "construct"}
    wanted |= {f"{form} load" for form in ("plain", "pointer", "vector", "packed", "shifted")} | {*functions.table}
    wanted |= {f"load at {form}" for form in forms}
    wanted |= {name + (str(lanes) if lanes > 1 else "") for name in (*integers, *floats) for lanes in (1, 2, 3, 4)}
    of_lanes = "sum product min max and or xor ballot any all is_first active_threads_mask broadcast broadcast_first"
    of_lanes += " shuffle shuffle_xor shuffle_up shuffle_down shuffle_rotate_up shuffle_rotate_down shuffle_and_fill_up"
    of_lanes += " shuffle_and_fill_down prefix_inclusive_sum prefix_exclusive_product"
    wanted |= {f"{group}_{name}" for group in ("simd", "quad") for name in of_lanes.split()}
    assert not wanted - found


class AddsOneToMany(Evaluator):
    """Wrong for sums above 2^31."""

    def _binary(self, expression):
        result = super()._binary(expression)
        if expression.data == "+" and result.dtype == np.uint32:
            return result + (result > 1 << 31)
        return result


class ForgetsWhoBroke(Evaluator):
    """Threads that leave a loop by `break` stay in it."""

    def _do_break(self, statement):
        pass


class AllLanesTakePart(Evaluator):
    def _lanes(self, expression):
        inner, self.mask = self.mask, ~self.none
        result = super()._lanes(expression)
        self.mask = inner
        return result


@pytest.mark.parametrize("wrong", [AddsOneToMany, ForgetsWhoBroke, AllLanesTakePart])
def test_a_wrong_evaluator_differs(wrong):
    """Of a difference: the seed, a small kernel, its buffers, the first element with both values."""
    for seed in range(400):
        program = make_program(seed)
        shape = shapes_for(program, seed, 1)[0]
        right, other = Expected(program, shape), Expected(program, shape, evaluator=wrong)
        printer = library_source([("k0", program)])[1]["k0"]
        pairs = zip(right.evaluator.slots, other.evaluator.slots, strict=True)
        if not all(np.array_equal(one, another, equal_nan=True) for one, another in pairs):
            break
    else:
        pytest.fail("no kernel tells them apart")
    assert printer.buffers
    difference = Library([program], "reference").run(0, other)
    assert difference is not None and difference.kind == "result"
    text = sweep.report(program, difference, evaluator=wrong, seconds=10)
    assert f"--seed {seed} --count 1" in text and "device reference" in text
    assert "expected" in text and "kernel void k0(" in text and "threads (" in text
    small = text[text.index("kernel void k0(") :]
    assert small.count("\n") < library_source([("k0", program)])[0].count("\n")


def test_the_sweep_fails_where_something_differs(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sweep, "Expected", lambda program, shape: Expected(program, shape, evaluator=AddsOneToMany))
    monkeypatch.setattr(sweep.concurrent.futures, "ProcessPoolExecutor", _InThisProcess)
    progress = str(tmp_path / "progress")
    arguments = ["--seed", "1", "--count", "15", "--devices", "reference", "--no-minimise", "--progress", progress]
    assert sweep.main(arguments) == 1
    first = capsys.readouterr().out
    assert "==== --seed" in first and "| reference | 15 |" in first
    assert sweep.main(arguments) == 1  # goes on behind what is done
    again = capsys.readouterr().out
    assert "==== --seed" not in again and "| reference | 15 |" in again


class _InThisProcess(sweep.concurrent.futures.Executor):
    def __init__(self, *arguments, **keywords):
        pass

    def submit(self, function, *arguments):
        future = sweep.concurrent.futures.Future()
        future.set_result(function(*arguments))
        return future


# The oracle's own arithmetic, against Python's integers and fractions.


def nearest(value: fractions.Fraction, type: Type) -> float:
    """To nearest even, by search."""
    digits = {"half": 11, "bfloat": 8, "float": 24}[type.scalar]
    least = {"half": -24, "bfloat": -133, "float": -149}[type.scalar]
    if value == 0:
        return 0.0
    exponent = 0
    while abs(value) >= fractions.Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < fractions.Fraction(2) ** exponent:
        exponent -= 1
    unit = fractions.Fraction(2) ** max(exponent - digits + 1, least)
    rounded = round(value / unit) * unit  # Python rounds halves to even
    largest = {"half": 65504, "bfloat": (2 - 2.0**-7) * 2.0**127, "float": (2 - 2.0**-23) * 2.0**127}[type.scalar]
    return float(rounded) if abs(rounded) <= largest else float(np.copysign(np.inf, float(value > 0) - 0.5))


def some_integers(type: Type, count: int = 300) -> np.ndarray:
    choose = random.Random(str(type))
    near = [choose.randint(-300, 300) + (1 << choose.randrange(type.bits)) for _ in range(count)]
    values = [*near, type.smallest, type.largest, 0, *(choose.getrandbits(type.bits) for _ in range(count))]
    return np.array([value & ((1 << type.bits) - 1) for value in values], f"u{type.bits // 8}").view(type.dtype)


@pytest.mark.parametrize("name", floats)
def test_integers_are_rounded_once(name):
    target = type_of(name)
    for source in map(type_of, integers):
        values = some_integers(source)
        found = arithmetic.convert(values, source, target)
        wanted = [nearest(fractions.Fraction(int(value)), target) for value in values]
        np.testing.assert_array_equal(found.astype(np.float64), wanted)


@pytest.mark.parametrize("name", floats)
def test_fused_products_are_rounded_once(name):
    type, choose = type_of(name), np.random.default_rng(5)
    bits = choose.integers(0, 1 << type.bits, (3, 3000), dtype=f"u{type.bits // 8}")
    a, b, c = (arithmetic.from_bits(row, type) for row in bits)
    with np.errstate(all="ignore"):
        c = np.where(choose.integers(0, 2, 3000) == 0, arithmetic.binary("*", -a, b, type), c)  # cancels
        found = arithmetic.fused_multiply_add(a, b, c, type)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    for place in np.flatnonzero(finite):
        exact = fractions.Fraction(float(a[place])) * fractions.Fraction(float(b[place])) + fractions.Fraction(
            float(c[place])
        )
        assert float(found[place]) == nearest(exact, type), (a[place], b[place], c[place])


@pytest.mark.parametrize("name", integers)
def test_integer_functions(name):
    """Those that arithmetic alone defines, one pair at a time in Python's integers."""
    type = type_of(name)
    x = some_integers(type)
    y = x[np.random.default_rng(1).permutation(len(x))]
    wrap = lambda value: (value - type.smallest) % (1 << type.bits) + type.smallest  # noqa: E731
    clamp = lambda value: min(max(value, type.smallest), type.largest)  # noqa: E731
    mask = (1 << type.bits) - 1
    wanted = {
        "addsat": lambda a, b: clamp(a + b),
        "subsat": lambda a, b: clamp(a - b),
        "hadd": lambda a, b: (a + b) >> 1,
        "rhadd": lambda a, b: (a + b + 1) >> 1,
        "mulhi": lambda a, b: (a * b) >> type.bits,
        "absdiff": lambda a, b: abs(a - b),
        "rotate": lambda a, b: wrap(((a & mask) << b % type.bits) | ((a & mask) >> (type.bits - b % type.bits))),
    }
    for function, compute in wanted.items():
        found = functions.table[function].compute(x, y, type)
        assert [*map(int, found)] == [compute(int(a), int(b)) for a, b in zip(x, y, strict=True)], function
    text = [f"{int(value) & mask:0{type.bits}b}" for value in x]
    of_text = {
        "popcount": lambda digits: digits.count("1"),
        "clz": lambda digits: len(digits) - len(digits.lstrip("0")),
        "ctz": lambda digits: len(digits) - len(digits.rstrip("0")),
        "reverse_bits": lambda digits: wrap(int(digits[::-1], 2)),
    }
    for function, compute in of_text.items():
        found = functions.table[function].compute(x, type)
        assert [*map(int, found)] == [compute(digits) for digits in text], function


def test_threads_of_a_grid_that_does_not_fit():
    threads = Threads(Shape((5, 3, 1), (4, 2, 1)))
    assert threads.group_count == 4
    last = threads.group_index == 3  # 1 x 1 thread
    assert last.sum() == 1 and threads.actual[:, last].ravel().tolist() == [1, 1, 1]
    second = threads.group_index == 1  # 1 x 2 threads
    assert threads.index[second].tolist() == [0, 1] and threads.lane[second].tolist() == [0, 1]
