"""Structs and arrays of pointers (argument buffers): a list of tensors is one."""

import struct

import numpy
import pytest

torch = pytest.importorskip("torch")

import metalloid  # noqa: E402

SOURCE = """
#include <metal_stdlib>
using namespace metal;
struct Members { device float* a [[id(0)]]; device const float* b [[id(1)]]; constant uint* n [[id(2)]]; };
struct Rows { device float* rows [[id(0)]][3]; };
struct Outer { constant Members* inner; float scale; };

kernel void members(constant Members& m, uint i [[thread_position_in_grid]]) {
  if (i < *m.n) m.a[i] += m.b[i];
}
kernel void rows(constant Rows& m, uint i [[thread_position_in_grid]]) { m.rows[0][i] = m.rows[1][i] + m.rows[2][i]; }
kernel void library_array(constant array<device float*, 3>& m, uint i [[thread_position_in_grid]]) {
  m[0][i] = m[1][i] + m[2][i];
}
kernel void pointers(device float* constant* m, uint i [[thread_position_in_grid]]) { m[0][i] = m[1][i] + m[2][i]; }
kernel void nested(constant Outer& m, uint i [[thread_position_in_grid]]) {
  if (i < *m.inner->n) m.inner->a[i] = m.scale * m.inner->b[i];
}
"""


@pytest.fixture(scope="module")
def library():
    return metalloid.compile_shader(SOURCE)


@pytest.mark.parametrize("kernel", ["rows", "library_array", "pointers"])
def test_arrays_of_pointers(library, kernel):
    out, b, c = torch.zeros(4), torch.arange(4.0), torch.ones(4)
    getattr(library, kernel)([out, b, c], threads=4)
    assert out.tolist() == [1, 2, 3, 4]


def test_members_by_id(library):
    a, b, n = torch.ones(4), torch.arange(4.0), torch.tensor([3], dtype=torch.int32)
    library.members([a, b, n], threads=4)
    assert a.tolist() == [1, 2, 3, 1]


@pytest.mark.host_memory
def test_structs_that_lead_to_structs(library):
    a, b, n = torch.zeros(3), torch.arange(3.0), torch.tensor([3], dtype=torch.int32)
    inner = numpy.array([x.data_ptr() for x in (a, b, n)], dtype=numpy.uint64)
    outer = numpy.frombuffer(bytearray(struct.pack("<Qf4x", inner.ctypes.data, 10.0)), dtype=numpy.uint8)
    library.nested(outer, threads=3)
    assert a.tolist() == [0, 10, 20]


def test_formats_of_what_addresses_lead_to(library):
    x, half, words = torch.zeros(4), torch.zeros(4, dtype=torch.float16), torch.tensor([4], dtype=torch.int32)
    for kernel in ("rows", "library_array", "pointers"):
        with pytest.raises(TypeError, match=r"argument 'm' at buffer\(0\).*tensor 1 of the list.*float16.*\.view\(torch"):
            getattr(library, kernel)([x, half, x], threads=2)
    with pytest.raises(TypeError, match="tensor 0 of the list"):
        library.members([half, x, words], threads=2)
    library.members([x.view(torch.int32), half.view(torch.uint8), words], threads=2)
