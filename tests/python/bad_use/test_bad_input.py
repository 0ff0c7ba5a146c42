"""What must be refused: arrays that no kernel can take, in every way of calling one."""

import os

import numpy
import pytest

import metalloid
from metalloid import fast

torch = pytest.importorskip("torch")

SHADER = metalloid.compile_shader(
    "kernel void copy(device float* y, device const float* x, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }"
)
KERNEL = fast.metal_kernel(
    name="copy", input_names=["x"], output_names=["y"], source="y[thread_position_in_grid.x] = x[0];"
)


def by_compile_shader(x):
    y = numpy.zeros(8, numpy.float32)
    SHADER.copy(y, x, threads=1)
    return y


def by_metal_kernel(x):
    (y,) = KERNEL(
        inputs=[x], output_shapes=[(1,)], output_dtypes=[numpy.float32], grid=(1, 1, 1), threadgroup=(1, 1, 1)
    )
    return y


WAYS = pytest.mark.parametrize("way", [by_compile_shader, by_metal_kernel], ids=lambda way: way.__name__)


class Elsewhere:
    """Says that its memory is another device's."""

    def __init__(self, device, number=0):
        self.device, self.number = device, number

    def __dlpack_device__(self):
        return self.device, self.number

    def __dlpack__(self, **keywords):
        return numpy.zeros(8, numpy.float32).__dlpack__()


class Refusing(Elsewhere):
    def __dlpack__(self, **keywords):
        raise BufferError("this array is busy")


@WAYS
@pytest.mark.parametrize(
    "array",
    [
        numpy.ones(8, ">f4"),
        numpy.ones((), ">f4"),
        numpy.ones(8, [("a", ">f4")]),
    ],
    ids=["array", "scalar", "structure"],
)
def test_foreign_byte_order(way, array):
    with pytest.raises((ValueError, TypeError), match="byte order|format"):
        way(array)


@WAYS
@pytest.mark.parametrize("dtype", [object, "U4", "S4", numpy.longdouble, "M8[s]"])
def test_element_types_that_no_kernel_has(way, dtype):
    with pytest.raises((RuntimeError, TypeError, ValueError), match="argument type|format|include dtype|not supported"):
        way(numpy.zeros(8, dtype))


@WAYS
@pytest.mark.parametrize("device, name", [(8, "Metal"), (10, "ROCm"), (99, "DLPack device 99")])
def test_memory_of_another_device(way, device, name):
    with pytest.raises(ValueError, match=f"memory of another device \\({name}\\)"):
        way(Elsewhere(device))


def test_memory_of_a_gpu_that_is_not_there():
    with pytest.raises(metalloid.Error, match="kernels cannot run on cuda:77: NVIDIA's driver"):
        by_compile_shader(Elsewhere(2, 77))


@WAYS
def test_an_owner_that_refuses_is_heard(way):
    with pytest.raises((BufferError, TypeError), match="busy|Not an array"):
        way(Refusing(1))


def meta():
    return torch.zeros(8, device="meta")


def sparse():
    return torch.eye(4).to_sparse()


def quantized():
    return torch.quantize_per_tensor(torch.zeros(4), 0.1, 0, torch.quint8)


def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.zeros(8)


def nested():
    return torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])


@pytest.mark.filterwarnings("ignore")
@WAYS
@pytest.mark.parametrize("make", [meta, sparse, quantized, fake, nested])
def test_tensors_without_plain_memory(way, make):
    with pytest.raises((RuntimeError, TypeError, ValueError, BufferError)) as caught:
        way(make())
    assert str(caught.value) and "incompatible function arguments" not in str(caught.value)


def test_conjugate_and_negative_views():
    """compile_shader binds memory, which holds other values; metal_kernel takes values."""
    negative = torch.tensor([1 + 2j]).conj().imag
    assert by_metal_kernel(negative)[0] == -2
    for tensor in (negative, torch.tensor([1 + 2j]).conj()):
        with pytest.raises(RuntimeError, match="not its conjugate or negative"):
            by_compile_shader(tensor)


@WAYS
@pytest.mark.parametrize(
    "array",
    [None, "text", {}, object(), lambda: 0],
    ids=["none", "text", "dictionary", "object", "function"],
)
def test_no_arrays(way, array):
    with pytest.raises((RuntimeError, TypeError, ValueError)) as caught:
        way(array)
    assert str(caught.value)


@WAYS
def test_released_memory(way):
    view = memoryview(bytearray(32)).cast("f")
    view.release()
    with pytest.raises(ValueError, match="released"):
        way(view)


@WAYS
def test_read_only_arrays_are_inputs(way):
    x = numpy.full(8, 3, numpy.float32)
    x.flags.writeable = False
    assert way(x)[0] == 3


def test_outputs_that_cannot_be_written_whole():
    x = numpy.zeros(8, numpy.float32)
    for y in [b"\0" * 32, memoryview(b"\0" * 32).cast("f"), numpy.frombuffer(b"\0" * 32, numpy.float32)]:
        with pytest.raises(ValueError, match="argument 'y' at buffer\\(0\\).*read-only"):
            SHADER.copy(y, x, threads=8)
    shared = numpy.zeros(64, numpy.float32)
    for y in [shared[::2], shared[::-1], shared.reshape(8, 8)[:, 0], numpy.broadcast_to(shared[:1], (8,))]:
        with pytest.raises(ValueError, match="C-contiguous|read-only"):
            SHADER.copy(y, x, threads=8)
    with pytest.raises(ValueError, match="argument 'y'.*elements overlap in memory"):
        SHADER.copy(torch.zeros(1).expand(8), x)
    SHADER.copy(torch.ones(8), torch.ones(1).expand(8), threads=1)  # an input may


def test_arguments_that_share_memory_are_the_kernels_business():
    x = numpy.arange(8, dtype=numpy.float32)
    SHADER.copy(x, x)
    SHADER.copy(x[:4], x[4:])
    numpy.testing.assert_array_equal(x, [4, 5, 6, 7, 4, 5, 6, 7])


def test_empty_arrays():
    none = numpy.zeros(0, numpy.float32)
    SHADER.copy(none, none)  # a grid without threads
    for array in (none, torch.zeros(0)):
        with pytest.raises(metalloid.Error, match="argument 'y' at index 0 needs 4 bytes.*its buffer has 0"):
            SHADER.copy(array, array, threads=1)
    tensor = torch.zeros(8)
    tensor.untyped_storage().resize_(0)
    with pytest.raises(metalloid.Error, match="its buffer has 0"):
        SHADER.copy(tensor, tensor)


def test_complex_arrays():
    lib = metalloid.compile_shader("kernel void f(device float2* y) { y[0] = float2(1, 2); }")
    y = numpy.zeros(2, numpy.complex64)
    lib.f(y, threads=1)
    assert y[0] == 1 + 2j
    with pytest.raises(TypeError, match="its elements are f32, the array's are float64"):
        lib.f(numpy.zeros(2, numpy.complex128), threads=1)


@pytest.mark.parametrize("extent", [1.5, "4", b"4", [1.5], (None,), float("nan"), {"x": 1}.items()])
@pytest.mark.parametrize("name", ["threads", "group_size"])
def test_extents_that_are_no_integers(name, extent):
    y = numpy.zeros(8, numpy.float32)
    if extent == b"4":
        extent = [b"4"]
    with pytest.raises(TypeError, match="threads and group_size are ints"):
        SHADER.copy(y, y, **({"threads": 4} | {name: extent}))


def test_extents_of_other_integer_types():
    x, y = numpy.ones(8, numpy.float32), numpy.zeros(8, numpy.float32)
    SHADER.copy(y, x, threads=numpy.int64(2), group_size=torch.tensor(1))
    SHADER.copy(y[4:], x, threads=numpy.array([3]), group_size=[True])
    numpy.testing.assert_array_equal(y, [1, 1, 0, 0, 1, 1, 1, 0])


@pytest.mark.parametrize("extent", [-1, 1 << 32, 1 << 70, (1, -1)])
@pytest.mark.parametrize("name", ["threads", "group_size"])
def test_extents_out_of_range(name, extent):
    y = numpy.zeros(8, numpy.float32)
    with pytest.raises(ValueError, match="between 0 and 2\\^32 - 1"):
        SHADER.copy(y, y, **({"threads": 4} | {name: extent}))


def test_grids_beyond_all_counting():
    y = numpy.zeros(8, numpy.float32)
    with pytest.raises(metalloid.Error, match="too large") as caught:
        SHADER.copy(y, y, threads=((1 << 32) - 1,) * 3)
    assert caught.value.code == "limit_exceeded"


@pytest.mark.parametrize("index", [-1, 31, "a", 1.0])
def test_error_buffer_indices(index):
    y = numpy.zeros(8, numpy.float32)
    with pytest.raises(ValueError, match="error_buf_idx must be a buffer index, 0 to 30"):
        SHADER.copy(y, y, error_buf_idx=index)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf")])
def test_timeouts(timeout):
    y = numpy.zeros(8, numpy.float32)
    with pytest.raises(ValueError, match="timeout must be seconds, 0 or more"):
        SHADER.copy(y, y, timeout=timeout)


def test_kernels_named_as_methods_and_attributes_are():
    names = ["dtype", "get_kernel", "_device", "_policy", "__len__", "arguments"]
    lib = metalloid.compile_shader("\n".join(f"kernel void {name}(device float* y) {{ y[0] = 2; }}" for name in names))
    assert dir(lib) == sorted(names)
    for name in names:
        y = numpy.zeros(1, numpy.float32)
        lib.get_kernel(name)(y)
        assert y[0] == 2
    lib.dtype(y)


def test_sources_of_odd_characters():
    with pytest.raises(TypeError, match="source must be str, not bytes"):
        metalloid.compile_shader(b"kernel void f() {}")
    with pytest.raises(UnicodeEncodeError):
        metalloid.compile_shader("kernel void f() {} // \ud800")
    assert dir(metalloid.compile_shader("\ufeff// \u00fc\r\nkernel void f() {}\r\n")) == ["f"]
    assert dir(metalloid.compile_shader("")) == []
    with pytest.raises(SyntaxError, match=r"program_source:2:\d+: error:.*nowhere"):
        metalloid.compile_shader("// a\0b\r\nkernel void f() { nowhere; }\r\n")


def test_includes_that_are_missing_or_never_end():
    with pytest.raises(SyntaxError, match="program_source:2:10: fatal error: 'nowhere.h' file not found"):
        metalloid.compile_shader('\n#include "nowhere.h"\n')
    headers = {"a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'}
    with pytest.raises(SyntaxError, match="#include nested too deeply"):
        metalloid.compile_shader('#include "a.h"\n', headers=headers)
    with pytest.raises(TypeError, match="headers must map str to str"):
        metalloid.compile_shader("", headers={"a.h": 5})


def test_long_sources():
    lines = [f"kernel void k{i}(device float* y) {{ y[0] = {i}; }}" for i in range(2000)]
    y = numpy.zeros(1, numpy.float32)
    metalloid.compile_shader("\n".join(lines)).k1999(y)
    assert y[0] == 1999
    with pytest.raises(SyntaxError, match="program_source:10001:1: error"):
        metalloid.compile_shader("\n" * 10000 + "boom;")
    with pytest.raises(SyntaxError, match="bracket nesting level exceeded maximum"):
        metalloid.compile_shader("kernel void f(device int* y) { y[0] = " + "(" * 5000 + "1" + ")" * 5000 + "; }")


def test_too_many_inline_bytes():
    y = numpy.zeros(8, numpy.float32)
    with pytest.raises(metalloid.Error, match="20000 inline bytes for argument 'x'.*4096") as caught:
        SHADER.copy(y, [1.0] * 5000)
    assert caught.value.code == "limit_exceeded"


def test_a_kernel_of_a_forked_process():
    y = numpy.zeros(8, numpy.float32)
    SHADER.copy(y, y)
    child = os.fork()
    if child == 0:
        x = numpy.ones(100000, numpy.float32)
        SHADER.copy(z := numpy.zeros_like(x), x, group_size=32)
        os._exit(0 if (z == 1).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("what", ["name", "source", "header"])
@pytest.mark.parametrize("text", [5, b"y[0] = 1;", ["y[0] = 1;"]])
def test_metal_kernel_takes_text(what, text):
    declaration = {"name": "k", "input_names": [], "output_names": ["y"], "source": "y[0] = 1;"}
    with pytest.raises(TypeError, match=f"{what} must be str, not {type(text).__name__}"):
        fast.metal_kernel(**(declaration | {what: text}))
    with pytest.raises(UnicodeEncodeError):
        fast.metal_kernel(**(declaration | {what: "\ud800"}))


def test_integers_beyond_int64():
    with pytest.raises(ValueError, match="does not fit int64"):
        by_metal_kernel(1 << 70)
    with pytest.raises(RuntimeError, match="between -2\\^63 and 2\\^63 - 1"):
        metalloid.compile_shader("kernel void f(constant int& i) {}").f(1 << 70, threads=1)
