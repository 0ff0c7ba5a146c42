"""metalloid.compile_shader: the call model that users of torch.mps.compile_shader know, on NumPy arrays."""

import array
import threading
import time

import numpy
import pytest

import metalloid

HEADER = "#include <metal_stdlib>\nusing namespace metal;\n"


def test_arange_with_default_grid():
    lib = metalloid.compile_shader("kernel void fill(device half* x, uint i [[thread_position_in_grid]]) { x[i] = i; }")
    x = numpy.empty(100, numpy.float16)
    lib.fill(x)
    numpy.testing.assert_array_equal(x, numpy.arange(100))


def test_dir_lists_host_names():
    lib = metalloid.compile_shader(
        HEADER + "kernel void plain(device float* x) {}\n"
        "template <typename T> [[kernel]] void typed(device T* x) { x[0] = T(1); }\n"
        'template [[host_name("typed_half")]] [[kernel]] void typed<half>(device half*);\n'
    )
    assert set(dir(lib)) == {"plain", "typed_half"}


def test_properties():
    lib = metalloid.compile_shader(
        "kernel void f(device float* x, uint i [[thread_index_in_threadgroup]])"
        "{ threadgroup float t[64]; t[i % 64] = x[i]; x[i] = t[i % 64]; }"
    )
    assert lib.f.max_threads_per_threadgroup == 1024
    assert lib.f.thread_execution_width == 32
    assert lib.f.static_thread_group_memory_length == 256
    (argument,) = lib.f.arguments
    assert argument["name"] == "x" and argument["scalar"] == "f32" and argument["writable"]


def test_grids_of_three_dimensions():
    lib = metalloid.compile_shader(
        "kernel void f(device uint* x, uint3 p [[thread_position_in_grid]], uint3 n [[threads_per_grid]])"
        "{ x[(p.z * n.y + p.y) * n.x + p.x] = p.x + 10 * p.y + 100 * p.z; }"
    )
    x = numpy.zeros((3, 4, 5), numpy.uint32)
    lib.f(x, threads=(5, 4, 3), group_size=(4, 2, 2))
    z, y, c = numpy.indices(x.shape)
    numpy.testing.assert_array_equal(x, c + 10 * y + 100 * z)


def test_scalars_and_lists_by_value():
    lib = metalloid.compile_shader(
        HEADER + "kernel void f(device float* x, constant int& i, constant uint& u, constant bool& b, constant float& f,"
        "constant float3& v, constant long2& l, constant long* many) {"
        "x[0] = i; x[1] = u; x[2] = b; x[3] = f; x[4] = v.z; x[5] = l.y; x[6] = many[3]; }"
    )
    x = numpy.zeros(7, numpy.float32)
    lib.f(x, -3, 10, True, 0.5, [1.0, 2.0, 4.0, 0.0], [7, 9], (1, 2, 3, 4), threads=1)
    numpy.testing.assert_array_equal(x, [-3, 10, 1, 0.5, 4, 9, 4])


def test_numpy_scalars_by_value():
    lib = metalloid.compile_shader(
        "kernel void f(device float* x, constant uint& u, constant half& h, constant float& f) { x[0] = u + h + f; }"
    )
    x = numpy.zeros(1, numpy.float32)
    lib.f(x, numpy.uint32(7), numpy.float16(0.5), numpy.float64(0.25))
    assert x[0] == 7.75


def test_casts():
    lib = metalloid.compile_shader(
        HEADER + "kernel void f(device float* x, constant half2& h, constant bfloat& b, constant char& c)"
        "{ x[0] = h.x + h.y; x[1] = b; x[2] = c; }"
    )
    x = numpy.zeros(3, numpy.float32)
    lib.f(x, [3.25, 0.5], 1.5, -3, threads=1, arg_casts={1: "fp16", 2: "bf16", 3: "int8"})
    numpy.testing.assert_array_equal(x, [3.75, 1.5, -3])
    with pytest.raises(RuntimeError, match="Unsupported cast instruction fp8"):
        lib.f(x, [3.25, 0.5], 1.5, -3, threads=1, arg_casts="fp8")
    with pytest.raises(RuntimeError, match="Unexpected caster arg type int"):
        lib.f(x, [3.25, 0.5], 1.5, -3, threads=1, arg_casts=5)


def test_other_buffers_and_dlpack_are_bound_in_place():
    lib = metalloid.compile_shader("kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }")
    standard = array.array("f", [1, 2, 3])
    lib.f(standard)
    assert list(standard) == [2, 3, 4]
    view = numpy.zeros((4, 8), numpy.float32)
    lib.f(view[2])
    assert view.sum() == 8 and view[2].sum() == 8

    class OnlyDlpack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    tensor = numpy.zeros(5, numpy.float32)
    lib.f(OnlyDlpack(tensor))
    assert tensor.sum() == 5


def test_bytes_and_structs():
    lib = metalloid.compile_shader(
        "struct P { float a; uint n; }; kernel void f(device P* p, device const uchar* raw) { p[1].n = p[0].n + raw[2]; }"
    )
    params = numpy.zeros(2, dtype=[("a", "f4"), ("n", "u4")])
    params["n"] = 5
    lib.f(params, b"abc", threads=1)
    assert params["n"][1] == 5 + ord("c")


def test_bfloat16_as_uint16():
    lib = metalloid.compile_shader(HEADER + "kernel void f(device bfloat* x) { x[0] = bfloat(1.5f); }")
    x = numpy.zeros(1, numpy.uint16)
    lib.f(x)
    assert x[0] == 0x3FC0


def test_function_constants():
    lib = metalloid.compile_shader(
        HEADER + "constant bool on [[function_constant(0)]]; constant int n [[function_constant(1)]];\n"
        "kernel void f(device int* x, device int* extra [[function_constant(on)]]) { x[0] = on ? n + extra[0] : n; }"
    )
    x, extra = numpy.zeros(1, numpy.int32), numpy.full(1, 100, numpy.int32)
    lib.get_kernel("f", {"on": False, "n": 3})(x)
    assert x[0] == 3
    lib.get_kernel("f", {0: True, 1: 4})(x, extra)
    assert x[0] == 104


def test_compile_errors_are_syntax_errors_with_the_log():
    with pytest.raises(SyntaxError, match=r"program_source:1:\d+: error:") as caught:
        metalloid.compile_shader("What is this?")
    assert "^" in str(caught.value)


def test_unknown_kernel():
    lib = metalloid.compile_shader("kernel void something() {}")
    with pytest.raises(RuntimeError, match="Failed to create function state object for: somethin\n.*something"):
        _ = lib.somethin


def test_no_grid():
    lib = metalloid.compile_shader("kernel void f(constant int& i) {}")
    with pytest.raises(RuntimeError, match="Number of threads is undefined or has wrong dimension"):
        lib.f(1)


def test_threadgroup_over_the_limit():
    lib = metalloid.compile_shader("kernel void f(device float* x) {}")
    x = numpy.zeros(4, numpy.float32)
    for grid, group in [(4, 1025), ((4, 4), (33, 32))]:
        with pytest.raises(ValueError, match="Threadgroup size exceeds 1024 limit"):
            lib.f(x, threads=grid, group_size=group)
    with pytest.raises(RuntimeError, match="same number of dimensions"):
        lib.f(x, threads=(4, 4), group_size=4)


@pytest.mark.parametrize("value", [None, "text", 1j, {}, object()])
def test_unsupported_argument(value):
    lib = metalloid.compile_shader("kernel void f(device float* x) {}")
    with pytest.raises(RuntimeError, match=r"(?s)Unsupported argument type\n.*argument 'x' at buffer\(0\), float: .* not "):
        lib.f(value, threads=1)


@pytest.mark.parametrize("casts, kind, message", [
    ({"x": "fp16"}, TypeError, "arg_casts: an argument must be an int, not 'x'"),
    ({1: "fp16"}, ValueError, "arg_casts names argument 1, and there are 1"),
    ({-1: "fp16"}, ValueError, "arg_casts: an argument must lie between 0 and 30"),
])  # fmt: skip
def test_casts_of_arguments_that_are_not_there(casts, kind, message):
    lib = metalloid.compile_shader("kernel void f(constant float& x) {}")
    with pytest.raises(kind, match=message):
        lib.f(1.0, threads=1, arg_casts=casts)


def test_wrong_lists():
    lib = metalloid.compile_shader("kernel void f(constant float* x) {}")
    with pytest.raises(RuntimeError, match="Empty list/tuple can not be an argument to metal kernel"):
        lib.f([], threads=1)
    with pytest.raises(RuntimeError, match="Unexpected argument types"):
        lib.f(["a"], threads=1)


def test_missing_and_surplus_arguments():
    lib = metalloid.compile_shader("kernel void f(device float* x, device float* second) { x[0] = second[0]; }")
    x = numpy.zeros(4, numpy.float32)
    with pytest.raises(metalloid.Error, match="second") as caught:
        lib.f(x)
    assert caught.value.code == "invalid_argument"
    with pytest.raises(metalloid.Error):
        lib.f(x, x.copy(), x.copy())


def test_wrong_element_types():
    lib = metalloid.compile_shader("kernel void f(device float* x, constant uint& n, constant float& a) {}")
    x = numpy.zeros(4, numpy.float32)
    with pytest.raises(TypeError, match="float64"):
        lib.f(numpy.zeros(4), 1, 1.0)
    with pytest.raises(TypeError, match="argument 'x' at buffer\\(0\\).*f32.*int32"):
        lib.f(numpy.zeros(4, numpy.int32), 1, 1.0)
    with pytest.raises(TypeError, match="argument 'n'"):
        lib.f(x, 1.5, 1.0)
    with pytest.raises(TypeError, match="argument 'a'"):
        lib.f(x, 1, 2)


def test_read_only_and_strided_arrays():
    lib = metalloid.compile_shader(
        "kernel void f(device float* y, device const float* x, uint i [[thread_position_in_grid]]) { y[i] = x[i]; }"
    )
    x, y = numpy.arange(4, dtype=numpy.float32), numpy.zeros(4, numpy.float32)
    x.flags.writeable = False
    lib.f(y, x)  # only read there
    numpy.testing.assert_array_equal(y, x)
    with pytest.raises(ValueError, match="argument 'y'.*read-only"):
        lib.f(x, y)
    with pytest.raises(ValueError, match="C-contiguous"):
        lib.f(numpy.zeros((4, 4), numpy.float32)[:, 1], x)


def test_empty_grid_runs_nothing():
    lib = metalloid.compile_shader("kernel void f(device float* x) { x[0] = 1; }")
    x = numpy.zeros(4, numpy.float32)
    lib.f(x, threads=0)
    lib.f(numpy.zeros(0, numpy.float32))
    assert x[0] == 0
    with pytest.raises(metalloid.Error):
        lib.f(x, threads=4, group_size=0)


def test_crash_and_timeout_name_the_kernel_and_the_process_lives_on():
    lib = metalloid.compile_shader(
        "kernel void wild(device uint* x) { x[1ul << 40] = 1; }\n"
        "kernel void spin(device volatile uint* x) { while (x[0] == 0) x[1] += 1; }\n"
        "kernel void fine(device uint* x) { x[0] = 7; }\n"
    )
    x = numpy.zeros(2, numpy.uint32)
    with pytest.raises(metalloid.Error, match="wild") as crashed:
        lib.wild(x, threads=1)
    assert crashed.value.code == "out_of_bounds"
    with pytest.raises(metalloid.Error, match="spin") as stopped:
        lib.spin(x, threads=1, timeout=0.3)
    assert stopped.value.code == "kernel_timed_out"
    lib.fine(x, threads=1)
    assert x[0] == 7


@pytest.mark.host_memory
def test_other_python_threads_run_during_a_kernel():
    lib = metalloid.compile_shader("kernel void spin(device volatile uint* x) { while (x[0] == 0) x[1] += 1; }")
    x = numpy.zeros(2, numpy.uint32)

    def stop():
        while x[1] == 0:
            time.sleep(0.001)
        x[0] = 1

    thread = threading.Thread(target=stop)
    thread.start()
    lib.spin(x, threads=1)
    thread.join()
    assert x[0] == 1


def test_dynamic_threadgroup_memory():
    lib = metalloid.compile_shader(
        HEADER + "kernel void reverse(device int* x, threadgroup int* t [[threadgroup(0)]],"
        "uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]])"
        "{ t[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = t[n - 1 - i]; }"
    )
    x = numpy.arange(50, dtype=numpy.int32)
    lib.reverse(x, threadgroup_memory={0: 200})
    numpy.testing.assert_array_equal(x, numpy.arange(50)[::-1])
    with pytest.raises(metalloid.Error):
        lib.reverse(x)
    with pytest.raises(metalloid.Error, match="32"):
        lib.reverse(x, threadgroup_memory={0: 40000})


def test_options():
    source = "kernel void f(device int* x) { x[0] = VALUE + __METAL_VERSION__; }"
    x = numpy.zeros(1, numpy.int32)
    metalloid.compile_shader(source, language="metal3.0", definitions={"VALUE": 5}).f(x)
    assert x[0] == 305
    headers = {"own.h": "constant int own = 3;"}
    metalloid.compile_shader('#include "own.h"\nkernel void f(device int* x) { x[0] = own; }', headers=headers).f(x)
    assert x[0] == 3
    with pytest.raises(ValueError, match="language"):
        metalloid.compile_shader(source, language="metal7.0")
    with pytest.raises(ValueError, match="math_mode"):
        metalloid.compile_shader(source, math_mode="wild")


def test_devices():
    names = [name for name, _ in metalloid.devices()]
    assert "cpu" in names and "reference" in names
    for name in names:
        x = numpy.zeros(1, numpy.float32)
        metalloid.compile_shader("kernel void f(device float* x) { x[0] = 2; }", device=name).f(x)
        assert x[0] == 2
