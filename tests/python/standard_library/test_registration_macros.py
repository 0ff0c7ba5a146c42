"""<metalloid/registration.h>: the macros with which PyTorch's own kernel files register an operator for many types."""

import numpy
import pytest

import metalloid

# As PyTorch's guide for kernel authors has it.
ATAN2 = """
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;

struct atan2_functor {
  template <typename T, enable_if_t<is_floating_point_v<T>, bool> = true>
  inline T operator()(const T a, const T b) { return static_cast<T>(precise::atan2(float(a), float(b))); }
  template <typename T, enable_if_t<is_integral_v<T>, bool> = true>
  inline float operator()(const T a, const T b) { return precise::atan2(float(a), float(b)); }
};
REGISTER_FLOAT_BINARY_OP(atan2);
REGISTER_INT2FLOAT_BINARY_OP(atan2);
"""
HEADER = "#include <metalloid/registration.h>\n"
INTEGERS = {
    "long": numpy.int64, "int": numpy.int32, "short": numpy.int16, "uchar": numpy.uint8, "char": numpy.int8,
    "bool": numpy.bool_,
}  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["own", "torch"])
def atan2(request):
    if request.param:
        pytest.importorskip("torch")
    return metalloid.compile_shader(HEADER + ATAN2, torch_headers=request.param)


def arrays(dtype):
    a = numpy.arange(30).reshape(5, 6) - (0 if dtype in (numpy.uint8, numpy.bool_) else 12)
    return a.astype(dtype), (a[::-1] // 2 + 1).astype(dtype)


def check(library, suffix, a, b, result_dtype, tolerance):
    def run(name, expected, *arguments, threads=30):
        out = numpy.zeros(30, result_dtype)
        getattr(library, f"atan2_{name}_{suffix}")(out, a.ravel(), b.ravel(), *arguments, threads=threads)
        numpy.testing.assert_allclose(
            out.astype(numpy.float64).reshape(5, 6), expected, rtol=tolerance, atol=tolerance, err_msg=name
        )

    x, y = a.astype(numpy.float64), b.astype(numpy.float64)
    one, size = a.itemsize, numpy.dtype(result_dtype).itemsize
    run("dense", numpy.arctan2(x, y))
    run("dense_scalar", numpy.arctan2(x, y[0, 0]))
    run("dense_scalar_lhs", numpy.arctan2(x[0, 0], y))
    run("dense_broadcast", numpy.arctan2(x, y[:1]), numpy.array([6], numpy.int64))
    # b as a matrix of 6 by 5 that is read transposed.
    run(
        "strided", numpy.arctan2(x, y.reshape(6, 5).T), numpy.array([6, 5], numpy.int64),
        numpy.array([size, 6 * size], numpy.int64), numpy.array([one, 6 * one], numpy.int64),
        numpy.array([5 * one, one], numpy.int64), numpy.array([2, 0, 0, 0], numpy.uint32),
    )  # fmt: skip


@pytest.mark.parametrize("name, dtype, tolerance", [("float", numpy.float32, 1e-6), ("half", numpy.float16, 1e-3)])
def test_floats(atan2, name, dtype, tolerance):
    check(atan2, f"{name}_{name}", *arrays(dtype), dtype, tolerance)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_become_float(atan2, name):
    check(atan2, f"float_{name}", *arrays(INTEGERS[name]), numpy.float32, 1e-6)


def test_bfloat(atan2):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = arrays(ml_dtypes.bfloat16)
    out = numpy.zeros(30, numpy.uint16)
    atan2.atan2_dense_bfloat_bfloat(out, a.ravel().view(numpy.uint16), b.ravel().view(numpy.uint16), threads=30)
    expected = numpy.arctan2(a.astype(float), b.astype(float)).ravel()
    numpy.testing.assert_allclose(out.view(ml_dtypes.bfloat16).astype(float), expected, rtol=1e-2, atol=1e-2)


def test_integers_opmath_and_unary():
    library = metalloid.compile_shader(HEADER + """
    struct both_functor { template <typename T> inline T operator()(const T a, const T b) { return a & b; } };
    REGISTER_INTEGER_BINARY_OP(both);
    struct product_functor { template <typename T> inline T operator()(const T a, const T b) { return a * b * b; } };
    REGISTER_OPMATH_FLOAT_BINARY_OP(product);
    struct negative_functor { template <typename T> inline T operator()(const T x) { return -x; } };
    REGISTER_FLOAT_UNARY_OP(negative);
    struct same_functor { template <typename T> inline T operator()(const T x) { return x; } };
    REGISTER_INTEGER_UNARY_OP(same);
    struct half_of_functor { template <typename T> inline float operator()(const T x) { return float(x) / 2; } };
    REGISTER_INT2FLOAT_UNARY_OP(half_of);
    """)
    for name, dtype in INTEGERS.items():
        a, b = (array.ravel() for array in arrays(dtype))
        out = numpy.zeros(30, dtype)
        getattr(library, f"both_dense_{name}_{name}")(out, a, b, threads=30)
        numpy.testing.assert_array_equal(out, a & b)
        count = numpy.array([30], numpy.uint32)
        out = numpy.zeros(30, dtype)
        getattr(library, f"same_dense_{name}_{name}")(out, a, count, threads=30)
        numpy.testing.assert_array_equal(out, a)
        out = numpy.zeros(30, numpy.float32)
        getattr(library, f"half_of_dense_float_{name}")(out, a, count, threads=30)
        numpy.testing.assert_array_equal(out, a.astype(numpy.float32) / 2)
    out = numpy.zeros(1, numpy.float16)
    # 300 * 300 is no half; 300 * 300 / 300 is.
    library.product_dense_half_half(out, numpy.array([0.01], numpy.float16), numpy.array([300], numpy.float16), threads=1)
    numpy.testing.assert_allclose(out, 900, rtol=1e-2)
    assert {"negative_dense_half_half", "negative_dense_bfloat_bfloat"} <= set(dir(library))


def test_a_file_that_defines_them_keeps_its_own():
    source = HEADER.join(["#define REGISTER_FLOAT_BINARY_OP(NAME) constant int NAME = 3\n", "REGISTER_FLOAT_BINARY_OP(x);\n"])
    library = metalloid.compile_shader(source + "kernel void f(device int* out) { out[0] = x; }")
    out = numpy.zeros(1, numpy.int32)
    library.f(out)
    assert out[0] == 3


@pytest.mark.parametrize("source, header", [
    (ATAN2, "metalloid/registration.h"),
    ("REGISTER_UNARY_OP(f, float, float);", "c10/metal/indexing.h"),
    ("kernel void f(device int* x) { TORCH_REPORT_ERROR(x, 1); }", "c10/metal/error.h"),
])  # fmt: skip
def test_the_message_names_the_header(source, header):
    with pytest.raises(SyntaxError) as error:
        metalloid.compile_shader(source)
    assert str(error.value).count(f"note: #include <{header}> declares it") == 1
