"""Buffers larger than the caches, which kernels may write past them."""

import numpy
import pytest

import metalloid

SOURCE = """#include <metal_stdlib>
using namespace metal;

kernel void copy(device T* out, device const T* in, constant uint& count, constant uint& first,
                 uint i [[thread_position_in_grid]]) {
  if (i < count) out[i + first] = in[i];
}

kernel void copy_and_read(device T* out, device const T* in, constant uint& count, constant uint& first,
                          uint i [[thread_position_in_grid]]) {
  if (i < count) out[i + first] = in[i];
  if (i < count && out[i + first] != in[i]) out[0] = 1;
}

kernel void copy_by_threadgroup(device T* out, device const T* in, constant uint& count, constant uint& first,
                                uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup T tile[256];
  if (i < count) tile[255 - t] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < count) out[i + first] = tile[255 - t];
}
"""


@pytest.mark.parametrize("kernel", ["copy", "copy_and_read", "copy_by_threadgroup"])
@pytest.mark.parametrize("type, dtype", [("float", numpy.float32), ("half", numpy.float16), ("float4", numpy.float32)])
@pytest.mark.parametrize("first", [0, 3])
def test_every_element_arrives(kernel, type, dtype, first):
    bytes, parts = 128 << 20, 4 if type == "float4" else 1
    elements = bytes // numpy.dtype(dtype).itemsize
    x = (numpy.arange(elements, dtype=numpy.uint32) % 2039).astype(dtype)
    y = numpy.zeros(elements, dtype)
    count = elements // parts - 10  # the last simdgroup is not whole
    library = metalloid.compile_shader(SOURCE.replace("T*", type + "*").replace("T tile", type + " tile")
                                       .replace("out[i + first] != in[i]", "any(out[i + first] != in[i])"))  # fmt: skip
    library.get_kernel(kernel)(y, x, numpy.uint32(count), numpy.uint32(first), threads=elements // parts, group_size=256)
    written = slice(first * parts, (first + count) * parts)
    assert (y[written] == x[: count * parts]).all()
    assert not y[: first * parts].any() and not y[(first + count) * parts :].any()
