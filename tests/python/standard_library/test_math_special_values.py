"""Math functions at zeros of both signs, infinities, NaN, integers and halves: what C says of them (C23 annex F), and MSL
of sign(). References are the C library of the host, in double precision, and mpmath where it lacks the function.

Fast math may ignore the signs of zeros; Metalloid keeps those that functions are defined by, and its tests with them.
"""

import ctypes
import ctypes.util
import itertools
import math

import numpy
import pytest

import metalloid

mpmath = pytest.importorskip("mpmath")

inf, nan = math.inf, math.nan
libm = ctypes.CDLL(ctypes.util.find_library("m"))


def of_c(name, count=1):
    function = getattr(libm, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * count
    return function


def sinpi(x):
    if not math.isfinite(x):
        return nan
    return math.copysign(0.0, x) if x == int(x) else float(mpmath.sinpi(x))


def cospi(x):
    if not math.isfinite(x):
        return nan
    return 0.0 if x % 1 == 0.5 else float(mpmath.cospi(x))


def tanpi(x):
    if not math.isfinite(x):
        return nan
    if x == int(x):  # the signs of sinpi and cospi
        return math.copysign(0.0, x) * (-1 if x % 2 else 1)
    if x % 1 == 0.5:
        return -inf if math.floor(x) % 2 else inf
    return float(mpmath.sinpi(x) / mpmath.cospi(x))


def rsqrt(x):
    if x == 0:
        return math.copysign(inf, x)
    return 1 / of_c("sqrt")(x)


def sign(x):
    return 0.0 if math.isnan(x) else x if x == 0 else math.copysign(1.0, x)


def powr(x, y):
    if math.isnan(x) or math.isnan(y) or x < 0:
        return nan
    if y == 0 and (x == 0 or x == inf) or x == 1 and math.isinf(y):
        return nan
    return of_c("pow", 2)(abs(x), y)


def divide(x, y):
    with numpy.errstate(all="ignore"):
        return float(numpy.float64(x) / numpy.float64(y))


def neighbour_in(kind):
    def nextafter(x, y):
        with numpy.errstate(all="ignore"):
            return y if x == y else float(numpy.nextafter(kind(x), kind(y)))

    return nextafter


NAMES = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "exp2", "exp10", "fabs", "floor",
         "log", "log2", "log10", "rint", "round", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"]  # fmt: skip
UNARY = {name: of_c(name) for name in NAMES} | {
    "cospi": cospi, "sinpi": sinpi, "tanpi": tanpi, "rsqrt": rsqrt, "sign": sign, "abs": of_c("fabs")}  # fmt: skip
BINARY = {name: of_c(name, 2) for name in ["atan2", "copysign", "fdim", "fmod", "fmax", "fmin", "pow"]} | {
    "powr": powr, "divide": divide, "nextafter": None}  # fmt: skip

POSITIVE = [0.0, 1.0, 2.0, 3.0, 4.0, 0.5, 1.5, 2.5, 3.5, 0.25, 7.0, 1024.0, 3000.0, 1e-3, inf]
VALUES = [value for positive in POSITIVE for value in (positive, -positive)] + [nan]
# Type of elements, components, NumPy's type of what holds an element, relative tolerance.
FORMS = {
    "float": ("float", 1, numpy.float32, 2e-6),
    "float4": ("float", 4, numpy.float32, 2e-6),
    "half2": ("half", 2, numpy.float16, 2e-3),
    "bfloat": ("bfloat", 1, numpy.uint16, 1e-2),
}


def source(functions, inputs, form):
    """One kernel that calls all functions: number k writes row k of `out`."""
    element, width, storage, _ = FORMS[form]
    held = "ushort" if storage is numpy.uint16 else element
    names = "xy"[:inputs]

    def load(name, c):
        text = f"{name}[{width} * i + {c}]"
        return f"as_type<bfloat>({text})" if element == "bfloat" else text

    lines = [f"{form} {n}_ = {form}({', '.join(load(n, c) for c in range(width))});" for n in names]
    for k, function in enumerate(functions):
        call = f"{function}({', '.join(n + '_' for n in names)})"
        stores = []
        for c in range(width):
            value = f"r[{c}]" if width > 1 else "r"
            value = f"as_type<ushort>(bfloat({value}))" if element == "bfloat" else value
            stores.append(f"out[{k} * n + {width} * i + {c}] = {value};")
        lines.append(f"{{ {form} r = {form}({call}); {' '.join(stores)} }}")
    parameters = "".join(f"device const {held}* {n}, " for n in names)
    return (
        f"#include <metal_stdlib>\nusing namespace metal;\nkernel void all({parameters}device {held}* out, "
        "constant uint& n, uint i [[thread_position_in_grid]]) {\n  " + "\n  ".join(lines) + "\n}\n"
    )


def to_held(values, storage):
    values = numpy.asarray(values, numpy.float32)
    return (values.view(numpy.uint32) >> 16).astype(numpy.uint16) if storage is numpy.uint16 else values.astype(storage)


def to_double(held):
    if held.dtype == numpy.uint16:
        held = (held.astype(numpy.uint32) << 16).view(numpy.float32)
    return held.astype(numpy.float64)


def rounded(value, form):
    """The result in the form's type, for the sake of zeros and infinities."""
    with numpy.errstate(all="ignore"):
        return float(numpy.float16(value) if FORMS[form][0] == "half" else numpy.float32(value))


def agrees(got, want, tolerance):
    if math.isnan(want):
        return math.isnan(got)
    if want == 0 or math.isinf(want):
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return abs(got - want) <= tolerance * abs(want)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["safe", "fast"])
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_special_values(device, mode, form):
    _, width, storage, tolerance = FORMS[form]
    for functions, inputs in ((UNARY, 1), (BINARY, 2)):
        if form == "bfloat":  # Metal's functions of a bfloat are those of float
            functions = {name: reference for name, reference in functions.items() if name != "nextafter"}
        columns = list(zip(*itertools.product(VALUES, repeat=inputs), strict=True))
        columns = [list(column) + [1.0] * (-len(column) % width) for column in columns]
        held = [to_held(column, storage) for column in columns]
        count = len(columns[0])
        out = numpy.zeros((len(functions), count), storage)
        library = metalloid.compile_shader(source(functions, inputs, form), device=device, math_mode=mode)
        library.all(*held, out, numpy.uint32(count), threads=count // width)
        arguments = list(zip(*(to_double(column) for column in held), strict=True))
        wrong = []
        for (name, reference), results in zip(functions.items(), to_double(out), strict=True):
            if name == "nextafter":
                reference = neighbour_in(storage)
            for values, got in zip(arguments, results, strict=True):
                if name in ("fmax", "fmin") and values[0] == values[1] == 0:
                    continue  # either
                want = rounded(reference(*map(float, values)), form)
                if not agrees(float(got), want, tolerance):
                    wrong.append(f"{name}{tuple(map(float, values))} is {got}, not {want}")
        assert not wrong, "\n".join(wrong[:20])
