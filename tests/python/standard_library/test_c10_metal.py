"""<c10/metal/...>: Metalloid's headers need no torch, and every function that torch's own have gives the same numbers.

Each kernel is compiled twice, with our headers and with the installed torch's, and the results are compared. Special
functions are also compared with mpmath where torch's approximations leave the range that they were made for.
"""

import numpy
import pytest

import metalloid

torch = pytest.importorskip("torch")
mpmath = pytest.importorskip("mpmath")

HEADERS = ["atomic", "common", "error", "expm1f", "float8", "igamma", "indexing", "random", "reduction_utils",
           "special_math", "utils"]  # fmt: skip
PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"


def both(source):
    return metalloid.compile_shader(source), metalloid.compile_shader(source, torch_headers=True)


def elementwise(expression, result="float", headers=("utils", "special_math"), **inputs):
    """Runs `result y = expression` over the inputs (name to array), with both sets of headers."""
    types = {"float32": "float", "float16": "half", "int64": "long", "int32": "int", "int16": "short", "int8": "char",
             "uint8": "uchar", "uint32": "uint", "bool": "bool"}  # fmt: skip
    dtypes = {kind: name for name, kind in types.items()} | {"float2": "float32", "half2": "float16"}
    parameters = [f"device {result}* result [[buffer(0)]]"]
    values = []
    for index, (name, array) in enumerate(inputs.items()):
        kind = types[array.dtype.name] + ("2" if array.ndim == 2 else "")
        parameters.append(f"constant {kind}* {name}_in [[buffer({index + 1})]]")
        values.append(f"{kind} {name} = {name}_in[i];")
    includes = "".join(f"#include <c10/metal/{header}.h>\n" for header in headers)
    source = (
        f"{includes}{PRELUDE}kernel void f({', '.join(parameters)}, uint i [[thread_position_in_grid]])"
        f"{{ {' '.join(values)} result[i] = {result}({expression}); }}"
    )
    count = len(next(iter(inputs.values())))
    shape = (count, 2) if result.endswith("2") else (count,)
    results = []
    for library in both(source):
        y = numpy.zeros(shape, dtypes[result])
        library.f(y, *inputs.values(), threads=count)
        results.append(y)
    return results


@pytest.mark.parametrize("header", HEADERS)
def test_header_stands_alone(header):
    for library in both(f"#include <c10/metal/{header}.h>\n"):
        assert dir(library) == []


def test_one_library_with_all_headers():
    source = "".join(f"#include <c10/metal/{header}.h>\n" for header in HEADERS)
    for library in both(source + "kernel void f(device float* x) { x[0] = c10::metal::erf(1.0); }"):
        x = numpy.zeros(1, numpy.float32)
        library.f(x)
        assert x[0] == pytest.approx(0.8427008, rel=1e-6)


def test_torch_headers_are_torchs():
    source = "#include <c10/metal/common.h>\n#ifdef METALLOID_C10_METAL_COMMON_H\nkernel void ours() {}\n#endif\n"
    ours, theirs = both(source)
    assert dir(ours) == ["ours"]
    assert dir(theirs) == []


def points(low, high, count=500, seed=1):
    generator = numpy.random.default_rng(seed)
    return generator.uniform(low, high, count).astype(numpy.float32)


# Function, range on which torch's approximation holds, relative tolerance, what mpmath calls it.
SPECIAL = [
    ("erf", -5, 5, 1e-6, mpmath.erf),
    ("erfc", -5, 9, 2e-6, mpmath.erfc),
    ("erfcx", -9, 40, 6e-6, lambda x: mpmath.exp(x * x) * mpmath.erfc(x)),
    ("erfinv", -0.9999, 0.9999, 3e-6, mpmath.erfinv),
    ("i0", -30, 30, 3e-6, lambda x: mpmath.besseli(0, x)),
    ("i0e", -30, 30, 3e-6, lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x)),
    ("i1", -30, 30, 3e-6, lambda x: mpmath.besseli(1, x)),
    ("i1e", -30, 30, 3e-6, lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x)),
    ("log_gamma", 0.01, 60, 2e-5, mpmath.loggamma),
    ("gamma", 0.1, 30, 2e-5, mpmath.gamma),
    ("digamma", 0.01, 60, 2e-5, mpmath.digamma),
    ("trigamma", 0.01, 60, 1e-5, lambda x: mpmath.psi(1, x)),
    ("sinc", -8, 8, 5e-6, mpmath.sincpi),
    ("spherical_bessel_j0", -20, 20, 1e-5, mpmath.sinc),
    ("entr", 0.001, 20, 1e-6, lambda x: -x * mpmath.log(x)),
    ("bessel_j0_forward", -30, 30, 1e-5, lambda x: mpmath.besselj(0, x)),
    ("bessel_j1_forward", -30, 30, 1e-5, lambda x: mpmath.besselj(1, x)),
    ("bessel_y0_forward", 0.01, 30, 1e-5, lambda x: mpmath.bessely(0, x)),
    ("bessel_y1_forward", 0.01, 30, 1e-5, lambda x: mpmath.bessely(1, x)),
    ("modified_bessel_i0_forward", -30, 30, 3e-6, lambda x: mpmath.besseli(0, x)),
    ("modified_bessel_i1_forward", -30, 30, 3e-6, lambda x: mpmath.besseli(1, x)),
    ("modified_bessel_k0_forward", 0.01, 30, 3e-6, lambda x: mpmath.besselk(0, x)),
    ("modified_bessel_k1_forward", 0.01, 30, 3e-6, lambda x: mpmath.besselk(1, x)),
    ("scaled_modified_bessel_k0_forward", 0.01, 60, 3e-6, lambda x: mpmath.exp(x) * mpmath.besselk(0, x)),
    ("scaled_modified_bessel_k1_forward", 0.01, 60, 3e-6, lambda x: mpmath.exp(x) * mpmath.besselk(1, x)),
    ("log1p", -0.99, 20, 2e-6, mpmath.log1p),
    ("expm1f", -10, 3, 2e-5, mpmath.expm1),
]


@pytest.mark.parametrize(("name", "low", "high", "tolerance", "truth"), SPECIAL, ids=[row[0] for row in SPECIAL])
def test_special_function(name, low, high, tolerance, truth):
    x = points(low, high)
    ours, theirs = elementwise(f"c10::metal::{name}(x)", headers=("expm1f", "utils", "special_math"), x=x)
    # Near a zero of an oscillating function only the absolute error is small.
    numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance / 10)
    exact = numpy.array([float(truth(mpmath.mpf(float(value)))) for value in x[:150]])
    numpy.testing.assert_allclose(ours[:150], exact, rtol=5e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "log_gamma", "digamma", "i0e", "entr", "expm1f", "log1p"])
def test_special_function_at_the_edges(name):
    x = numpy.array([0, -0.0, 1, -1, numpy.nan], numpy.float32)
    ours, theirs = elementwise(f"c10::metal::{name}(x)", headers=("expm1f", "utils", "special_math"), x=x)
    numpy.testing.assert_allclose(ours, theirs, rtol=5e-6, atol=1e-7)
    numpy.testing.assert_array_equal(numpy.signbit(ours[:1]), numpy.signbit(theirs[:1]))


@pytest.mark.parametrize("kind", ["half", "bfloat"])
@pytest.mark.parametrize("name", ["erf", "i0", "sinc", "digamma", "bessel_j0_forward", "spherical_bessel_j0"])
def test_special_function_of_narrow_types(name, kind):
    x = points(0.1, 0.9)  # no zero in there
    ours, theirs = elementwise(f"c10::metal::{name}({kind}(x))", x=x)
    numpy.testing.assert_allclose(ours, theirs, rtol=1e-2 if kind == "bfloat" else 2e-3)


def test_zeta():
    x, q = points(1.1, 12), points(0.05, 30, seed=2)
    ours, theirs = elementwise("c10::metal::zeta(x, q)", x=x, q=q)
    numpy.testing.assert_allclose(ours, theirs, rtol=2e-5)
    exact = [float(mpmath.zeta(float(a), float(b))) for a, b in zip(x[:80], q[:80], strict=True)]
    numpy.testing.assert_allclose(ours[:80], exact, rtol=2e-5)
    x, q = numpy.array([1, 0.5, 2, 2, 2.5], numpy.float32), numpy.array([2, 2, 0, -3, -0.5], numpy.float32)
    ours, theirs = elementwise("c10::metal::zeta(x, q)", x=x, q=q)
    numpy.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_polygamma(order):
    x = points(0.2, 20)
    ours, theirs = elementwise(f"c10::metal::polygamma(int64_t({order}), x)", x=x)
    if order > 0:  # order 0 is digamma's, which torch calls itself
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-4)


POLYNOMIALS = [
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
]  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomial(name):
    x = numpy.concatenate([points(-1.5, 1.5, 60), [-1, 0, 0.5, 1]]).astype(numpy.float32)
    degrees = numpy.arange(-1, 14)
    x, n = (array.ravel() for array in numpy.meshgrid(x, degrees))
    ours, theirs = elementwise(f"c10::metal::{name}_forward(x, n)", x=x.astype(numpy.float32), n=n.astype(numpy.int64))
    numpy.testing.assert_allclose(ours, theirs, rtol=3e-4, atol=3e-4)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "logaddexp", "logaddexp2"])
def test_function_of_two(name):
    specials = numpy.array([0, 1, 2, numpy.inf, -numpy.inf, numpy.nan], numpy.float32)
    pairs = numpy.array(numpy.meshgrid(specials, specials)).reshape(2, -1)
    x = numpy.concatenate([points(-5, 5), pairs[0]]).astype(numpy.float32)
    y = numpy.concatenate([points(0, 5, seed=3), pairs[1]]).astype(numpy.float32)
    ours, theirs = elementwise(f"c10::metal::{name}(x, y)", x=x, y=y)
    numpy.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma(name):
    a = numpy.concatenate([points(0.05, 30, 250), points(200, 600, 60), [0, 0, 1, 2, -1, numpy.inf]])
    x = numpy.concatenate([points(0.05, 45, 250, seed=4), points(200, 600, 60, seed=5), [0, 1, 0, numpy.inf, 1, 1]])
    a, x = a.astype(numpy.float32), x.astype(numpy.float32)
    ours, theirs = elementwise(f"c10::metal::{name}(a, x)", headers=("special_math", "igamma"), a=a, x=x)
    numpy.testing.assert_allclose(ours, theirs, rtol=3e-4, atol=2e-6)
    bounds = (0, x[:250]) if name == "igamma" else (x[:250], mpmath.inf)
    for i in range(0, 250, 5):
        low, high = (float(bounds[0]), float(bounds[1][i])) if name == "igamma" else (float(bounds[0][i]), mpmath.inf)
        exact = float(mpmath.gammainc(float(a[i]), low, high, regularized=True))
        assert ours[i] == pytest.approx(exact, rel=2e-5, abs=1e-6)


class TestUtilities:
    def test_division(self):
        generator = numpy.random.default_rng(7)
        a, b = (generator.integers(-50, 50, 400).astype(numpy.int32) for _ in range(2))
        b[b == 0] = 3
        for name in ("floor_divide", "remainder", "fmod", "safe_mod", "max", "min", "div", "mul", "pow"):
            ours, theirs = elementwise(f"c10::metal::{name}(a, b)", result="int", a=a, b=b)
            numpy.testing.assert_array_equal(ours, theirs, err_msg=name)

    def test_floating_division(self):
        a, b = points(-50, 50), points(-9, 9, seed=8)
        for name in ("floor_divide", "remainder", "fmod", "div_floor", "max", "min", "div", "mul", "less"):
            ours, theirs = elementwise(f"c10::metal::{name}(a, b)", a=a, b=b)
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6, err_msg=name)

    def test_hypot(self):
        """Torch's own is right for a and b from 0 on; ours takes any sign."""
        a, b = points(0, 50), points(0, 50, seed=8)
        ours, theirs = elementwise("c10::metal::hypot(a, b)", a=a, b=b)
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-6)
        ours, _ = elementwise("c10::metal::hypot(a, b)", a=-a, b=b)
        numpy.testing.assert_allclose(ours, numpy.hypot(a, b), rtol=1e-6)
        huge = numpy.array([3e38, 1e-42, numpy.inf, numpy.nan], numpy.float32)
        ours, _ = elementwise("c10::metal::hypot(a, b)", a=huge, b=huge[[1, 1, 3, 0]])
        numpy.testing.assert_allclose(ours, numpy.hypot(huge, huge[[1, 1, 3, 0]]), rtol=1e-3)

    def test_special_operands(self):
        values = numpy.array([0, -0.0, 1, -1, numpy.inf, -numpy.inf, numpy.nan, 3e38, 1e-30], numpy.float32)
        a, b = (array.ravel() for array in numpy.meshgrid(values, values))
        for name in ("max", "min", "less", "fmod", "pow", "div"):
            ours, theirs = elementwise(f"c10::metal::{name}(a, b)", a=a, b=b)
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-6, err_msg=name)

    def test_complex(self):
        generator = numpy.random.default_rng(9)
        a, b = (generator.uniform(-3, 3, (200, 2)).astype(numpy.float32) for _ in range(2))
        for expression in ("mul(a, b)", "div(a, b)", "pow(a, b)", "conj(a)", "log1p(a)", "sinc(a)", "logaddexp(a, b)",
                           "fma(a, b, a)"):  # fmt: skip
            inputs = {"a": a, "b": b} if "b" in expression.split("(")[1] else {"a": a}
            ours, theirs = elementwise(f"c10::metal::{expression}", result="float2", **inputs)
            numpy.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5, err_msg=expression)

    def test_cast_to(self):
        x = numpy.array([0, 1, -1, 2.5, -300.7, 70000], numpy.float32)
        for kind in ("bool", "int", "long", "float", "half"):
            ours, theirs = elementwise(f"c10::metal::cast_to<{kind}>(x)", result=kind, x=x)
            numpy.testing.assert_array_equal(ours, theirs)
        z = numpy.array([[0, 0], [0, 2], [3, 1]], numpy.float32)
        for kind in ("bool", "float"):
            ours, theirs = elementwise(f"c10::metal::cast_to<{kind}>(z)", result=kind, z=z)
            numpy.testing.assert_array_equal(ours, theirs)
        ours, theirs = elementwise("c10::metal::cast_to<float2>(x)", result="float2", x=x)
        numpy.testing.assert_array_equal(ours, theirs)

    def test_types(self):
        """What the traits say, as numbers, for every element type."""
        types = ["float", "half", "bfloat", "long", "int", "short", "char", "uchar", "bool", "float2", "half2"]
        lines = [
            f"*y++ = sizeof(c10::metal::opmath_t<{t}>); *y++ = is_same_v<c10::metal::opmath_t<{t}>, {t}>;"
            f"*y++ = is_same_v<c10::metal::accum_t<{t}>, {t}>; *y++ = c10::metal::is_complex_v<{t}>;"
            f"*y++ = c10::metal::is_scalar_floating_point_v<{t}>; *y++ = c10::metal::is_scalar_integral_v<{t}>;"
            for t in types
        ]
        lines.append("*y++ = sizeof(c10::metal::vec4type_t<half>); *y++ = sizeof(c10::metal::vec2type_t<float>);")
        lines.append("*y++ = sizeof(c10::metal::pair<float, ushort>); *y++ = sizeof(c10::metal::vec3<float>);")
        lines.append("*y++ = c10::metal::ceil_div(10, 4); *y++ = c10::metal::round_up(10u, 4u);")
        lines.append("*y++ = c10::metal::max_ndim; *y++ = c10::metal::simdgroup_size; *y++ = c10::metal::ILP_PER_THREAD;")
        enumerators = ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "ComplexHalf", "ComplexFloat", "Bool",
                       "BFloat16", "UInt16", "UInt32", "UInt64"]  # fmt: skip
        lines += [f"*y++ = int(c10::metal::ScalarType::{name});" for name in enumerators]
        source = f"#include <c10/metal/utils.h>\n{PRELUDE}kernel void f(device int* y) {{ {' '.join(lines)} }}"
        results = []
        for library in both(source):
            y = numpy.zeros(200, numpy.int32)
            library.f(y, threads=1)
            results.append(y)
        numpy.testing.assert_array_equal(*results)


class TestRandom:
    seeds = numpy.array([0, 1, 42, 2**40 + 7, -5], numpy.int64).repeat(40)
    indices = numpy.tile(numpy.arange(40, dtype=numpy.int64) * 2**33 + 3, 5)

    @pytest.mark.parametrize("component", "xyzw")
    def test_philox_words(self, component):
        expression = f"c10::metal::philox4::rand(seed, at).{component}"
        ours, theirs = elementwise(expression, "uint", ("random",), seed=self.seeds, at=self.indices)
        numpy.testing.assert_array_equal(ours, theirs)
        assert len(set(ours)) > 190

    def test_distributions(self):
        for name in ("rand", "randn"):
            ours, theirs = elementwise(f"c10::metal::{name}(seed, at)", "float", ("random",), seed=self.seeds, at=self.indices)
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
        expression = "c10::metal::randint64(seed, at, -10, 90)"
        ours, theirs = elementwise(expression, "long", ("random",), seed=self.seeds, at=self.indices)
        numpy.testing.assert_array_equal(ours, theirs)
        assert ours.min() >= -10 and ours.max() < 90

    def test_box_muller_and_sampler(self):
        expression = "c10::metal::box_muller_from_philox(c10::metal::philox4::rand(seed, at).xy)"
        ours, theirs = elementwise(expression, "float2", ("random",), seed=self.seeds, at=self.indices)
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
        expression = "c10::metal::RandSampler(seed, at)()"
        ours, theirs = elementwise(expression, "float", ("random",), seed=self.seeds, at=self.indices)
        numpy.testing.assert_array_equal(ours, theirs)


def test_float8():
    codes = numpy.arange(256, dtype=numpy.uint8)
    ours, theirs = elementwise("c10::metal::detail::fp8e4m3fn_to_fp32(x)", headers=("float8",), x=codes)
    exact = torch.from_numpy(codes.copy()).view(torch.float8_e4m3fn).float().numpy()
    numpy.testing.assert_array_equal(ours, theirs)
    numpy.testing.assert_array_equal(ours, exact)
    ties = (exact[:126] + exact[1:127]) / 2  # halfway between neighbours
    x = numpy.concatenate([exact, ties, -ties, points(-500, 500), points(-0.02, 0.02), [464, 465, 1e9, 449, 1e-9]])
    x = x.astype(numpy.float32)
    ours, theirs = elementwise("c10::metal::float8_e4m3fn(x).x", "uchar", ("float8",), x=x)
    numpy.testing.assert_array_equal(ours, theirs)
    finite = numpy.abs(x) <= 448
    expected = torch.from_numpy(x[finite]).to(torch.float8_e4m3fn).view(torch.uint8).numpy()
    numpy.testing.assert_array_equal(ours[finite], expected)  # beyond 448 Metal's saturates and the CPU's is NaN
