"""An array of one floating-point format is not one of another; all else that scripts do with memory is allowed."""

import numpy
import pytest

import metalloid

SOURCE = """
#include <metal_stdlib>
#include <c10/metal/common.h>
using namespace metal;
kernel void floats(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void halves(device half* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void bfloats(device bfloat* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void float4s(device float4* x) { x[0].y = 1; }
kernel void half2s(device half2* x) { x[0].y = 1; }
kernel void packed(device packed_half4* x) { x[0] = packed_half4(1); }
kernel void uints(device uint* x) { x[0] = 1; }
kernel void bytes(device uchar* x) { x[0] = 1; }
kernel void raw(device void* x) { ((device int*)x)[0] = 1; }
struct Parameters { float scale; uint n; };
kernel void structs(constant Parameters& p, device float* x) { x[0] = p.scale; }
kernel void scalar(constant float& value, device float* x) { x[0] = value; }
kernel void longs(constant long& value, device long* x) { x[0] = value; }
"""


@pytest.fixture(scope="module")
def lib():
    return metalloid.compile_shader(SOURCE)


def torch_or_skip():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("kernel, dtype", [
    ("floats", "float16"), ("floats", "bfloat16"), ("halves", "float32"), ("halves", "bfloat16"),
    ("bfloats", "float16"), ("bfloats", "float32"), ("float4s", "float16"), ("half2s", "bfloat16"),
    ("packed", "float32"), ("floats", "complex32"), ("halves", "complex64"), ("floats", "float8_e4m3fn"),
])  # fmt: skip
def test_another_format_is_refused(lib, kernel, dtype):
    torch = torch_or_skip()
    tensor = torch.zeros(64, dtype=getattr(torch, dtype))
    with pytest.raises(TypeError, match=rf"argument 'x' at buffer\(0\).*{dtype}.*\.view\(torch\."):
        getattr(lib, kernel)(tensor, threads=1)


@pytest.mark.parametrize("kernel, dtype", [
    ("float4s", "float32"), ("half2s", "float16"), ("packed", "float16"), ("floats", "complex64"), ("halves", "complex32"),
    ("uints", "int32"), ("uints", "uint8"), ("uints", "float32"), ("bytes", "float16"), ("bytes", "float8_e5m2"),
    ("floats", "uint8"), ("halves", "int32"), ("half2s", "uint8"), ("bfloats", "int16"), ("raw", "float16"),
    ("raw", "int64"),
])  # fmt: skip
def test_the_same_memory_is_allowed(lib, kernel, dtype):
    torch = torch_or_skip()
    getattr(lib, kernel)(torch.zeros(64, dtype=getattr(torch, dtype)), threads=1)


def test_view_says_that_it_is_meant(lib):
    torch = torch_or_skip()
    tensor = torch.zeros(64, dtype=torch.float16)
    lib.floats(tensor.view(torch.float32))
    assert tensor[1] == 1.875  # the upper half of 1.0f


def test_structs_take_any_tensor(lib):
    torch = torch_or_skip()
    out = torch.zeros(1)
    lib.structs(torch.tensor([2.0, 0.0]), out, threads=1)
    assert out[0] == 2
    lib.structs(torch.tensor([0, 0x4200, 0, 0], dtype=torch.int16).view(torch.float16), out, threads=1)
    assert out[0] == 32


def test_metal_devices_rules_too():
    """The policy of ``python -m metalloid.mps`` checks no numbers, but formats."""
    torch = torch_or_skip()

    class LikeTorch(metalloid.ArgumentPolicy):
        pass

    lib = metalloid.compile_shader(SOURCE, policy=LikeTorch(accepts_arrays=False, checks_types=False))
    with pytest.raises(TypeError, match="float16"):
        lib.floats(torch.zeros(4, dtype=torch.float16))
    lib.uints(torch.zeros(4))


@pytest.mark.parametrize("kernel, dtype", [("floats", "float16"), ("halves", "float32"), ("floats", "int64")])
def test_numpy_arrays(lib, kernel, dtype):
    with pytest.raises(TypeError, match=r"\.view\(\)"):
        getattr(lib, kernel)(numpy.zeros(8, dtype))


def test_arguments_whose_gate_is_closed_take_anything():
    torch = torch_or_skip()
    source = """constant bool on [[function_constant(0)]];
    kernel void f(device float* out, device half* x [[buffer(1), function_constant(on)]]) { out[0] = on ? x[0] : 3; }"""
    out = torch.zeros(1)
    metalloid.compile_shader(source, function_constants={"on": False}).f(out, torch.zeros(1), threads=1)
    assert out[0] == 3
    with pytest.raises(TypeError, match="float32"):
        metalloid.compile_shader(source, function_constants={"on": True}).f(out, torch.zeros(1), threads=1)


@pytest.mark.parametrize("value", [
    numpy.float32(3), numpy.float64(3), numpy.float16(3), numpy.array(3, numpy.float32), numpy.array(3.0),
])  # fmt: skip
def test_scalars_of_numpy_for_a_float(lib, value):
    out = numpy.zeros(1, numpy.float32)
    lib.scalar(value, out, threads=1)
    assert out[0] == 3


@pytest.mark.parametrize("value", [
    numpy.int64(3), numpy.int32(3), numpy.uint8(3), numpy.uint64(3), numpy.array(3), numpy.bool_(True),
])  # fmt: skip
def test_scalars_of_numpy_for_an_integer(lib, value):
    out = numpy.zeros(1, numpy.int64)
    lib.longs(value, out, threads=1)
    assert out[0] == int(value)


def test_scalars_of_numpy_in_lists_and_with_casts():
    lib = metalloid.compile_shader("""
    kernel void vector(constant float3& v, device float* out) { out[0] = v.x + v.y + v.z; }
    kernel void small(constant half& v, device float* out) { out[0] = v; }""")
    out = numpy.zeros(1, numpy.float32)
    lib.vector([numpy.float32(1), numpy.float16(2), 3.0], out, threads=1)
    assert out[0] == 6
    lib.small(numpy.float32(7), out, threads=1, arg_casts={0: "fp16"})
    assert out[0] == 7
    with pytest.raises(TypeError, match="half"):
        lib.small(numpy.float32(7), out, threads=1)
