"""MetalShaderLibrary, MetalKernelFunction and MPSStream as C++ operators use them."""

from __future__ import annotations

import itertools
import pathlib

import opinfo_first  # noqa: F401
import pytest
import torch

from metalloid import _cpp_files
from metalloid.mps import _plugin
from metalloid.mps._plugin.compile import Unit, build

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def operators():
    _plugin.device()
    unit = Unit(HERE / "host_library" / "operators.cpp", (_cpp_files.torch_mps_folder() / "host", _cpp_files.sdk_include_folder()))
    _plugin.load_library("libmetalloid_host_test.so", build("libmetalloid_host_test.so", [unit]))
    return torch.ops.metalloid_host_test


ELEMENTWISE = """
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;
struct twice_functor {
  template <typename T> inline T operator()(const T x) { return x + x; }
};
REGISTER_UNARY_OP(twice, float, float);
REGISTER_UNARY_OP(twice, half, half);
REGISTER_UNARY_OP(twice, int, int);
struct plus_functor {
  template <typename T, typename U> inline T operator()(const T x, const U alpha) { return x + T(alpha); }
};
REGISTER_UNARY_ALPHA_OP(plus, float, float, float);
REGISTER_UNARY_ALPHA_OP(plus, int, long, int);
struct minus_functor {
  template <typename T> inline T operator()(const T a, const T b) { return a - b; }
};
REGISTER_BINARY_OP(minus, float, float);
REGISTER_BINARY_OP(minus, half, half);
REGISTER_BINARY_OP(minus, int, int);
REGISTER_BINARY_OP(minus, long, long);
struct axpy_functor {
  template <typename T, typename U> inline T operator()(const T a, const T b, const U alpha) { return a - T(alpha) * b; }
};
REGISTER_BINARY_ALPHA_OP(axpy, float, float, float);
REGISTER_BINARY_ALPHA_OP(axpy, half, half, half);
REGISTER_BINARY_ALPHA_OP(axpy, int, int, int);
DEFINE_BINARY_COMPARISON_FUNCTOR(less, <);
REGISTER_BINARY_OP(less, float, bool);
REGISTER_BINARY_OP(less, int, bool);
REGISTER_BINARY_CASTOUT_OP(less, float, bool);
struct blend_functor {
  template <typename T> inline T operator()(const T a, const T b, const T c) { return a + b * c; }
  template <typename T> inline T operator()(const T a, const T b, const T c, const T alpha) { return a + alpha * b * c; }
};
REGISTER_TERNARY_OP(blend, float, float);
REGISTER_TERNARY_OP(blend, int, int);
struct addcmul_functor {
  template <typename T, typename U> inline T operator()(const T a, const T b, const T c, const U alpha) {
    return a + T(alpha) * b * c;
  }
};
REGISTER_TERNARY_ALPHA_OP(addcmul, float, float, float);
"""

KERNELS = """
#include <c10/metal/error.h>
#include <metal_stdlib>
using namespace metal;
kernel void scale_add(device float* out, constant float* x, constant long& n, constant float& factor,
                      constant float2& shift, device c10::metal::ErrorMessages* errors,
                      uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  const uint i = (at.z * grid.y + at.y) * grid.x + at.x;
  if (i >= n) {
    TORCH_REPORT_ERROR(errors, "index ", long(i), " is out of bounds for ", long(n), " elements");
    return;
  }
  out[i] = x[i] * factor + shift.x + shift.y;
}
kernel void crash(device float* out, constant float* x, constant long& n, constant float& factor,
                  constant float2& shift, device c10::metal::ErrorMessages* errors,
                  uint i [[thread_position_in_grid]]) {
  *reinterpret_cast<device float*>(long(factor)) = x[i];
}
"""


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """With the same strides and storage offset."""
    moved = torch.empty(tensor.untyped_storage().nbytes() // tensor.element_size(), dtype=tensor.dtype, device="mps")
    whole = torch.as_strided(tensor, (moved.numel(),), (1,), 0)
    moved.copy_(whole)
    return torch.as_strided(moved, tensor.shape, tensor.stride(), tensor.storage_offset())


def numbers(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(-50, 50, shape, generator=generator)
    return values.to(dtype)


def layouts(dtype: torch.dtype, seed: int = 0) -> dict[str, torch.Tensor]:
    return {
        "dense": numbers(6, 40, dtype=dtype, seed=seed),
        "transposed": numbers(40, 6, dtype=dtype, seed=seed).t(),
        "runs": numbers(6, 50, dtype=dtype, seed=seed)[:, 5:45],
        "steps": numbers(6, 80, dtype=dtype, seed=seed)[:, ::2],
        "expanded": numbers(6, 1, dtype=dtype, seed=seed).expand(6, 40),
        "offset": numbers(8, 40, dtype=dtype, seed=seed)[1:7],
    }


@pytest.mark.parametrize("layout", layouts(torch.int32))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
def test_unary_operators_take_every_layout(operators, layout, dtype):
    x = layouts(dtype)[layout]
    out = torch.zeros(6, 40, dtype=dtype, device="mps")
    operators.unary(ELEMENTWISE, "twice", out, on_device(x))
    assert torch.equal(out.cpu(), x + x)


@pytest.mark.parametrize("out_dtype", [torch.float16, torch.int32, torch.int64, torch.bool])
@pytest.mark.parametrize("layout", ["dense", "runs", "steps"])
@pytest.mark.parametrize("threshold", [None, 16])
def test_a_unary_operator_stores_types_that_no_kernel_is_registered_for(operators, out_dtype, layout, threshold):
    x = layouts(torch.float32)[layout]
    out = torch.zeros(6, 40, dtype=out_dtype, device="mps")
    operators.unary(ELEMENTWISE, "twice", out, on_device(x), threshold=threshold)
    assert torch.equal(out.cpu(), (x + x).to(out_dtype))


@pytest.mark.parametrize("layout", ["dense", "runs", "steps", "transposed"])
@pytest.mark.parametrize("threshold", [None, 16])
def test_a_unary_operator_takes_a_number(operators, layout, threshold):
    x = layouts(torch.float32)[layout]
    out = torch.zeros(6, 40, device="mps")
    operators.unary(ELEMENTWISE, "plus", out, on_device(x), alpha=1.5, threshold=threshold)
    assert torch.equal(out.cpu(), x + 1.5)


def test_the_number_has_the_type_that_is_asked_for(operators):
    x = numbers(64, dtype=torch.int32)
    out = torch.zeros(64, dtype=torch.int32, device="mps")
    operators.unary(ELEMENTWISE, "plus", out, on_device(x), alpha=7, type=torch.int64)
    assert torch.equal(out.cpu(), x + 7)


@pytest.mark.parametrize("elements", [5, 1 << 18, (1 << 18) + 3])
def test_many_elements_to_a_thread(operators, elements):
    x, y = numbers(elements), numbers(elements, seed=1)
    out = torch.zeros(elements, device="mps")
    operators.unary(ELEMENTWISE, "twice", out, on_device(x))
    assert torch.equal(out.cpu(), x + x)
    operators.binary(ELEMENTWISE, "minus", out, on_device(x), on_device(y))
    assert torch.equal(out.cpu(), x - y)


@pytest.mark.parametrize("first,second", list(itertools.product(layouts(torch.int32), repeat=2)))
def test_binary_operators_take_every_layout(operators, first, second):
    x, y = layouts(torch.float32)[first], layouts(torch.float32, seed=1)[second]
    out = torch.zeros(6, 40, device="mps")
    operators.binary(ELEMENTWISE, "minus", out, on_device(x), on_device(y))
    assert torch.equal(out.cpu(), x - y)


DTYPES = [torch.float32, torch.float16, torch.int32]


@pytest.mark.parametrize("x_dtype,y_dtype", list(itertools.product(DTYPES, repeat=2)))
@pytest.mark.parametrize("layout", ["dense", "steps"])
@pytest.mark.parametrize("operator", ["minus", "axpy"])
def test_binary_operators_convert_their_operands(operators, x_dtype, y_dtype, layout, operator):
    x, y = layouts(x_dtype)[layout], layouts(y_dtype, seed=1)[layout]
    common = torch.promote_types(x_dtype, y_dtype)
    out = torch.zeros(6, 40, dtype=common, device="mps")
    alpha = 2 if operator == "axpy" else None
    operators.binary(ELEMENTWISE, operator, out, on_device(x), on_device(y), alpha=alpha)
    assert torch.equal(out.cpu(), x - y * (alpha or 1))


SHAPES = [((6, 40), (40,)), ((6, 40), (1, 40)), ((6, 40), (1,)), ((6, 40), ()), ((6, 40), (6, 1)), ((3, 6, 40), (6, 40))]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float32), (torch.float32, torch.int32)])
@pytest.mark.parametrize("alpha", [None, 2])
def test_binary_operators_broadcast(operators, shapes, swapped, dtypes, alpha):
    x, y = numbers(*shapes[0], dtype=dtypes[0]), numbers(*shapes[1], dtype=dtypes[1], seed=1)
    if swapped:
        x, y = y, x
    out = torch.zeros(shapes[0], device="mps")
    operators.binary(ELEMENTWISE, "axpy" if alpha else "minus", out, on_device(x), on_device(y), alpha=alpha)
    assert torch.equal(out.cpu(), x - y * (alpha or 1))


@pytest.mark.parametrize("scalar", [torch.tensor(2.5), torch.tensor(2.5, dtype=torch.float64), torch.tensor(3)])
@pytest.mark.parametrize("layout", ["dense", "steps"])
def test_numbers_on_the_cpu_are_operands(operators, scalar, layout):
    x = layouts(torch.float32)[layout]
    for first, second in ((x, scalar), (scalar, x)):
        out = torch.zeros(6, 40, device="mps")
        moved = [one if one is scalar else on_device(one) for one in (first, second)]
        operators.binary(ELEMENTWISE, "minus", out, *moved)
        assert torch.equal(out.cpu(), (first - second).float())


@pytest.mark.parametrize("out_dtype", [torch.bool, torch.float32, torch.uint8])
@pytest.mark.parametrize("layout", ["dense", "transposed"])
def test_comparisons_store_other_types(operators, out_dtype, layout):
    x, y = layouts(torch.float32)[layout], layouts(torch.float32, seed=1)[layout]
    out = torch.zeros(6, 40, dtype=out_dtype, device="mps")
    operators.binary(ELEMENTWISE, "less", out, on_device(x), on_device(y), natural=torch.bool)
    assert torch.equal(out.cpu(), (x < y).to(out_dtype))


def test_a_result_of_another_type_goes_by_way_of_the_operators_own(operators):
    x, y = numbers(6, 40, dtype=torch.int32), numbers(6, 40, dtype=torch.int32, seed=1)
    out = torch.zeros(6, 40, dtype=torch.float16, device="mps")
    operators.binary(ELEMENTWISE, "minus", out, on_device(x), on_device(y))
    assert torch.equal(out.cpu(), (x - y).half())


@pytest.mark.parametrize("layout", layouts(torch.int32))
@pytest.mark.parametrize("dtypes", [(torch.float32,) * 3, (torch.float32, torch.int32, torch.float32)])
@pytest.mark.parametrize("alpha", [None, 3.0])
def test_ternary_operators(operators, layout, dtypes, alpha):
    x, y, z = (layouts(dtype, seed=i)[layout] for i, dtype in enumerate(dtypes))
    out = torch.zeros(6, 40, device="mps")
    name = "blend" if alpha is None else "addcmul"
    operators.ternary(ELEMENTWISE, name, out, on_device(x), on_device(y), on_device(z), alpha=alpha)
    assert torch.equal(out.cpu(), x + (alpha or 1) * y * z)


def test_ternary_operators_store_another_type(operators):
    x, y, z = (numbers(2, 3, 4, 5, dtype=torch.int32, seed=i).permute(3, 0, 2, 1) for i in range(3))
    out = torch.zeros(5, 2, 4, 3, device="mps")
    operators.ternary(ELEMENTWISE, "blend", out, on_device(x), on_device(y), on_device(z))
    assert torch.equal(out.cpu(), (x + y * z).float())


def test_empty_and_dimensionless_tensors(operators):
    for shape in ((0,), (3, 0, 2), ()):
        x = numbers(*shape)
        out = torch.zeros(shape, device="mps")
        operators.unary(ELEMENTWISE, "twice", out, on_device(x))
        assert torch.equal(out.cpu(), x + x)
        operators.binary(ELEMENTWISE, "minus", out, on_device(x), on_device(x))
        assert torch.equal(out.cpu(), x - x)
        operators.ternary(ELEMENTWISE, "blend", out, *[on_device(x)] * 3)
        assert torch.equal(out.cpu(), x + x * x)


def test_memory_is_converted_without_an_iterator(operators):
    x = numbers(100)
    out = torch.zeros(90, dtype=torch.float16, device="mps")
    operators.raw(ELEMENTWISE, "twice", out, on_device(x)[10:])
    assert torch.equal(out.cpu(), (x[10:] * 2).half())


@pytest.mark.parametrize("threads,group", [([24], []), ([24], [5]), ([6, 4], []), ([2, 3, 4], [2, 3, 1])])
def test_kernels_take_arguments_and_grids(operators, threads, group):
    x = numbers(24)
    out = torch.zeros(24, device="mps")
    operators.run(KERNELS, "scale_add", out, on_device(x), 2.0, threads, group)
    assert torch.equal(out.cpu(), x * 2 + 3)


def test_what_a_kernel_reports_is_raised_by_synchronising(operators):
    x = numbers(8)
    out = torch.zeros(8, device="mps")
    operators.run(KERNELS, "scale_add", out, on_device(x), 1.0, [9], [])
    with pytest.raises(torch.AcceleratorError, match="index 8 is out of bounds for 8 elements"):
        operators.synchronize()
    operators.synchronize()  # reported once


def test_a_kernel_that_crashes_raises(operators):
    x = numbers(8)
    out = torch.zeros(8, device="mps")
    with pytest.raises(RuntimeError, match="crash"):
        operators.run(KERNELS, "crash", out, on_device(x), 64.0, [8], [])
        torch.mps.synchronize()
    operators.run(KERNELS, "scale_add", out, on_device(x), 2.0, [8], [])
    assert torch.equal(out.cpu(), x * 2 + 3)


def test_mistakes(operators):
    x = numbers(8)
    out, moved = torch.zeros(8, device="mps"), on_device(x)
    with pytest.raises(RuntimeError, match="Failed to create function state object for: nothing$"):
        operators.run(KERNELS, "nothing", out, moved, 1.0, [8], [])
    with pytest.raises(ValueError, match="Threadgroup size exceeds 1024 limit"):
        operators.run(KERNELS, "scale_add", out, moved, 1.0, [8], [2048])
    with pytest.raises(RuntimeError, match="size and group_size must have same number of dimensions"):
        operators.run(KERNELS, "scale_add", out, moved, 1.0, [8], [4, 1])
    with pytest.raises(RuntimeError, match="Dispatch dimensions must be less than 3 and non-empty"):
        operators.run(KERNELS, "scale_add", out, moved, 1.0, [1, 1, 1, 1], [])
    with pytest.raises(RuntimeError, match="Passed CPU tensor to MPS op"):
        operators.run(KERNELS, "scale_add", out, x, 1.0, [8], [])
    with pytest.raises(SyntaxError, match="program_source:1:1: error: unknown type name 'What'"):
        operators.names("What")
    with pytest.raises(RuntimeError, match="Failed to create function state object for: twice_dense_scalar_long_long|"
                                           "Failed to create function state object for: twice_dense_castout_long"):
        operators.unary(ELEMENTWISE, "twice", torch.zeros(8, dtype=torch.int64, device="mps"),
                        torch.zeros(8, dtype=torch.int64, device="mps"))  # fmt: skip
    with pytest.raises(RuntimeError, match=r"for: minus_dense_short_short \(its library has minus_dense_\w+\)"):
        small = torch.zeros(8, dtype=torch.int16, device="mps")
        operators.binary(ELEMENTWISE, "minus", torch.zeros_like(small), small, small)
    assert torch.equal(out.cpu(), torch.zeros(8))


def test_sources_with_parameters(operators):
    source = "kernel void fill(device {0}* out, uint i [[thread_position_in_grid]]) {{ out[i] = ({0})(i + 0.5f); }}"
    for dtype, name in ((torch.float32, "float"), (torch.int32, "int")):
        out = torch.zeros(5, dtype=dtype, device="mps")
        operators.run_with_type(source, name, out)
        assert torch.equal(out.cpu(), (torch.arange(5) + 0.5).to(dtype))


def test_sources_have_the_names_of_their_kernels_and_torchs_headers(operators):
    assert set(operators.names(KERNELS)) == {"scale_add", "crash"}
    source = """
    #include <ATen/native/mps/kernels/Activation.h>
    kernel void size(device float* out) { out[0] = sizeof(ELUParams<float>); }
    """
    assert operators.names(source) == ["size"]
