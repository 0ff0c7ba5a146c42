"""Kernels on arrays of a GPU, as far as a machine without one can see it: tests/cuda/stand_in.cpp stands in for NVIDIA's
driver, launches nothing, and writes down what it was given. Programs run in processes of their own, in which the driver is
opened."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from conftest import build

stand_in = str(build / "lib" / "libmetalloid_cuda_stand_in.so")

prelude = """
import ctypes, os, struct
import numpy, metalloid

driver = ctypes.CDLL(os.environ["METALLOID_CUDA_DRIVER"])
contexts = {}

def use_gpu(number):
    context = ctypes.c_void_p()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number) == 0
    contexts[context.value] = number
    assert driver.cuCtxSetCurrent(context) == 0

def gpu_in_use():
    context = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(context))
    return contexts.get(context.value)

def stream():
    handle = ctypes.c_void_p()
    assert driver.cuStreamCreate(ctypes.byref(handle), 1) == 0
    return handle.value

class Interface:
    "An array as CuPy's, by CUDA's array interface."
    def __init__(self, shape, typestr="<f4", number=0, stream=1, strides=None, read_only=False):
        address = ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 12)) == 0
        self.address, self.number = address.value, number
        self.interface = dict(shape=shape, typestr=typestr, data=(address.value, read_only), version=3, stream=stream, strides=strides)
    def __dlpack_device__(self):
        return 2, self.number
    @property
    def __cuda_array_interface__(self):
        return self.interface

class Launch:
    def __init__(self, line):
        stream, device, grid, block, text = line.split()
        self.stream, self.device = int(stream), int(device)
        self.grid, self.block = (tuple(map(int, each.split(","))) for each in (grid, block))
        self.parameters = bytes.fromhex(text)
        self.report, self.is_reported = struct.unpack_from("<QQ", self.parameters, 56)
    def argument(self, i):
        "Address, bytes behind it, bytes in front of it."
        return struct.unpack_from("<QQQ", self.parameters, 72 + 56 * i)

def launches():
    with open(os.environ["STAND_IN_LOG"]) as file:
        return [Launch(line) for line in file]

def raised(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""

class Tensors:
    "Tensors of PyTorch that say they are on a GPU."
    def __init__(self):
        import torch
        self.current = {0: 0, 1: 0}
        torch._C._cuda_getCurrentRawStream = lambda number: self.current[number]
        class Tensor(torch.Tensor):
            __torch_function__ = torch._C._disabled_torch_function_impl
            number = 0
            is_cuda = property(lambda self: True)
            device = property(lambda self: torch.device("cuda", self.number))
            def get_device(self):
                return self.number
        class TensorOfOther(Tensor):
            number = 1
        self.types = Tensor, TensorOfOther
    def exchange(self):
        "They say so by DLPack's exchange API in C, too."
        import torch
        class Api(ctypes.Structure):
            _fields_ = [("version", ctypes.c_uint64), *((f"p{i}", ctypes.c_void_p) for i in range(4)),
                        ("tensor", ctypes.c_void_p), ("stream", ctypes.c_void_p)]
        from_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_int32))
        to_stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_uint64))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        name = b"dlpack_exchange_api"
        api = Api.from_buffer_copy(Api.from_address(get(torch.Tensor.__dlpack_c_exchange_api__, name)))
        real = from_object(api.tensor)
        def tensor(value, out):
            result = real(value, out)
            if result == 0:
                out[2], out[3] = 2, value.number  # behind the address
            return result
        def current(kind, number, out):
            out[0] = self.current[number]
            return 0
        self.kept = api, from_object(tensor), to_stream(current), real, name
        api.tensor, api.stream = (ctypes.cast(each, ctypes.c_void_p).value for each in self.kept[1:3])
        self.types[0].__dlpack_c_exchange_api__ = new(ctypes.addressof(api), name, None)
    def __call__(self, *shape, number=0, **options):
        import torch
        return self.there(torch.zeros(*shape, **options), number)
    def there(self, tensor, number=0):
        return tensor.as_subclass(self.types[number])

source = '''
kernel void scale(device float* y, device const float* x, constant float& factor, uint i [[thread_position_in_grid]]) {
  y[i] = factor * x[i];
}
'''
use_gpu(0)
"""


@pytest.fixture
def program(tmp_path):
    def run(text, **variables):
        environment = os.environ | {
            "METALLOID_CUDA_DRIVER": stand_in,
            "STAND_IN_LOG": str(tmp_path / "launches"),
            "METALLOID_DEVICE": "cpu",
            **{
                name if name.startswith("METALLOID_") else f"STAND_IN_{name}": value
                for name, value in variables.items()
            },
        }
        result = subprocess.run(
            [sys.executable, "-c", prelude + textwrap.dedent(text)], env=environment, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr

    return run


def test_arrays_are_bound_in_place_on_their_stream(program):
    program("""
        own = stream()
        x, y = Interface((256,), stream=own), Interface((256,), stream=own)
        scale = metalloid.compile_shader(source).scale
        assert scale(y, x, 3.0) is None
        launch, = launches()
        assert launch.stream == own
        assert launch.argument(0) == (y.address, 1024, 0) and launch.argument(1) == (x.address, 1024, 0)
        factor = launch.argument(2)[0]  # a place in the parameters
        assert struct.unpack_from("<f", launch.parameters, factor) == (3.0,)
        assert 256 <= 4 * launch.grid[0] * launch.block[0] <= 1024  # a thread may do what four do
    """)


def test_tensors_join_torchs_current_stream(program):
    program("""
        tensors = Tensors()
        x, y = tensors(64), tensors(64)
        lib = metalloid.compile_shader(source)
        lib.scale(y, tensors.there(x[16:]), 3.0, threads=48)
        tensors.current[0] = stream()
        lib.scale(y, x, 3.0)
        first, second = launches()
        assert first.stream == 0 and second.stream == tensors.current[0]
        assert first.argument(1) == (x.data_ptr() + 64, 192, 0)
        assert 48 <= 4 * first.grid[0] * first.block[0] <= 1024
    """)


def test_each_gpu_is_a_device_and_the_threads_own_one_stays(program):
    program(
        """
        use_gpu(1); use_gpu(0)
        lib = metalloid.compile_shader(source)
        lib.scale(Interface((4,), number=1), Interface((4,), number=1), 1.0)
        assert gpu_in_use() == 0
        assert [launch.device for launch in launches()] == [1]
        """,
        DEVICES="2",
    )


def test_two_places_in_one_call_are_an_error(program):
    program(
        """
        tensors = Tensors()
        import torch
        lib = metalloid.compile_shader(source)
        on_gpu, other, host = tensors(4), tensors(4, number=1), torch.zeros(4)
        text = raised(lib.scale, on_gpu, host, 1.0)
        assert text == ("ValueError: argument 'y' at buffer(0), float is on cuda:0 and argument 'x' at buffer(1), float is in "
                        "the host's memory: a kernel runs on one device; .to() moves a tensor"), text
        text = raised(lib.scale, on_gpu, other, 1.0)
        assert "'y' at buffer(0), float is on cuda:0 and argument 'x' at buffer(1), float is on cuda:1" in text, text
        lib.scale(on_gpu, on_gpu, torch.tensor(2.0, dtype=torch.float64))  # goes by value
        text = raised(metalloid.compile_shader(source, device="cpu").scale, on_gpu, on_gpu, 1.0)
        assert "made for device 'cpu', and its arguments are on cuda:0" in text, text
        metalloid.compile_shader(source, device="cuda").scale(on_gpu, on_gpu, 1.0)
        text = raised(lib.scale, Interface((4,), number=2), Interface((4,), number=2), 1.0)
        assert "kernels cannot run on cuda:2: NVIDIA's driver does not show that GPU" in text, text
        """,
        DEVICES="2",
    )


def test_without_a_driver_the_error_says_so(program):
    program("""
        class Elsewhere:
            def __dlpack_device__(self): return 2, 0
        os.environ["METALLOID_CUDA_DRIVER"] = "/nowhere/libcuda.so.1"
        text = raised(metalloid.compile_shader(source).scale, Elsewhere(), Elsewhere(), 1.0)
        assert "kernels cannot run on cuda:0: NVIDIA's driver (libcuda.so.1) cannot be opened here" in text, text
    """)


def test_arrays_of_the_host_go_along(program):
    program("""
        scale = metalloid.compile_shader(source).scale
        y = Interface((4,))
        scale(y, numpy.ones(4, numpy.float32), 1.0)
        address, size, front = launches()[0].argument(1)
        assert address > 4096 and (size, front) == (16, 0)
        # What a kernel writes to the host's memory is there when the call returns.
        scale(numpy.ones(4, numpy.float32), y, 1.0)
        assert len(launches()) == 2
    """)


def test_arrays_are_checked_as_the_hosts_are(program):
    program("""
        tensors = Tensors()
        import torch
        scale = metalloid.compile_shader(source).scale
        x = Interface((4,))
        assert "not C-contiguous" in raised(scale, x, Interface((4,), strides=(8,)), 1.0)
        assert "read-only" in raised(scale, Interface((4,), read_only=True), x, 1.0)
        assert "float64" in raised(scale, x, Interface((4,), typestr="<f8"), 1.0)
        assert "its elements are f32, the array's are int32" in raised(scale, x, Interface((4,), typestr="<i4"), 1.0)
        assert "its elements are float, the tensor's are float16" in raised(scale, tensors(4), tensors(4, dtype=torch.float16), 1.0)
        assert "overlap in memory" in raised(scale, tensors.there(tensors(1).expand(8)), tensors(8), 1.0)
        assert not os.path.exists(os.environ["STAND_IN_LOG"])
    """)


def test_streams_of_other_arrays_are_waited_for(program):
    program("""
        one, two = stream(), stream()
        scale = metalloid.compile_shader(source).scale
        scale(Interface((4,), stream=one), Interface((4,), stream=two), 1.0)
        assert launches()[0].stream == one
        assert "ambiguous" in raised(scale, Interface((4,), stream=0), Interface((4,)), 1.0)
        text = raised(scale, Interface((4,), stream=one), Interface((4,), stream=12345), 1.0)
        assert "an event on the GPU failed" in text, text
    """)


def test_what_went_wrong_the_next_call_says(program):
    program("""
        report = "<IIIIIxxxxQQQQQQQ"
        what, access = (ctypes.create_string_buffer(text) for text in (b"argument 0", b"w4 file.metal:3"))
        scale = metalloid.compile_shader(source).scale
        x, y = Interface((4,)), Interface((4,))
        def go_outside():
            launch = launches()[-1]
            bytes_of_report = struct.pack(report, 1, 2, 0, 0, 0, 16, 4, 16, 0, ctypes.addressof(what), ctypes.addressof(access), ctypes.addressof(access))
            ctypes.memmove(launch.report, bytes_of_report, len(bytes_of_report))
            ctypes.c_uint32.from_address(launch.is_reported).value = 1
        scale(y, x, 1.0)
        go_outside()
        text = raised(scale, y, x, 1.0)
        assert "kernel 'scale' writes outside of argument 'y' (buffer 0): element 4 of 4" in text, text
        assert "at file.metal:3, thread (2, 0, 0)" in text, text
        assert len(launches()) == 1
        scale(y, x, 1.0)
        go_outside()
        assert "kernel 'scale'" in raised(metalloid.synchronize)
        metalloid.synchronize()
    """)


def test_a_kernel_that_cannot_be_stopped_is_left(program):
    program(
        """
        wait = metalloid.compile_shader("kernel void wait(device metal::atomic_uint* x) { while (metal::atomic_load_explicit(x, metal::memory_order_relaxed) == 0) {} }").wait
        x = Interface((4,), "<u4")
        wait(x, threads=1)
        text = raised(metalloid.synchronize)
        assert "kernel 'wait' was told to end at its timeout of 0.1 s and did not within 10 s" in text, text
        assert "this process cannot use the GPU" in raised(wait, x, threads=1)
        """,
        ENDLESS="1",
        METALLOID_TIMEOUT="0.1",
    )


def test_launches_can_be_captured(program):
    program("""
        own = stream()
        scale = metalloid.compile_shader(source).scale
        x, y = Interface((4,), stream=own), Interface((4,), stream=own)
        scale(y, x, 1.0)
        graph = stream()
        x.interface["stream"] = y.interface["stream"] = graph
        driver.stand_in_capture(ctypes.c_void_p(graph), 1)
        scale(y, x, 1.0)
        assert launches()[-1].stream == graph
        assert "captured into a graph" in raised(scale, y, numpy.ones(4, numpy.float32), 1.0)
        assert "captured into a graph" in raised(scale, numpy.ones(4, numpy.float32), x, 1.0)
        driver.stand_in_capture(ctypes.c_void_p(graph), 0)
        assert len(launches()) == 2
        metalloid.synchronize()
    """)


def test_lists_of_tensors_are_addresses(program):
    program("""
        tensors = Tensors()
        lib = metalloid.compile_shader('''
            struct Inputs { metal::array<device float*, 2> x; };
            kernel void add(device float* y, constant Inputs& inputs, uint i [[thread_position_in_grid]]) {
              y[i] = inputs.x[0][i] + inputs.x[1][i];
            }''')
        y, a, b = tensors(4), tensors(4), tensors(4)
        lib.add(y, [a, b])
        launch, = launches()
        assert struct.unpack_from("<QQ", launch.parameters, launch.argument(1)[0]) == (a.data_ptr(), b.data_ptr())
    """)


def test_metal_kernel(program):
    program("""
        tensors = Tensors()
        import torch
        full = torch.full
        torch.full = lambda shape, value, dtype, device: tensors.there(full(shape, value, dtype=dtype))
        twice = metalloid.fast.metal_kernel(name="twice", input_names=["x", "n"], output_names=["y"], source="y[thread_position_in_grid.x] = n * x[thread_position_in_grid.x];")
        x = tensors(8, 4)
        options = dict(output_shapes=[(32,)], output_dtypes=[torch.float32], grid=(32, 1, 1), threadgroup=(32, 1, 1))
        y, = twice(inputs=[x, 2], **options)
        assert y.is_cuda and y.shape == (32,)
        launch, = launches()
        assert launch.argument(0)[:2] == (x.data_ptr(), 128)
        addresses = [launch.argument(i)[0] for i in range(3)]
        assert y.data_ptr() in addresses
        y, = twice(inputs=[tensors.there(x.t()), 2], **options)  # copied
        assert launches()[-1].argument(0)[0] != x.data_ptr()
        assert "Input `x`" in raised(twice, inputs=[torch.zeros(4), x], **options)
        assert "outputs" in raised(twice, inputs=[Interface((32,)), 2], **options).lower()
    """)


def test_torch_metal_kernel(program):
    program("""
        tensors = Tensors()
        import torch
        from metalloid import TorchMetalKernel, MetalParameter
        from metalloid._torch_metal_kernel import run
        def defined(x: torch.Tensor, n: int) -> torch.Tensor:
            return x * n
        x = tensors(8)
        zeros = torch.zeros
        run.torch.zeros = lambda shape, dtype, device: tensors.there(zeros(shape, dtype=dtype))
        source = '''
            #include <metal_stdlib>
            using namespace metal;
            kernel void twice(device const float* x, constant int& n, device float* y, uint i [[thread_position_in_grid]]) {
              y[i] = x[i] * n;
            }'''
        tensors.types[0].to = tensors.types[0].detach = lambda self, *others: self
        y, = run.run_source(source, "twice", [x, 2], [[8]], (8, 1, 1), (8, 1, 1))
        launch, = launches()
        assert launch.argument(0)[0] == x.data_ptr() and launch.argument(2)[0] == y.data_ptr()
        assert struct.unpack_from("<i", launch.parameters, launch.argument(1)[0]) == (2,)
    """)


def test_calls_like_one_before_go_the_quick_way(program):
    program(
        """
        import torch
        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            raise SystemExit  # before PyTorch 2.10
        tensors = Tensors()
        tensors.exchange()
        lib = metalloid.compile_shader(source + "kernel void count(device int* y, constant int& n, uint2 i [[thread_position_in_grid]]) { y[i.x + i.y * n] = n; }")
        scale, count = lib.scale, lib.count
        ways = []
        class Watched:
            def __init__(self, quick): self.quick = quick
            def learn(self, *what): self.quick.learn(*what)
            def __call__(self, *call):
                ways.append(self.quick(*call))
                return ways[-1]
        def bound(launch, count):
            "Arguments, and the bytes that lie among the parameters."
            places = [launch.argument(i) for i in range(count)]
            return places, [launch.parameters[place : place + size] for place, size, _ in places if place < 4096]
        def same(kernel, *args, way=True, **options):
            "By the long way and as it comes."
            kernel(*args, timeout=1.0, **options)
            if not isinstance(kernel._quick, Watched):
                kernel._quick = Watched(kernel._quick)
            kernel(*args, **options)
            assert ways == [way], ways
            ways.clear()
            long, quick = launches()[-2:]
            assert (long.stream, long.grid, long.block) == (quick.stream, quick.grid, quick.block)
            if way:
                assert bound(long, len(args)) == bound(quick, len(args))
        x, y = tensors(64), tensors(64)
        same(scale, y, x, 3.0)
        same(scale, y, tensors.there(x[16:]), -0.5, threads=48)
        same(scale, tensors.there(y.reshape(8, 8).t()), x, 1.0)
        tensors.current[0] = stream()
        same(scale, y, x, 3.0)
        assert launches()[-1].stream == tensors.current[0]
        same(scale, y, x, 3.0, group_size=16)
        same(scale, y, x, 1e38)
        same(scale, y, numpy.ones(64, numpy.float32), 3.0, way=False)
        same(scale, y, x, 1e300, way=False)
        same(scale, y, x, numpy.float32(2), way=False)
        z = tensors(64, dtype=torch.int32)
        for grid, group in ((8, 8), (4, 2)), ([8, 8], [8, 1]):
            same(count, z, 8, threads=grid, group_size=group)
        same(count, z, -1)
        same(scale, y, tensors(64, dtype=torch.int32), 3.0)  # learned
        number = len(launches())
        def refused(text, *args, **options):
            found = raised(*args, **options)
            assert text in found, found
        refused("its elements are float, the tensor's are float16", scale, y, tensors(64, dtype=torch.float16), 1.0)
        refused("overlap in memory", scale, tensors.there(tensors(1).expand(8)), x, 1.0)
        refused("negative", scale, y, tensors.there(torch._neg_view(x)), 1.0)
        refused("on cuda:0 and argument 'x' at buffer(1), float is on cuda:1", scale, y, tensors(64, number=1), 1.0)
        refused("bound as int64; give a float", scale, y, x, 1)
        refused("must lie between", count, z, 1 << 63)
        refused("Threadgroup size exceeds", scale, y, x, 1.0, group_size=4096)
        refused("same number of dimensions", scale, y, x, 1.0, threads=(8, 8), group_size=8)
        refused("missing buffer binding at index 2", scale, y, x)
        refused("no argument has buffer index 3", scale, y, x, 1.0, 1.0)
        assert len(launches()) == number
        scale(y, x, 1.0, threads=0)
        assert ways.pop() is False and len(launches()) == number
        """,
        DEVICES="2",
    )


def test_code_for_one_size_of_threadgroups(program, tmp_path):
    program(
        """
        import pathlib, threading
        cache = pathlib.Path(os.environ["METALLOID_CACHE_DIR"])

        def compiled():
            return sum(b"metalloid_kernel" in file.read_bytes() for file in cache.glob("kernels/**/*") if file.is_file())

        source = "kernel void total(device float* out, device const float* x, constant uint& n, "
        source += "uint i [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {"
        source += "float sum = 0; for (uint k = i; k < n; k += size) sum += x[k]; out[i] = sum; }"
        total = metalloid.compile_shader(source).total
        x, out = Interface((1024,)), Interface((1024,))
        after = {}
        for size in (32, 64, 64, 32):
            total(out, x, 1024, threads=size, group_size=size)
            after.setdefault(size, compiled())
        assert after[64] > after[32] > 0
        assert compiled() == after[64], "compiled anew"
        each = after[64] - after[32]

        # Of threads that want the same size at a time one compiles.
        threads = [
            threading.Thread(target=total, args=(out, x, 1024), kwargs=dict(threads=96, group_size=96)) for _ in range(8)
        ]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert compiled() == after[64] + each

        # More sizes than there are places for, 16.
        others = range(128, 32 * 24, 32)
        for size in others:
            total(out, x, 1024, threads=size, group_size=size)
        assert compiled() == after[64] + 14 * each
        assert [launch.block[0] for launch in launches()] == [32, 64, 64, 32, *[96] * 8, *others]
        """,
        METALLOID_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_code_for_arguments_that_overlap(program, tmp_path):
    program(
        """
        import pathlib
        cache = pathlib.Path(os.environ["METALLOID_CACHE_DIR"])

        def compiled():
            files = [file.read_bytes() for file in cache.glob("kernels/**/*") if file.is_file()]
            return sum(b".entry" in file for file in files), sum(b".maxntid" in file for file in files)

        source = "kernel void turn(device float* out, device const float* x, uint i [[thread_index_in_threadgroup]]) {"
        source += "threadgroup float tile[32]; tile[i] = x[i];"
        source += "threadgroup_barrier(metal::mem_flags::mem_threadgroup); out[i] = tile[31 - i]; }"
        turn = metalloid.compile_shader(source).turn
        x, out = Interface((32,)), Interface((32,))
        found = []
        for to, threads in ((out, 32), (x, 32), (x, 32), (x, 24)):
            turn(to, x, threads=threads, group_size=32)
            found.append(compiled())
        # Usual code; the same for one buffer; and what takes all, of which the size of threadgroups is limited.
        assert found == [(1, 0), (2, 0), (2, 0), (3, 1)], found
        """,
        METALLOID_CACHE_DIR=str(tmp_path / "cache"),
    )


def test_what_keeps_code_for_one_size_from_being_made_is_told(program, tmp_path):
    trace = tmp_path / "trace.json"
    program(
        """
        source = "kernel void total(device float* out, device const float* x, constant uint& n, "
        source += "uint i [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {"
        source += "float sum = 0; for (uint k = i; k < n; k += size) sum += x[k]; out[i] = sum; }"
        total = metalloid.compile_shader(source, device="cuda").total
        x, out = Interface((1024,)), Interface((1024,))
        for size in (32, 352, 352):
            total(out, x, 1024, threads=size, group_size=size)
        [[engine, reason, file, line]] = total.remarks
        assert engine == "cuda" and "352 x 1 x 1 threads" in reason and "the stand-in refuses 1408" in reason, reason
        assert [launch.block[0] for launch in launches()] == [32, 352, 352]
        """,
        REFUSE="1408",  # bytes from one turn to the next
        METALLOID_TRACE=str(trace),
        METALLOID_CACHE_DIR=str(tmp_path / "cache"),
    )
    sizes = [event["args"] for event in json.loads(trace.read_text()) if event["name"] == "compile kernel total"]
    wanted, refused = (each for each in sizes if "threads_per_threadgroup" in each)
    assert wanted["threads_per_threadgroup"] == [32, 1, 1] and "error" not in wanted
    assert refused["threads_per_threadgroup"] == [352, 1, 1] and "refuses 1408" in refused["message"]
