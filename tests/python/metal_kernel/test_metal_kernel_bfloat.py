"""Math functions of bfloat, which MLX's headers add to namespace metal for kernels of metal_kernel."""

import numpy
import pytest

torch = pytest.importorskip("torch")

import metalloid  # noqa: E402
from metalloid.fast import metal_kernel  # noqa: E402

inside = numpy.linspace(-0.95, 0.95, 64)
positive = numpy.linspace(0.06, 9, 64)
around = numpy.linspace(-4, 4, 64)
one = {  # arguments, and what it is in float64
    "abs": (around, numpy.abs), "acos": (inside, numpy.arccos), "acosh": (positive + 1, numpy.arccosh),
    "asin": (inside, numpy.arcsin), "asinh": (around, numpy.arcsinh), "atan": (around, numpy.arctan),
    "atanh": (inside, numpy.arctanh), "ceil": (around, numpy.ceil), "cos": (inside, numpy.cos), "cosh": (around, numpy.cosh),
    "cospi": (inside / 4, lambda x: numpy.cos(numpy.pi * x)), "exp": (around, numpy.exp), "exp2": (around, numpy.exp2),
    "exp10": (around, lambda x: 10**x), "fabs": (around, numpy.abs), "floor": (around, numpy.floor),
    "fract": (around, lambda x: x - numpy.floor(x)), "log": (positive + 1, numpy.log), "log2": (positive + 1, numpy.log2),
    "log10": (positive + 1, numpy.log10), "rint": (around, numpy.rint),
    "round": (around, lambda x: numpy.copysign(numpy.floor(numpy.abs(x) + 0.5), x)),
    "rsqrt": (positive, lambda x: 1 / numpy.sqrt(x)), "sin": (inside, numpy.sin), "sinh": (around, numpy.sinh),
    "sinpi": (inside / 4, lambda x: numpy.sin(numpy.pi * x)), "sqrt": (positive, numpy.sqrt), "tan": (inside, numpy.tan),
    "tanh": (around, numpy.tanh), "tanpi": (inside / 4, lambda x: numpy.tan(numpy.pi * x)), "trunc": (around, numpy.trunc),
}  # fmt: skip
two = {
    "atan2": numpy.arctan2, "copysign": numpy.copysign, "divide": numpy.divide,
    "fdim": lambda x, y: numpy.maximum(x - y, 0), "fmax": numpy.maximum, "fmin": numpy.minimum, "fmod": numpy.fmod,
    "max": numpy.maximum, "min": numpy.minimum, "pow": numpy.power, "powr": numpy.power,
}  # fmt: skip
three = {
    "fma": lambda x, y, z: x * y + z, "fmax3": lambda *all: numpy.max(all, axis=0), "max3": lambda *all: numpy.max(all, axis=0),
    "fmin3": lambda *all: numpy.min(all, axis=0), "min3": lambda *all: numpy.min(all, axis=0),
    "fmedian3": lambda *all: numpy.median(all, axis=0), "median3": lambda *all: numpy.median(all, axis=0),
}  # fmt: skip


def rounded(values):
    return torch.tensor(values, dtype=torch.bfloat16)


def call(source, *inputs, count=64):
    names = ["x", "y", "z"][: len(inputs)]
    kernel = metal_kernel("bfloats", names, ["out"], f"uint i = thread_position_in_grid.x;\n{source}")
    (out,) = kernel(
        inputs=[rounded(values) for values in inputs], template=[("T", torch.bfloat16)], grid=(64, 1, 1),
        threadgroup=(64, 1, 1), output_shapes=[(count, 64)], output_dtypes=[torch.bfloat16],
    )  # fmt: skip
    return out.to(torch.float64).numpy()


def is_near(got, wanted):
    # A bfloat has 8 bits: half of a unit of the last place by rounding once, and what fast math is off by.
    return numpy.abs(got - wanted) <= 2.0**-8 * numpy.abs(wanted) * 1.02 + 1e-5


@pytest.mark.parametrize("space", ["metal", "metal::fast", "metal::precise"])
def test_functions_of_one(space):
    for names in (list(one)[k : k + 8] for k in range(0, len(one), 8)):
        arguments = numpy.concatenate([rounded(one[name][0]).to(torch.float64).numpy() for name in names])
        source = "\n".join(f"out[{64 * k} + i] = {space}::{name}(x[{64 * k} + i]);" for k, name in enumerate(names))
        for name, got, x in zip(names, call(source, arguments, count=len(names)), arguments.reshape(-1, 64), strict=True):
            assert is_near(got, one[name][1](x)).all(), name


def test_functions_of_several():
    x, y, z = (rounded(values).to(torch.float64).numpy() for values in (positive, positive[::-1] / 3, positive + 1))
    source = "\n".join(f"out[{64 * k} + i] = metal::{name}(x[i], y[i]);" for k, name in enumerate(two))
    for (name, function), got in zip(two.items(), call(source, x, y, count=len(two)), strict=True):
        assert is_near(got, function(x, y)).all(), name
    source = "\n".join(f"out[{64 * k} + i] = metal::{name}(x[i], y[i], z[i]);" for k, name in enumerate(three))
    for (name, function), got in zip(three.items(), call(source, x, y, z, count=len(three)), strict=True):
        assert is_near(got, function(x, y, z)).all(), name


def test_functions_with_second_results():
    source = """
    int k; T whole, cosine;
    out[i] = metal::frexp(x[i], k);
    out[64 + i] = T(k);
    out[128 + i] = metal::modf(x[i], whole);
    out[192 + i] = whole;
    out[256 + i] = metal::sincos(x[i], cosine);
    out[320 + i] = cosine;
    out[384 + i] = metal::ldexp(x[i], -3);
    out[448 + i] = metal::nextafter(x[i], T(100));
    out[512 + i] = metal::nextafter(x[i], T(-100));
    """
    x = rounded(around).to(torch.float64).numpy()
    fraction, exponent, rest, whole, sine, cosine, scaled, above, below = call(source, x, count=9)
    assert (fraction * 2.0**exponent == x).all() and (numpy.abs(fraction) < 1).all()
    assert (rest == x - numpy.trunc(x)).all() and (whole == numpy.trunc(x)).all()
    assert is_near(sine, numpy.sin(x)).all() and is_near(cosine, numpy.cos(x)).all()
    assert (scaled == x / 8).all()
    # The distance to the next one is the last place of the one that is larger.
    place = 2.0 ** (numpy.floor(numpy.log2(numpy.abs(x))) - 7)
    inward = numpy.where(numpy.log2(numpy.abs(x)) % 1 == 0, place / 2, place)
    assert (above - x == numpy.where(x > 0, place, inward)).all() and (x - below == numpy.where(x > 0, inward, place)).all()


def test_the_largest_fraction_is_below_one():
    (out,) = call("out[i] = metal::fract(x[i]);", numpy.full(64, -(2.0**-20)), count=1)
    assert (out == 1 - 2.0**-8).all()


def test_bfloats_beside_other_types_count_as_floats():
    x = numpy.full(64, 1.5)
    (out,) = call("static_assert(is_same_v<decltype(pow(x[i], 2.0f)), float>); out[i] = T(pow(x[i], 2.0f));", x, count=1)
    assert (out == 2.25).all()


def test_metal_itself_has_none_of_them():
    with pytest.raises(SyntaxError):
        metalloid.compile_shader(
            "#include <metal_stdlib>\nusing namespace metal;\n"
            "kernel void e(device bfloat* x, uint i [[thread_position_in_grid]]) { x[i] = exp(x[i]); }"
        )
