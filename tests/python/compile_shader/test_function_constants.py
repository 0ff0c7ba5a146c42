"""compile_shader(function_constants=...), and what values may be."""

import enum

import numpy
import pytest

import metalloid

SOURCE = """
constant uint n [[function_constant(0)]];
constant ulong big [[function_constant(1)]];
constant bool flag [[function_constant(2)]];
constant float3 v [[function_constant(3)]];
constant bool has_n = is_function_constant_defined(n);
kernel void number(device ulong* out) { out[0] = has_n ? n : 77; }
kernel void wide(device ulong* out) { out[0] = big; }
kernel void chosen(device ulong* out) { out[0] = flag ? 1 : 2; }
kernel void vector(device ulong* out) { out[0] = ulong(v.x * 100 + v.y * 10 + v.z); }
"""


class Size(enum.IntEnum):
    small = 4


def result(name, **options):
    out = numpy.zeros(1, numpy.uint64)
    getattr(metalloid.compile_shader(SOURCE, **options), name)(out, threads=1)
    return int(out[0])


@pytest.mark.parametrize("name, constants, expected", [
    ("number", {"n": 5}, 5),
    ("number", {0: 5}, 5),
    ("number", {numpy.int64(0): 5}, 5),
    ("number", {"n": Size.small}, 4),
    ("number", {"n": numpy.uint8(200)}, 200),
    ("number", {"n": numpy.float32(3)}, 3),
    ("number", {"n": numpy.array(9)}, 9),
    ("number", {"n": -1}, 2**32 - 1),
    ("number", {"n": True}, 1),
    ("number", {}, 77),
    ("wide", {"big": 2**64 - 1}, 2**64 - 1),
    ("wide", {1: numpy.uint64(2**63)}, 2**63),
    ("wide", {"big": -1}, 2**64 - 1),
    ("chosen", {"flag": numpy.bool_(False)}, 2),
    ("chosen", {"flag": 1}, 1),
    ("vector", {"v": (1, 2.0, 3)}, 123),
    ("vector", {"v": [1, 2, 3]}, 123),
    ("vector", {3: numpy.arange(1, 4)}, 123),
    ("vector", {3: numpy.arange(1, 4, dtype=numpy.float16)}, 123),
])  # fmt: skip
def test_values(name, constants, expected):
    assert result(name, function_constants=constants) == expected


def test_torch_values():
    torch = pytest.importorskip("torch")
    assert result("number", function_constants={"n": torch.tensor(6)}) == 6
    assert result("vector", function_constants={"v": torch.tensor([4.0, 5.0, 6.0])}) == 456


def test_get_kernel_adds_and_replaces():
    lib = metalloid.compile_shader(SOURCE, function_constants={"n": 5, "flag": True})
    for constants, name, expected in (
        (None, "number", 5), ({"n": 6}, "number", 6), ({0: 6}, "number", 6), ({"n": 6}, "chosen", 1),
    ):  # fmt: skip
        out = numpy.zeros(1, numpy.uint64)
        lib.get_kernel(name, constants)(out, threads=1)
        assert out[0] == expected


@pytest.mark.parametrize("constants, kind, message", [
    ({"m": 1}, ValueError, "no function constant is named 'm'; the library has 'n' \\(index 0\\), 'big'"),
    ({7: 1}, ValueError, "no function constant has index 7"),
    ({-1: 1}, ValueError, "no function constant has index -1"),
    ({None: 1}, TypeError, "named by a str or an index, not None"),
    ({True: 1}, TypeError, "named by a str or an index, not True"),
    ({"n": "x"}, TypeError, "'n' \\(index 0\\) of type uint takes .*, not 'x'"),
    ({"n": None}, TypeError, "not None"),
    ({"n": 1j}, TypeError, "not 1j"),
    ({"n": 2**32}, ValueError, "cannot hold 4294967296"),
    ({"big": 2**64}, ValueError, "cannot hold 18446744073709551616"),
    ({"big": -(2**63) - 1}, ValueError, "cannot hold"),
    ({"v": [1, "x", 2]}, TypeError, "takes"),
    ({"v": []}, TypeError, "takes"),
    ([("n", 1)], TypeError, "function_constants maps"),
])  # fmt: skip
def test_refused_when_compiled(constants, kind, message):
    with pytest.raises(kind, match=message):
        metalloid.compile_shader(SOURCE, function_constants=constants)


@pytest.mark.parametrize("constants, message", [
    ({"v": [1.0, 2.0]}, "needs 3 values, 2 given"),
    ({"v": 1.0}, "needs 3 values"),
    ({"n": [1, 2]}, "needs 1 value"),
    ({"n": 1.5}, "cannot hold 1.5"),
    ({"big": 1e30}, "cannot hold"),
    ({"n": float("nan")}, "cannot hold nan"),
])  # fmt: skip
def test_refused_with_the_kernel(constants, message):
    with pytest.raises(metalloid.Error, match=message):
        result("number", function_constants=constants)


def test_two_values_for_one_constant():
    with pytest.raises(ValueError, match=r"function constant 'n' \(index 0\) is given twice, as 'n' and 0"):
        metalloid.compile_shader(SOURCE, function_constants={"n": 1, 0: 2})
