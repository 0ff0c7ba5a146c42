"""Every public function says in words what is wrong with an argument: no nanobind, no "object is not iterable"."""

import re

import numpy
import pytest

import metalloid

try:
    import torch
except ImportError:
    torch = None

HUGE = (2**22, 2**21, 2**21)
VALUES = [
    None, True, 0, -1, 2**32, 2**64, -(2**63) - 1, 1e-320, float("inf"), float("nan"), 1j, "", "x", "a\0b", b"x", bytearray(3),
    [], [1], ["x"], [None], [[1]], (), (1, 2, 3, 4), (0, 0, 0), (-1, 1, 1), HUGE, {}, {"a": 1}, {0: -1},
    {0: 2**70}, {"x": "y"}, {None: None}, set(), range(3), numpy.float32(1), numpy.int64(5), numpy.bool_(True),
    numpy.zeros(3, numpy.float32), numpy.array("x"), numpy.array([None]), object(), object, print, slice(1),
]  # fmt: skip
SOURCE = """
constant int n [[function_constant(0)]];
kernel void f(device float* x, constant float& s, uint i [[thread_position_in_grid]]) { if (i == ~0u) x[i] = s + n; }
kernel void g(device float* x, threadgroup float* y [[threadgroup(0)]]) { if (y == nullptr) x[0] = 1; }
"""
BODY = "if (thread_position_in_grid.x == ~0u) y[0] = x[0];"
X = numpy.zeros(8, numpy.float32)
LAUNCH = dict(grid=(1, 1, 1), threadgroup=(1, 1, 1))
BY_LIST = dict(inputs=[X], output_shapes=[(1,)], output_dtypes=["float32"])
BY_NAME = dict(inputs={"x": X}, output_shapes={"y": (1,)}, output_dtypes={"y": "float32"})
# What Python, nanobind and C++ say when nobody has looked.
RAW = (
    "incompatible function arguments", "nanobind", "std::", "object is not", "has no len", "has no attribute",
    "not iterable", "unsupported operand", "unhashable", "not subscriptable", "not supported between instances",
)  # fmt: skip


def targets():
    lib = metalloid.compile_shader(SOURCE, function_constants={"n": 1})
    listed = metalloid.fast.metal_kernel(name="k", input_names=["x"], output_names=["y"], source=BODY)
    named = metalloid.fast.metal_kernel(name="k", source=BODY)
    tuning = dict(margin=0.1, seconds=0.01, rounds=1, compare=True, tolerance=None, force=False)
    found = {
        "compile_shader": (metalloid.compile_shader, [SOURCE], dict(
            device=None, language="metal3.2", math_mode="safe", definitions={}, include_directories=(), headers={},
            torch_headers=False, source_name="p", function_constants={}, policy=metalloid.ArgumentPolicy())),
        "get_kernel": (lib.get_kernel, ["f"], dict(constants={})),
        "f": (lib.f, [X, 1.0], dict(threads=8, group_size=8, arg_casts=None, error_buf_idx=None, timeout=1)),
        "f with a grid": (lib.f, [X, 1.0], dict(threads=(1, 1, 1), group_size=(1, 1, 1), timeout=1)),
        "g": (lib.g, [X], dict(threads=1, threadgroup_memory={0: 16}, timeout=1)),
        "tune": (metalloid.tune, [lib.f, X, 1.0], dict(
            threads=8, threadgroups=None, group_size=8, group_sizes=[8], threadgroup_memory=None,
            threadgroup_memory_per_thread=None, timeout=1, **tuning)),
        "set_default_device": (metalloid.set_default_device, [None], {}),
        "start_trace": (metalloid.start_trace, ["trace.json"], {}),
        "metal_kernel": (metalloid.fast.metal_kernel, ["k"], dict(
            input_names=["x"], output_names=["y"], source=BODY, header="", ensure_row_contiguous=True,
            atomic_outputs=False, compile_options=None, device=None)),
        "listed": (listed, [], dict(**BY_LIST, **LAUNCH, template=[("T", 3)], init_value=0, verbose=False)),
        "named": (named, [], dict(**BY_NAME, **LAUNCH, template={"T": 3}, ensure_row_contiguous=True)),
        "generated_source": (listed.generated_source, [], dict(inputs=[X], output_dtypes=["float32"], template=None)),
        "metal_kernel's tune": (listed.tune, [], dict(
            **BY_LIST, **LAUNCH, threadgroups=None, candidates=(), template=None, init_value=None, **tuning)),
    }  # fmt: skip
    if torch is None:
        return found

    def definition(x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(x) + 1

    declaration = dict(
        name="wrong", input_names=["x"], result_names=["y"], src="if (id < x.get_extent(0)) y[id] = x[id] + 1;",
        torch_defn=definition, metal_params=[metalloid.MetalParameter("id", "uint", "thread_position_in_grid")],
    )  # fmt: skip
    kernel = metalloid.TorchMetalKernel(**declaration)
    launch = dict(threads_per_grid=(3, 1, 1), threads_per_thread_group=(3, 1, 1), result_shapes=[[3]])
    more = dict(helper_src=None, template_dtypes=None, verify=None, rtol=None, atol=None)
    return found | {
        "TorchMetalKernel": (metalloid.TorchMetalKernel, [], {**declaration, **more}),
        "its call": (kernel, [torch.zeros(3)], launch),
        "its source": (kernel.metal_source, [torch.zeros(3)], dict(result_shapes=[[3]])),
    }


TARGETS = targets()


@pytest.mark.parametrize("name", TARGETS)
def test_wrong_arguments(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("METALLOID_VERIFY", "0")
    function, positional, keywords = TARGETS[name]
    try:
        function(*positional, **keywords)
        for place in [*range(len(positional)), *keywords]:
            for value in VALUES:
                if value is HUGE and name == "metal_kernel's tune":
                    continue  # a grid that is right, and takes years
                given, named = list(positional), dict(keywords)
                (named if isinstance(place, str) else given)[place] = value
                try:
                    function(*given, **named)
                except (SyntaxError, TypeError, ValueError, RuntimeError, OSError, AssertionError) as error:
                    text = str(error)
                    assert text and not any(raw in text for raw in RAW), (place, value, text)
    finally:
        metalloid.set_default_device(None)
        metalloid.stop_trace()


@pytest.mark.parametrize("given", [3, True, numpy.int32(3), numpy.int64(3), [1, 2.5], [numpy.int16(1)]], ids=repr)
def test_integers_for_a_float_are_shown_as_they_were_given(given):
    lib = metalloid.compile_shader(SOURCE, function_constants={"n": 1})
    message = re.escape(f": {given!r} is bound as int64; give a float")
    with pytest.raises(TypeError, match="argument 's' .*" + message):
        lib.f(numpy.zeros(8, numpy.float32), given)


def test_floats_for_an_integer_are_shown_as_they_were_given():
    lib = metalloid.compile_shader("kernel void f(device int* x, constant int& n) { x[0] = n; }")
    for given in (2.5, numpy.float64(2.5)):
        with pytest.raises(TypeError, match=re.escape(f"{given!r} is bound as float32 (arg_casts converts)")):
            lib.f(numpy.zeros(1, numpy.int32), given)
