"""Kernels on arrays in the memory of a device that runs them, by DLPack: device trial, whose memory the host cannot touch and
whose work is done after its call. Programs run in processes of their own, in which that device is."""

import os
import subprocess
import sys
import textwrap

import pytest

prelude = """
import ctypes, struct
import numpy, metalloid
from metalloid import _core

class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("number", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

capsule_of = ctypes.pythonapi.PyCapsule_New
capsule_of.restype, capsule_of.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class Array:
    "Of floats, in the device's memory."
    def __init__(self, values, device="trial", first=0):
        values = numpy.asarray(values, numpy.float32)
        self.device, self.memory = device, _core.DeviceMemory(device, values.nbytes)
        self.memory.write(values.tobytes())
        self.shape = (ctypes.c_int64 * 1)(len(values) - first)
        number = int(device.partition(":")[2] or 0)
        self.tensor = DLTensor(self.memory.address + 4 * first, 12, number, 1, 2, 32, 1, self.shape, None, 0, None, None)
        self.streams = []
    def __dlpack_device__(self):
        return self.tensor.kind, self.tensor.number
    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return capsule_of(ctypes.addressof(self.tensor), b"dltensor", None)
    def numpy(self):
        metalloid.synchronize()
        return numpy.frombuffer(self.memory.read(), numpy.float32)

def raised(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""

source = '''
kernel void scale(device float* y, device const float* x, constant float& factor, uint i [[thread_position_in_grid]]) {
  y[i] = factor * x[i];
}
kernel void far(device float* y, uint i [[thread_position_in_grid]]) { y[i + 1000] = 1; }
'''
library = metalloid.compile_shader(source)
"""


@pytest.fixture
def program():
    def run(text):
        environment = os.environ | {"METALLOID_TRIAL_ENGINE": "1", "METALLOID_DEVICE": "cpu"}
        result = subprocess.run(
            [sys.executable, "-c", prelude + textwrap.dedent(text)], env=environment, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr

    return run


def test_kernels_run_where_arrays_are(program):
    program("""
        x, y = Array(range(8)), Array([0] * 8)
        for factor in (2.0, 3.0):
            library.scale(y, x, factor)
            assert y.numpy().tolist() == [factor * i for i in range(8)]
        assert x.streams == [1, 1]  # who makes the array waits for the default stream's sake
        part = Array(range(8), first=4)
        library.scale(y, part, 1.0, threads=4)
        assert y.numpy().tolist() == [4, 5, 6, 7, 12, 15, 18, 21]
    """)


def test_each_device_has_its_own_memory(program):
    program("""
        x, y = Array(range(4), "trial:1"), Array([0] * 4, "trial:1")
        library.scale(y, x, 2.0)
        assert y.numpy().tolist() == [0, 2, 4, 6]
        text = raised(library.scale, y, Array(range(4)), 2.0)
        assert "'y' at buffer(0), float is on trial:1 and argument 'x' at buffer(1), float is on trial" in text, text
    """)


def test_arrays_of_the_host_are_copied(program):
    program("""
        y = Array([0] * 4)
        x = numpy.arange(4, dtype=numpy.float32)
        library.scale(y, x, 2.0)
        x[:] = 0  # it has been read
        assert y.numpy().tolist() == [0, 2, 4, 6]
        result = numpy.zeros(4, numpy.float32)
        library.scale(result, y, 2.0)
        assert result.tolist() == [0, 4, 8, 12]
    """)


def test_errors_come_with_the_next_call_or_wait(program):
    program("""
        y = Array([0] * 4)
        library.far(y)
        text = raised(metalloid.synchronize)
        assert "kernel 'far'" in text, text
        assert raised(metalloid.synchronize) == ""
        library.scale(y, y, 1.0)
        metalloid.synchronize()
    """)


def test_other_devices_are_refused(program):
    program("""
        class Elsewhere:
            def __dlpack_device__(self): return 10, 0
        text = raised(library.scale, Elsewhere(), Elsewhere(), 1.0)
        assert "memory of another device (ROCm)" in text, text
    """)
