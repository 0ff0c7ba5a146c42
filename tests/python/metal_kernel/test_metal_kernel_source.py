"""The signatures that metal_kernel generates, against those of mx.fast.metal_kernel itself.

MLX generates its source on every platform and prints it while a call is traced for export; only running it needs a Mac.
"""

import contextlib
import io
import os
import re
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import metalloid

mx = pytest.importorskip("mlx.core")

DTYPES = ["bool_", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "bfloat16", "float32", "complex64"]
ATTRIBUTES = """dispatch_quadgroups_per_threadgroup dispatch_simdgroups_per_threadgroup
    dispatch_threads_per_threadgroup grid_origin grid_size quadgroup_index_in_threadgroup quadgroups_per_threadgroup
    simdgroup_index_in_threadgroup simdgroups_per_threadgroup thread_execution_width thread_index_in_quadgroup
    thread_index_in_simdgroup thread_index_in_threadgroup thread_position_in_grid thread_position_in_threadgroup
    threadgroup_position_in_grid threadgroups_per_grid threads_per_grid threads_per_simdgroup
    threads_per_threadgroup""".split()


@contextlib.contextmanager
def captured_stdout():
    """Python's and C++'s standard output, as text in the object that it gives."""
    result = io.StringIO()
    sys.stdout.flush()
    saved = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield result
        finally:
            os.dup2(saved, 1)
            os.close(saved)
            file.seek(0)
            result.write(file.read().decode())


def mlx_source(declaration, call):
    kernel = mx.fast.metal_kernel(**declaration)
    launch = dict(grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)] * len(declaration["output_names"]))

    def traced(x):
        return [x, *kernel(**call, **launch, verbose=True)]

    with captured_stdout() as output, tempfile.TemporaryDirectory() as folder:
        mx.export_function(os.path.join(folder, "traced"), traced, mx.zeros(1))
    name = re.escape(declaration["name"])
    return re.fullmatch(rf"Generated source code for `{name}`:\n```\n(.*)\n```\n", output.getvalue(), re.DOTALL)[1]


def tokens(source):
    return re.findall(r"\w+|[^\w\s]", source)


# Names within names, so that one input's mention is another's too.
NAMES = ["a", "x", "inp", "max", "x_shape", "grid", "weights_a", "b2"]

arrays = st.builds(
    lambda shape, dtype: mx.zeros(shape, getattr(mx, dtype)),
    st.lists(st.sampled_from([0, 1, 1, 2, 3, 7, 8]), max_size=4),
    st.sampled_from(DTYPES),
)
numbers = st.one_of(st.booleans(), st.integers(-(2**40), 2**40), st.floats(width=32, allow_nan=False))


@st.composite
def calls(draw):
    inputs = draw(st.lists(st.one_of(arrays, arrays, numbers), max_size=4))
    input_names = draw(st.permutations(NAMES))[: len(inputs)]
    outputs = draw(st.integers(1, 3))
    words = st.one_of(
        st.sampled_from(ATTRIBUTES),
        st.builds(lambda name, what: f"{name}_{what}", st.sampled_from(NAMES), st.sampled_from(["shape", "strides", "ndim"])),
        st.sampled_from(["// comment\n", "float y = 2;\n", "my_threads_per_threadgroup_2", "shape", "{ }", "\n\n"]),
    )
    declaration = dict(
        name=draw(st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True)),
        input_names=input_names,
        output_names=[f"out{i}" for i in range(outputs)],
        source=" ".join(draw(st.lists(words, max_size=6))),
        header=draw(st.sampled_from(["", "", "#define N 3\n", "inline int f(int x_shape) { return x_shape; }"])),
        ensure_row_contiguous=draw(st.booleans()),
        atomic_outputs=draw(st.booleans()),
    )
    arguments = st.one_of(
        st.booleans(), st.integers(-(2**31), 2**31 - 1), st.sampled_from([*DTYPES, "float64"]).map(lambda dtype: getattr(mx, dtype))
    )
    template = draw(st.one_of(st.none(), st.lists(arguments, max_size=4)))
    call = dict(
        inputs=inputs,
        output_dtypes=[getattr(mx, draw(st.sampled_from(DTYPES))) for _ in range(outputs)],
        template=None if template is None else [(f"T{i}", value) for i, value in enumerate(template)],
    )
    return declaration, call


def without_early_end(source):
    """MLX ends the parameter list after the first output that stands behind a shape, strides or ndim parameter, if
    no attribute follows; such source does not compile. The list goes on to the last output."""
    return re.sub(r"\]\]\) \{\n(?=  device )", "]],\n", source)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(calls())
def test_source_is_that_of_mlx(case):
    declaration, call = case
    ours = metalloid.fast.metal_kernel(**declaration).generated_source(**call)
    assert tokens(ours) == tokens(without_early_end(mlx_source(declaration, call)))


def test_verbose_prints_what_mlx_prints(capsys):
    declaration = dict(
        name="scaled", input_names=["x", "factor"], output_names=["y"],
        source="uint i = thread_position_in_grid.x;\nif (i < x_shape[0]) y[i] = T(x[i]) * factor;",
    )  # fmt: skip
    x = mx.arange(20).astype(mx.float16)
    call = dict(inputs=[x, 0.5], output_dtypes=[mx.float32], template=[("T", mx.float32), ("N", -3)])
    theirs = mlx_source(declaration, call)
    (y,) = metalloid.fast.metal_kernel(**declaration)(
        **call, grid=(20, 1, 1), threadgroup=(20, 1, 1), output_shapes=[(20,)], verbose=True
    )
    printed = re.fullmatch(r"Generated source code for `scaled`:\n```\n(.*)\n```\n", capsys.readouterr().out, re.DOTALL)
    assert tokens(printed[1]) == tokens(theirs)
    assert mx.array_equal(y, x.astype(mx.float32) * 0.5)


def test_parameter_list_goes_on_to_the_last_output():
    kernel = metalloid.fast.metal_kernel(
        "two", ["x"], ["first", "second"], "first[0] = x_shape[0]; second[0] = x_ndim;"
    )
    first, second = kernel(
        inputs=[mx.zeros((3, 4))], grid=(1, 1, 1), threadgroup=(1, 1, 1),
        output_shapes=[(1,), (1,)], output_dtypes=[mx.int32, mx.int32],
    )  # fmt: skip
    assert (first.item(), second.item()) == (3, 2)


ERRORS = [
    dict(inputs=[]),
    dict(inputs=[1, 2]),
    dict(output_shapes=[]),
    dict(output_shapes=[(1,), (1,)]),
    dict(output_dtypes=[]),
    dict(output_dtypes=[mx.float64]),
    dict(template=[("T", "float")]),
    dict(template=[("T", 1.5)]),
    dict(template=[("T", 2**40)]),
]


@pytest.mark.parametrize("change", ERRORS, ids=repr)
def test_call_errors_are_those_of_mlx(change):
    declaration = dict(name="k", input_names=["x"], output_names=["y"], source="y[0] = x;")
    call = dict(
        inputs=[1], output_shapes=[(1,)], output_dtypes=[mx.int32], grid=(1, 1, 1), threadgroup=(1, 1, 1)
    ) | change  # fmt: skip
    with pytest.raises(ValueError) as ours:
        metalloid.fast.metal_kernel(**declaration)(**call)
    theirs = mx.fast.metal_kernel(**declaration)
    with pytest.raises(ValueError) as expected, tempfile.TemporaryDirectory() as folder:
        mx.export_function(os.path.join(folder, "traced"), lambda x: [x, *theirs(**call)], mx.zeros(1))
    assert str(ours.value) == str(expected.value)


@pytest.mark.parametrize(
    "change",
    [
        dict(output_names=[]),
        dict(compile_options=3),
        dict(compile_options={"opt_level": 3}),
        dict(compile_options={"math_mode": "exact"}),
    ],
    ids=repr,
)
def test_declaration_errors_are_those_of_mlx(change):
    declaration = dict(name="k", input_names=["x"], output_names=["y"], source="") | change
    with pytest.raises(ValueError) as ours:
        metalloid.fast.metal_kernel(**declaration)
    with pytest.raises(ValueError) as expected:
        mx.fast.metal_kernel(**declaration)
    assert str(ours.value) == str(expected.value)
