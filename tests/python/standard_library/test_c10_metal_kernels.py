"""<c10/metal/...>: what takes whole kernels. The operator families of indexing.h, reductions, atomics, error reports.

As in test_c10_metal.py each source is compiled with our headers and with the installed torch's, and results compared.
"""

import json

import numpy
import pytest

import metalloid
from metalloid._shader import torch_include_directory

torch = pytest.importorskip("torch")

PRELUDE = "#include <metal_stdlib>\nusing namespace metal;\n"


def both(source):
    return metalloid.compile_shader(source), metalloid.compile_shader(source, torch_headers=True)


OPERATORS = """
#include <c10/metal/indexing.h>
using namespace metal;
using namespace c10::metal;
struct twice_functor { template <typename T> inline T operator()(const T x) { return x + x; } };
REGISTER_UNARY_OP(twice, float, float);
REGISTER_UNARY_OP(twice, half, half);
struct scaled_functor { template <typename T> inline T operator()(const T x, const T a) { return x * a; } };
REGISTER_UNARY_ALPHA_OP(scaled, float, float, float);
struct minus_functor { template <typename T> inline T operator()(const T a, const T b) { return a - b; } };
REGISTER_BINARY_OP(minus, float, float);
REGISTER_OPMATH_BINARY_OP(minus, half, half);
DEFINE_BINARY_COMPARISON_FUNCTOR(below, <);
REGISTER_BINARY_OP(below, int, bool);
REGISTER_BINARY_CASTOUT_OP(below, int, bool);
struct axpy_functor {
  template <typename T> inline T operator()(const T a, const T b, const T alpha) { return a + c10::metal::mul(alpha, b); }
};
REGISTER_BINARY_ALPHA_OP(axpy, float, float, float);
struct within_functor {
  template <typename T> inline T operator()(const T x, const T low, const T high) { return ::metal::clamp(x, low, high); }
};
REGISTER_TERNARY_OP(within, float, float);
struct mix_functor {
  template <typename T> inline T operator()(const T a, const T b, const T c, const T d) { return a + b * c * d; }
};
REGISTER_TERNARY_ALPHA_OP(mix, float, float, float);
"""

FLOAT, HALF, INT, BOOL = 6, 5, 3, 11


def buffer_of(*values, dtype):
    return numpy.array(values, dtype)


@pytest.fixture(scope="module")
def libraries():
    return both(OPERATORS)


def run_both(libraries, name, output, *arguments, threads):
    """The kernel's output with our headers, after checking that torch's give the same."""
    results = []
    for library in libraries:
        result = output.copy()
        getattr(library, name)(result, *arguments, threads=threads)
        results.append(result)
    numpy.testing.assert_array_equal(*results)
    return results[0]


class TestOperatorFamilies:
    x = numpy.linspace(-4, 4, 30, dtype=numpy.float32)
    y = numpy.linspace(1, -3, 30, dtype=numpy.float32)
    z = numpy.linspace(0, 2, 30, dtype=numpy.float32)
    empty = numpy.zeros(30, numpy.float32)
    # A 5 by 6 matrix in memory that is read transposed: dimension 0 has 5 elements, 24 bytes apart.
    sizes = buffer_of(5, 6, dtype=numpy.int64)
    transposed = buffer_of(24, 4, dtype=numpy.int64)
    dense = buffer_of(4, 20, dtype=numpy.int64)

    def test_same_kernels(self, libraries, metalloid_cli, source_file):
        """All that the macros make, and what each takes; that is known without their machine code."""
        ours, theirs = libraries
        assert set(dir(ours)) == set(dir(theirs))
        file, taken = source_file(OPERATORS), []
        for folders in ([], ["-I", torch_include_directory()]):
            result = metalloid_cli("inspect", "--json", file, *folders, timeout=1200)
            assert result.returncode == 0, result.stderr
            taken.append({
                kernel["name"]: {(a["index"], a["access"]) for a in kernel["arguments"] if a["kind"] == "buffer"}
                for kernel in json.loads(result.stdout)["kernels"]
            })  # fmt: skip
        assert set(taken[0]) == set(dir(ours)) and all(taken[0].values())
        assert taken[0] == taken[1]

    def test_unary(self, libraries):
        count = buffer_of(30, dtype=numpy.uint32)
        expected = 2 * self.x
        for name, arguments, threads in [
            ("twice_dense_float_float", (count,), 8),
            ("twice_dense_scalar_float_float", (), 30),
            ("scaled_dense_float_float_float", (2.0,), 30),
            ("scaled_dense_ilp_float_float_float", (2.0, count), 8),
        ]:
            result = run_both(libraries, name, self.empty, self.x, *arguments, threads=threads)
            numpy.testing.assert_array_equal(result, expected)

    def test_unary_strided(self, libraries):
        expected = 2 * self.x.reshape(5, 6).T.ravel()
        strided = (self.x, self.sizes, self.transposed, self.dense)
        ndim = buffer_of(2, dtype=numpy.uint32)
        result = run_both(libraries, "twice_strided_float_float", self.empty, *strided, ndim, threads=(5, 6))
        numpy.testing.assert_array_equal(result, expected)
        name = "scaled_strided_float_float_float"
        result = run_both(libraries, name, self.empty, *strided, ndim, 2.0, threads=(5, 6))
        numpy.testing.assert_array_equal(result, expected)

    def test_unary_inner_contiguous(self, libraries):
        """Five rows of six, read from rows of seven."""
        rows = numpy.arange(35, dtype=numpy.float32)
        arguments = (buffer_of(5, dtype=numpy.int64), buffer_of(28, dtype=numpy.int64), buffer_of(24, dtype=numpy.int64))
        shape = buffer_of(1, 6, dtype=numpy.uint32)
        expected = 2 * rows.reshape(5, 7)[:, :6].ravel()
        name = "twice_inner_contiguous_float_float"
        result = run_both(libraries, name, self.empty, rows, *arguments, shape, threads=(2, 5))
        numpy.testing.assert_array_equal(result, expected)
        name = "twice_inner_contiguous_castout_float"
        shape = buffer_of(1, 6, 2, HALF, dtype=numpy.uint32)
        arguments = (*arguments[:2], buffer_of(12, dtype=numpy.int64))
        result = run_both(libraries, name, self.empty.astype(numpy.float16), rows, *arguments, shape, threads=(2, 5))
        numpy.testing.assert_array_equal(result, expected.astype(numpy.float16))

    @pytest.mark.parametrize(
        ("number", "dtype"), [(HALF, "float16"), (INT, "int32"), (0, "uint8"), (4, "int64"), (BOOL, "bool"), (9, "complex64")]
    )
    def test_unary_castout(self, libraries, number, dtype):
        x = numpy.abs(self.x)
        expected = (2 * x).astype(dtype)
        size = expected.itemsize
        output = numpy.zeros(30, dtype)
        asked = buffer_of(size, number, dtype=numpy.uint32)
        result = run_both(libraries, "twice_dense_castout_float", output.view(numpy.uint8), x, asked, threads=30)
        numpy.testing.assert_array_equal(result.view(dtype), expected)
        asked = buffer_of(size, number, 30, 0, dtype=numpy.uint32)
        result = run_both(libraries, "twice_dense_castout_ilp_float", output.view(numpy.uint8), x, asked, threads=8)
        numpy.testing.assert_array_equal(result.view(dtype), expected)
        strides = buffer_of(size, 5 * size, dtype=numpy.int64)
        asked = buffer_of(2, number, dtype=numpy.uint32)
        arguments = (x, self.sizes, self.transposed, strides, asked)
        name = "twice_strided_castout_float"
        result = run_both(libraries, name, output.view(numpy.uint8), *arguments, threads=(5, 6))
        numpy.testing.assert_array_equal(result.view(dtype), expected.reshape(5, 6).T.ravel())

    def test_binary(self, libraries):
        x, y = self.x, self.y
        three = buffer_of(3, dtype=numpy.int64)
        count = buffer_of(30, dtype=numpy.uint32)
        repeated = numpy.resize(y[:3], 30)
        for name, arguments, expected in [
            ("minus_dense_float_float", (x, y), x - y),
            ("minus_dense_broadcast_float_float", (x, y, three), x - repeated),
            ("minus_dense_broadcast_rhs_float_float", (y, x, three), repeated - x),
            ("minus_dense_scalar_float_float", (x, y), x - y[0]),
            ("minus_dense_scalar_lhs_float_float", (x, y), x[0] - y),
        ]:
            numpy.testing.assert_array_equal(run_both(libraries, name, self.empty, *arguments, threads=30), expected)
        result = run_both(libraries, "minus_dense_ilp4_float_float", self.empty, x, y, count, threads=8)
        numpy.testing.assert_array_equal(result, x - y)

    def test_binary_with_alpha(self, libraries):
        x, y = self.x, self.y
        three = buffer_of(3, dtype=numpy.int64)
        repeated = numpy.resize(y[:3], 30)
        for name, arguments, expected in [
            ("axpy_dense_float_float_float", (x, y, 2.0), x + 2 * y),
            ("axpy_dense_broadcast_float_float_float", (x, y, three, 2.0), x + 2 * repeated),
            ("axpy_dense_broadcast_rhs_float_float_float", (y, x, three, 2.0), repeated + 2 * x),
            ("axpy_dense_scalar_float_float_float", (x, y, 2.0), x + 2 * y[0]),
            ("axpy_dense_scalar_lhs_float_float_float", (x, y, 2.0), x[0] + 2 * y),
        ]:
            result = run_both(libraries, name, self.empty, *arguments, threads=30)
            numpy.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)

    def test_binary_of_other_types(self, libraries):
        x, y = self.x, numpy.arange(30, dtype=numpy.int32)
        types = buffer_of(4, 4, FLOAT, INT, dtype=numpy.uint32)
        result = run_both(libraries, "minus_dense_cast_float_float", self.empty, x, y.view(numpy.uint8), types, threads=30)
        numpy.testing.assert_array_equal(result, x - y.astype(numpy.float32))
        name = "axpy_dense_cast_float_float_float"
        result = run_both(libraries, name, self.empty, x, y.view(numpy.uint8), 2.0, types, threads=30)
        numpy.testing.assert_allclose(result, x + 2 * y, rtol=1e-6, atol=1e-6)
        # 70000 is no half: it becomes infinite before the operator sees it.
        large = buffer_of(70000, 1, dtype=numpy.int32)
        one = buffer_of(1, 1, dtype=numpy.float16)
        types = buffer_of(4, 2, INT, HALF, dtype=numpy.uint32)
        output = numpy.zeros(2, numpy.float16)
        result = run_both(libraries, "minus_dense_cast_half_half", output, large, one, types, threads=2)
        numpy.testing.assert_array_equal(result, [numpy.inf, 0])

    def test_binary_strided(self, libraries):
        x, y = self.x, self.y
        layout = (self.sizes, self.dense, self.transposed, self.dense)
        expected = x.reshape(5, 6).T.ravel() - y
        ndim = buffer_of(2, 0, 0, 0, dtype=numpy.uint32)
        result = run_both(libraries, "minus_strided_float_float", self.empty, x, y, *layout, ndim, threads=30)
        numpy.testing.assert_array_equal(result, expected)
        types = buffer_of(2, FLOAT, FLOAT, FLOAT, dtype=numpy.uint32)
        result = run_both(libraries, "minus_strided_cast_float_float", self.empty, x, y, *layout, types, threads=30)
        numpy.testing.assert_array_equal(result, expected)
        name = "axpy_strided_float_float_float"
        result = run_both(libraries, name, self.empty, x, y, -1.0, *layout, ndim, threads=30)
        numpy.testing.assert_array_equal(result, expected)

    def test_comparison_castout(self, libraries):
        x, y = numpy.arange(30, dtype=numpy.int32), numpy.full(30, 12, numpy.int32)
        layout = (buffer_of(30, dtype=numpy.int64), *(buffer_of(4, dtype=numpy.int64) for _ in range(3)))
        types = buffer_of(1, INT, INT, FLOAT, dtype=numpy.uint32)
        name = "below_strided_castout_bool_int"
        result = run_both(libraries, name, self.empty, x, y, *layout, types, threads=30)
        numpy.testing.assert_array_equal(result, x < y)

    def test_binary_inner_contiguous(self, libraries):
        rows = numpy.arange(35, dtype=numpy.float32)
        strides = [buffer_of(bytes_, dtype=numpy.int64) for bytes_ in (24, 28, 24)]
        arguments = (rows, self.y, buffer_of(5, dtype=numpy.int64), *strides, buffer_of(1, 6, dtype=numpy.uint32))
        result = run_both(libraries, "minus_inner_contiguous_float_float", self.empty, *arguments, threads=(2, 5))
        numpy.testing.assert_array_equal(result, rows.reshape(5, 7)[:, :6].ravel() - self.y)

    def test_ternary(self, libraries):
        x, y, z = self.x, self.y - 3, self.z
        expected = numpy.clip(x, y, z)
        result = run_both(libraries, "within_dense_float_float", self.empty, x, y, z, threads=30)
        numpy.testing.assert_array_equal(result, expected)
        sizes = buffer_of(4, 4, 4, 4, dtype=numpy.uint32)
        types = buffer_of(FLOAT, FLOAT, FLOAT, FLOAT, dtype=numpy.uint32)
        result = run_both(libraries, "within_dense_cast_float", self.empty, x, y, z, sizes, types, threads=30)
        numpy.testing.assert_array_equal(result, expected)
        result = run_both(libraries, "mix_dense_float_float_float", self.empty, x, y, z, 0.5, threads=30)
        numpy.testing.assert_allclose(result, x + y * z * 0.5, rtol=1e-5, atol=1e-6)

    def test_ternary_strided(self, libraries):
        """Three dimensions: 2 by 3 by 5."""
        x, y, z = self.x, self.y - 3, self.z
        sizes = buffer_of(2, 3, 5, dtype=numpy.int64)
        plain = buffer_of(4, 8, 24, dtype=numpy.int64)
        turned = buffer_of(60, 20, 4, dtype=numpy.int64)
        layout = (sizes, plain, turned, plain, plain)
        expected = numpy.clip(x.reshape(2, 3, 5).transpose(2, 1, 0).ravel(), y, z)
        ndim = buffer_of(3, dtype=numpy.uint32)
        types = buffer_of(FLOAT, FLOAT, FLOAT, FLOAT, dtype=numpy.uint32)
        result = run_both(libraries, "within_strided_float_float", self.empty, x, y, z, *layout, ndim, threads=(2, 3, 5))
        numpy.testing.assert_array_equal(result, expected)
        name = "within_strided_cast_float"
        result = run_both(libraries, name, self.empty, x, y, z, *layout, ndim, types, threads=(2, 3, 5))
        numpy.testing.assert_array_equal(result, expected)


TYPES = {"float": "float32", "half": "float16", "int": "int32", "long": "int64", "short": "int16", "uchar": "uint8"}


def values_of(kind, count, seed=0):
    generator = numpy.random.default_rng(seed)
    dtype = numpy.dtype(TYPES[kind])
    if dtype.kind == "f":
        return generator.uniform(-4, 4, count).astype(dtype)
    low, high = (0, 8) if dtype.kind == "u" else (-2**40, 2**40) if kind == "long" else (-9, 9)
    return generator.integers(low, high, count).astype(dtype)


class TestSimdgroupReductions:
    @pytest.mark.parametrize("kind", TYPES)
    @pytest.mark.parametrize("lanes", [32, 28, 1])
    def test_partial_simdgroups(self, kind, lanes):
        """28 threads are one simdgroup of which four lanes are missing."""
        source = (
            f"#include <c10/metal/reduction_utils.h>\n{PRELUDE}"
            f"kernel void f(device {kind}* y, device uint* at, constant {kind}* x, uint i [[thread_position_in_grid]]) {{"
            "y[0] = c10::metal::simd_sum(x[i]); y[1] = c10::metal::simd_max(x[i]); y[2] = c10::metal::simd_min(x[i]);"
            "auto high = c10::metal::simd_argmax(x[i]); auto low = c10::metal::simd_argmin(x[i]);"
            "y[3] = high.first; y[4] = low.first; at[0] = high.second; at[1] = low.second;"
            "auto named = c10::metal::simd_argmax(x[i], i + 100); at[2] = named.second;"
            "y[5] = c10::metal::simd_broadcast(x[i], 0); }"
        )
        x = values_of(kind, lanes)
        results = []
        for library in both(source):
            y, at = numpy.zeros(6, x.dtype), numpy.zeros(3, numpy.uint32)
            library.f(y, at, x, threads=lanes)
            results.append((y, at))
        (y, at), (their_y, their_at) = results
        tolerance = 1e-2 if kind == "half" else 1e-5
        numpy.testing.assert_allclose(y[0], x.sum(dtype=numpy.float64 if x.dtype.kind == "f" else x.dtype), rtol=tolerance)
        numpy.testing.assert_array_equal(y[1:], [x.max(), x.min(), x.max(), x.min(), x[0]])
        numpy.testing.assert_array_equal(at, [x.argmax(), x.argmin(), 100 + x.argmax()])
        if lanes == 32 or kind != "long":  # torch's 64-bit reductions read the missing lanes
            numpy.testing.assert_allclose(y, their_y, rtol=tolerance)
            numpy.testing.assert_array_equal(at, their_at)

    def test_product(self):
        for kind in ("float", "int", "long"):
            source = (
                f"#include <c10/metal/reduction_utils.h>\n{PRELUDE}kernel void f(device {kind}* y, constant {kind}* x,"
                "uint i [[thread_position_in_grid]]) { y[0] = c10::metal::simd_prod(x[i]); }"
            )
            x = (1 + numpy.arange(32) % 3).astype(TYPES[kind])
            for library in both(source):
                y = numpy.zeros(1, x.dtype)
                library.f(y, x, threads=32)
                assert y[0] == pytest.approx(x.prod(dtype=x.dtype), rel=1e-5)

    def test_nan_wins(self):
        source = (
            f"#include <c10/metal/reduction_utils.h>\n{PRELUDE}"
            "kernel void f(device float* y, constant float* x, uint i [[thread_position_in_grid]]) {"
            "auto high = c10::metal::simd_argmax(x[i]); y[0] = high.first; y[1] = high.second;"
            "y[2] = c10::metal::simd_min(x[i]); }"
        )
        x = numpy.arange(28, dtype=numpy.float32)
        x[25] = numpy.nan
        for library in both(source):
            y = numpy.zeros(3, numpy.float32)
            library.f(y, x, threads=28)
            numpy.testing.assert_array_equal(y, [numpy.nan, 25, numpy.nan])


class TestThreadgroupReductions:
    @pytest.mark.parametrize("size", [7, 32, 33, 100, 512, 1024])
    def test_floats(self, size):
        source = (
            f"#include <c10/metal/reduction_utils.h>\n{PRELUDE}"
            "kernel void f(device float* y, constant float* x, uint i [[thread_index_in_threadgroup]],"
            "uint n [[threads_per_threadgroup]]) { threadgroup float t[32]; threadgroup float u[32]; threadgroup int k[32];"
            "threadgroup float3 w[1024]; float v = x[i];"
            "float sum = c10::metal::threadgroup_sum(t, v, i, n); threadgroup_barrier(mem_flags::mem_threadgroup);"
            "float high = c10::metal::threadgroup_max(t, v, i, n); threadgroup_barrier(mem_flags::mem_threadgroup);"
            "float low = c10::metal::threadgroup_min(t, v, i, n); threadgroup_barrier(mem_flags::mem_threadgroup);"
            "float product = c10::metal::threadgroup_prod(t, v > 3.9f ? 2.0f : 1.0f, i, n);"
            "threadgroup_barrier(mem_flags::mem_threadgroup);"
            "int where = c10::metal::threadgroup_argmax(t, k, v, int(i), i, n);"
            "threadgroup_barrier(mem_flags::mem_threadgroup);"
            "int bottom = c10::metal::threadgroup_argmin(t, k, v, int(i), i, n);"
            "threadgroup_barrier(mem_flags::mem_threadgroup);"
            "auto two = c10::metal::threadgroup_sum2(t, u, v, v * v, i, n);"
            "w[i] = float3(v, 0, 1); float3 moments = c10::metal::threadgroup_welford_combine(w, i, n);"
            "if (i == n - 1) { y[0] = sum; y[1] = high; y[2] = low; y[3] = product; y[4] = where; y[5] = bottom;"
            "y[6] = two[0]; y[7] = two[1]; y[8] = moments.x; y[9] = moments.y; y[10] = moments.z; } }"
        )
        x = values_of("float", size, seed=size)
        exact = x.astype(numpy.float64)
        expected = [
            exact.sum(), x.max(), x.min(), 2.0 ** (x > 3.9).sum(), x.argmax(), x.argmin(),
            exact.sum(), (exact**2).sum(), exact.mean(), exact.var() * size, size,
        ]  # fmt: skip
        for library in both(source):
            y = numpy.zeros(11, numpy.float32)
            library.f(y, x, threads=size, group_size=size)
            numpy.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


class TestAtomics:
    @pytest.mark.parametrize("kind", ["float", "int", "half", "short", "char", "uchar", "long", "bool"])
    def test_many_threads_on_few_elements(self, kind):
        source = (
            f"#include <c10/metal/atomic.h>\n{PRELUDE}"
            f"kernel void f(device c10::metal::AtomicType_t<{kind}>* y, constant {kind}* x,"
            "uint i [[thread_position_in_grid]])"
            f"{{ c10::metal::AtomicType<{kind}>::atomic_add(y, i % 5, x[i]); }}"
        )
        dtype = {**TYPES, "char": "int8", "bool": "bool"}[kind]
        x = numpy.resize([1, 2, 0, 1], 200).astype(dtype)
        if kind == "long":
            x *= 2**31 + 1
        expected = numpy.zeros(8, dtype)
        for element in range(5):
            expected[element] = x[element::5].any() if kind == "bool" else x[element::5].sum(dtype=dtype)
        for library in both(source):
            y = numpy.zeros(8, dtype)
            library.f(y.view(numpy.uint8), x, threads=200)
            numpy.testing.assert_array_equal(y, expected)

    def test_pairs(self):
        source = (
            f"#include <c10/metal/atomic.h>\n{PRELUDE}"
            "kernel void f(device c10::metal::AtomicType_t<half2>* y, device c10::metal::AtomicType_t<float2>* z,"
            "uint i [[thread_position_in_grid]]) {"
            "c10::metal::AtomicType<half2>::atomic_add(y, i % 2, half2(1, 2));"
            "c10::metal::AtomicType<float2>::atomic_add(z, i % 2, float2(1, 2)); }"
        )
        for library in both(source):
            y, z = numpy.zeros(4, numpy.float16), numpy.zeros(4, numpy.float32)
            library.f(y.view(numpy.uint8), z, threads=64)
            numpy.testing.assert_array_equal(y, [32, 64, 32, 64])
            numpy.testing.assert_array_equal(z, [32, 64, 32, 64])

    @pytest.mark.parametrize("kind", ["float", "int", "half", "short", "uchar"])
    def test_any_operation(self, kind):
        source = (
            f"#include <c10/metal/atomic.h>\n{PRELUDE}static {kind} larger({kind} a, {kind} b) {{ return a > b ? a : b; }}\n"
            f"kernel void f(device c10::metal::AtomicType_t<{kind}>* y, constant {kind}* x,"
            "uint i [[thread_position_in_grid]])"
            f"{{ c10::metal::AtomicType<{kind}>::atomic_binary_op(y, i % 2, x[i], larger); }}"
        )
        x = numpy.abs(values_of(kind, 100))
        for library in both(source):
            y = numpy.zeros(4, x.dtype)
            library.f(y.view(numpy.uint8), x, threads=100)
            numpy.testing.assert_array_equal(y, [x[::2].max(), x[1::2].max(), 0, 0])
