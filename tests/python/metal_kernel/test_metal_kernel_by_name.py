"""metal_kernel with dictionaries, as MLX's first documentation has it."""

import numpy
import pytest

from metalloid.fast import metal_kernel

EXP = """
    uint elem = thread_position_in_grid.x;
    T tmp = inp[elem];
    out[elem] = metal::exp(tmp);
"""
ARRAY = numpy.linspace(-1, 1, 64, dtype=numpy.float16).reshape(4, 16)


def call(kernel, **changes):
    arguments = dict(
        inputs={"inp": ARRAY}, template={"T": numpy.float32}, grid=(ARRAY.size, 1, 1), threadgroup=(256, 1, 1),
        output_shapes={"out": ARRAY.shape}, output_dtypes={"out": ARRAY.dtype},
    )  # fmt: skip
    return kernel(**{**arguments, **changes})


def test_documented_example():
    outputs = call(metal_kernel(name="myexp", source=EXP))
    assert list(outputs) == ["out"] and outputs["out"].dtype == numpy.float16
    numpy.testing.assert_allclose(outputs["out"], numpy.exp(ARRAY), rtol=2e-3)


def test_name_source_and_header_by_position():
    kernel = metal_kernel("third", "y[0] = THIRD * x;", "#define THIRD 3\n")
    assert kernel(
        inputs={"x": 5}, output_shapes={"y": (1,)}, output_dtypes={"y": "int32"}, grid=(1, 1, 1), threadgroup=(1, 1, 1)
    )["y"].tolist() == [15]


@pytest.mark.parametrize("flag_at_call", [True, False])
def test_strides(flag_at_call):
    source = EXP.replace("inp[elem]", "inp[elem_to_loc(elem, inp_shape, inp_strides, inp_ndim)]")
    flag = {"ensure_row_contiguous": False}
    array = ARRAY[::2]
    kernel = metal_kernel(name="strided", source=source, **({} if flag_at_call else flag))
    outputs = call(
        kernel, inputs={"inp": array}, grid=(array.size, 1, 1), output_shapes={"out": array.shape},
        **(flag if flag_at_call else {}),
    )  # fmt: skip
    numpy.testing.assert_allclose(outputs["out"], numpy.exp(array), rtol=2e-3)


def test_one_kernel_takes_other_names_at_each_call():
    kernel = metal_kernel(name="sum", source="uint i = thread_position_in_grid.x; total[i] = TERMS;", header="")
    launch = dict(grid=(2, 1, 1), threadgroup=(2, 1, 1))
    one, two = numpy.array([1, 2], numpy.int32), numpy.array([10, 20], numpy.int32)
    with pytest.raises(RuntimeError, match="TERMS"):
        kernel(inputs={"a": one}, output_shapes={"total": (2,)}, output_dtypes={"total": "int32"}, **launch)
    kernel = metal_kernel(name="sum", source="uint i = thread_position_in_grid.x; y[i] = N == 1 ? a[i] : a[i] * 2;")
    for inputs, expected in (({"a": one}, [1, 2]), ({"b": two, "a": one}, [1, 2]), ({"a": two}, [10, 20])):
        outputs = kernel(
            inputs=inputs, output_shapes={"y": (2,)}, output_dtypes={"y": "int32"}, template={"N": 1}, **launch
        )
        assert outputs["y"].tolist() == expected


def test_several_outputs_and_atomic_ones():
    kernel = metal_kernel(
        name="split", source="atomic_fetch_add_explicit(&count[0], 1, memory_order_relaxed);"
        "atomic_fetch_add_explicit(&sum[0], x[thread_position_in_grid.x], memory_order_relaxed);", atomic_outputs=True,
    )  # fmt: skip
    outputs = kernel(
        inputs={"x": numpy.arange(10, dtype=numpy.int32)}, grid=(10, 1, 1), threadgroup=(10, 1, 1), init_value=0,
        output_dtypes={"sum": numpy.int32, "count": numpy.int32}, output_shapes={"count": (1,), "sum": (1,)},
    )  # fmt: skip
    assert {name: int(value[0]) for name, value in outputs.items()} == {"count": 10, "sum": 45}


def test_dictionaries_to_a_kernel_with_names_are_put_in_order():
    kernel = metal_kernel(
        name="minus", input_names=["a", "b"], output_names=["y"], source="y[0] = T(a) - T(b);"
    )
    launch = dict(grid=(1, 1, 1), threadgroup=(1, 1, 1))
    outputs = kernel(
        inputs={"b": 1, "a": 5}, output_shapes={"y": (1,)}, output_dtypes={"y": "int32"}, template={"T": numpy.int32}, **launch
    )
    assert outputs["y"].tolist() == [4]
    lists = kernel(inputs=[5, 1], output_shapes=[(1,)], output_dtypes=["int32"], template={"T": numpy.int32}, **launch)
    assert lists[0].tolist() == [4]
    for inputs, message in (({"a": 1}, "has no 'b'"), ({"a": 1, "b": 1, "c": 1}, "has 'c', which is none of them")):
        with pytest.raises(ValueError, match=message):
            kernel(inputs=inputs, output_shapes={"y": (1,)}, output_dtypes={"y": "int32"}, **launch)


def test_source_and_tuning():
    kernel = metal_kernel(name="myexp", source=EXP)
    source = kernel.generated_source(
        inputs={"inp": ARRAY}, output_dtypes={"out": "float16"}, template={"T": numpy.float32}
    )
    assert "float16_t* inp [[buffer(0)]]" in source and "custom_kernel_myexp" in source
    result = call(
        type("Tuned", (), {"__call__": lambda self, **keywords: kernel.tune(**keywords)})(), threadgroup=None, rounds=1
    )
    assert result.launch["grid"] == (64, 1, 1)


@pytest.mark.parametrize("arguments, message", [
    (dict(input_names=["x"], source=""), "needs output_names"),
    (dict(output_names=["x"], source=""), "needs input_names"),
    (dict(input_names=["x"], output_names=["y"]), "needs source"),
    (dict(), "needs source"),
])  # fmt: skip
def test_half_a_declaration(arguments, message):
    with pytest.raises(TypeError, match=message) as error:
        metal_kernel(name="half", **arguments)
    assert "dictionaries" in str(error.value)


@pytest.mark.parametrize("changes, kind, message", [
    (dict(inputs=[ARRAY]), TypeError, "not both"),
    (dict(output_dtypes=["float16"]), TypeError, "not both"),
    (dict(inputs={1: ARRAY}), TypeError, "keys of `inputs`"),
    (dict(output_shapes={"other": (1,)}), ValueError, "has no 'out'"),
    (dict(template=3), TypeError, "template"),
    (dict(ensure_row_contiguous=1), TypeError, "ensure_row_contiguous must be bool"),
])  # fmt: skip
def test_errors(changes, kind, message):
    with pytest.raises(kind, match=message):
        call(metal_kernel(name="myexp", source=EXP), **changes)


def test_lists_to_a_kernel_without_names():
    with pytest.raises(TypeError, match="without input_names"):
        metal_kernel(name="myexp", source=EXP)(
            inputs=[ARRAY], output_shapes=[(1,)], output_dtypes=["float16"], grid=(1, 1, 1), threadgroup=(1, 1, 1)
        )


@pytest.mark.parametrize("value", [numpy.int32(3), numpy.array(3), 3])
def test_template_values_of_numpy(value):
    kernel = metal_kernel(name="n", input_names=[], output_names=["y"], source="y[0] = FLAG ? N : 0;")
    outputs = kernel(
        inputs=[], output_shapes=[(1,)], output_dtypes=["int32"], template=[("N", value), ("FLAG", numpy.bool_(True))],
        grid=(1, 1, 1), threadgroup=(1, 1, 1),
    )  # fmt: skip
    assert outputs[0].tolist() == [3]
