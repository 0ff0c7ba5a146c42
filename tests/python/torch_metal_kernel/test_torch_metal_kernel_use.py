"""metalloid.TorchMetalKernel in programs: training, copies, files, odd inputs; the report of a failed comparison."""

import pickle

import pytest

torch = pytest.importorskip("torch")

from metalloid import MetalParameter, TorchMetalKernel, VerificationError  # noqa: E402

index = [MetalParameter("id", "uint", "thread_position_in_grid")]
index2 = [MetalParameter("id", "uint2", "thread_position_in_grid")]


def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


def sin_cos(x: torch.Tensor) -> list[torch.Tensor]:
    return [torch.sin(x), torch.cos(x)]


def transpose(x: torch.Tensor) -> torch.Tensor:
    return x.t()


def squares(name="squares", src="o[id] = x[id] * x[id];", **keywords):
    return TorchMetalKernel(name, ["x"], ["o"], src, square, index, **keywords)


def call(kernel, x, *shapes, grid=None):
    return kernel(
        x, threads_per_grid=grid or (x.shape[-1], x[..., 0].numel(), 1), threads_per_thread_group=(1, 1, 1),
        result_shapes=list(shapes) or [list(x.shape)],
    )  # fmt: skip


def test_training():
    kernel = squares("trained")
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        call(kernel, torch.ones(3, requires_grad=True)).sum().backward()

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient, None, None, None  # the grid, the threadgroup, the result's shape

    kernel.torch_custom_op.register_autograd(backward, setup_context=setup_context)
    for function in (call, torch.compile(call, fullgraph=True, backend="aot_eager")):
        x = torch.arange(3.0, requires_grad=True)
        function(kernel, x).sum().backward()
        assert x.grad.tolist() == [0, 2, 4]


def test_gradient_modes():
    kernel = squares("modes")
    with torch.inference_mode():
        assert call(kernel, torch.ones(3)).is_inference()
    with torch.no_grad():
        assert not call(kernel, torch.ones(3, requires_grad=True)).requires_grad


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_runs_one_after_the_other():
    kernel = squares("mapped")
    x = torch.arange(6.0).reshape(2, 3)
    torch.testing.assert_close(torch.vmap(lambda row: call(kernel, row))(x), x * x)


def test_kernels_in_files():
    kernel = squares("in_a_file", rtol=0.5, src="o[id] = 1.25f * x[id] * x[id];")
    again = pickle.loads(pickle.dumps(kernel))
    assert (again.name, again.rtol) == ("in_a_file", 0.5)
    assert call(again, torch.ones(2)).tolist() == [1.25, 1.25]


def test_exported_programs_in_files(tmp_path):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = squares("saved")

        def forward(self, x):
            return call(self.kernel, x) + 1

    torch.export.save(torch.export.export(Model(), (torch.ones(4),)), tmp_path / "model.pt2")
    program = torch.export.load(tmp_path / "model.pt2")
    assert program.run_decompositions().module()(torch.full((4,), 3.0)).tolist() == [10] * 4


def test_inductor():
    kernel = squares("inductor")
    x = torch.randn(9)
    compiled = torch.compile(lambda x: call(kernel, x * 2).sum(), fullgraph=True)
    torch.testing.assert_close(compiled(x), (4 * x * x).sum())


def test_extents_that_were_divided():
    """Core AI's class makes tensors of integers of them."""
    assert call(squares("divided"), torch.ones(4), [8 / 2], grid=(8 / 2, 1.0, 1)).tolist() == [1] * 4


def test_shapes_that_are_none():
    kernel = squares("shapes")
    with pytest.raises(TypeError, match="one shape per result name, got 4 for 'o'"):
        call(kernel, torch.ones(4), 4)
    unchecked = squares("unchecked_shapes", verify=False)  # else torch_defn's shape is asked for first
    for extent in (-1, 2**40):
        with pytest.raises(RuntimeError, match="to type uint32 without overflow"):
            call(unchecked, torch.ones(4), [extent])


def test_inputs_that_are_not_dense():
    with pytest.raises(TypeError, match="kernel input at index 0 has unsupported layout: torch.sparse_coo"):
        call(squares("sparse", verify=False), torch.ones(4).to_sparse(), [4], grid=(4, 1, 1))


def test_views_of_every_kind():
    kernel = squares("views")
    complex_ = torch.tensor([1 + 2j, 3 - 4j])
    for x in (complex_.real, complex_.conj().imag, torch.ones(1).expand(5), torch.arange(9.0)[2::3]):
        torch.testing.assert_close(call(kernel, x), x * x)


def test_an_empty_result_beside_others():
    def first_and_none(x: torch.Tensor) -> list[torch.Tensor]:
        return [x[:1].clone(), x[:0].clone()]

    kernel = TorchMetalKernel("beside", ["x"], ["a", "b"], "a[0] = x[0];", first_and_none)
    a, b = call(kernel, torch.tensor([7.0]), [1], [0])
    assert a.tolist() == [7] and b.shape == (0,)


def test_element_types_may_depend_on_shapes_and_values():
    def choose(x: torch.Tensor, narrow: bool) -> torch.Tensor:
        return x.half() if narrow or x.shape[0] > 4 else x.clone()

    kernel = TorchMetalKernel("choose", ["x", "narrow"], ["o"], "o[id] = x[id];", choose, index, verify=False)
    for size, narrow in ((2, False), (2, True), (9, False)):
        x = torch.ones(size)
        keywords = {"threads_per_grid": (size, 1, 1), "threads_per_thread_group": (1, 1, 1)}
        result = kernel(x, narrow, **keywords, result_shapes=[[size]])
        assert result.dtype == choose(x, narrow).dtype and result.tolist() == x.tolist()


def test_a_definition_with_too_few_results():
    kernel = TorchMetalKernel("too_few", ["x"], ["a", "b", "c"], "", sin_cos, index, verify=False)
    with pytest.raises(VerificationError, match="torch_defn returned 2 tensors, result_names has 3"):
        call(kernel, torch.ones(2), [2], [2], [2])


def test_compile_errors_say_where_src_begins():
    def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n

    def error_of(*arguments, args, **keywords):
        kernel = TorchMetalKernel("lines", *arguments, metal_params=index, **keywords)
        with pytest.raises(SyntaxError) as caught:
            kernel(*args, threads_per_grid=(2, 1, 1), threads_per_thread_group=(1, 1, 1), result_shapes=[[2]])
        return caught.value

    x = torch.ones(2)
    error = error_of(["x"], ["o"], "float y = x[id];\no[id] = z;", square, args=(x,))
    assert "program_source:8:9: error: use of undeclared identifier 'z'" in str(error)
    assert error.__notes__ == ["kernel 'lines': src begins in line 7 of program_source"]
    error = error_of(["x", "n"], ["o"], "o[id] = z;", scaled, args=(x, 3), helper_src="int a;\nfloat f(float v) {\n}")
    assert error.__notes__ == ["kernel 'lines': src begins in line 11 of program_source, helper_src in line 6"]
    assert "program_source:11:9: error: use of undeclared identifier 'z'" in str(error)


# ---- the report ----


def report(kernel, x, *shapes):
    with pytest.raises(VerificationError) as caught:
        call(kernel, x, *shapes)
    return str(caught.value)


def test_report_says_where_in_torch_and_in_metal():
    kernel = TorchMetalKernel("where", ["x"], ["o"], "o[id.x, id.y] = x[id.x, id.y];", transpose, index2)
    assert report(kernel, torch.tensor([[1.5, 2, 3], [4, 5, 6], [7.1, 8, 9]])) == (
        "kernel 'where': 1 of 1 results differ from torch_defn\n"
        "  o: 6 of 9 elements are wrong; at [0, 1] (o[1, 0] in Metal) the kernel gives 2, torch_defn 4"
        " (rtol 0.0001, atol 1e-05)\n"
        "    the largest difference: at [0, 2] (o[2, 0] in Metal) the kernel gives 3, torch_defn 7.0999999"
    )


def test_report_names_swapped_results():
    kernel = TorchMetalKernel("swap", ["x"], ["s", "c"], "s[id] = cos(x[id]); c[id] = sin(x[id]);", sin_cos, index)
    text = report(kernel, torch.randn(4), [4], [4])
    assert "it has the values of 'c'" in text and "it has the values of 's'" in text


@pytest.mark.parametrize("value, shown", [("NAN", "nan"), ("INFINITY", "inf"), ("-INFINITY", "-inf")])
def test_report_of_values_that_are_not_finite(value, shown):
    kernel = squares(f"finite_{shown.strip('-')}", f"o[id] = id == 2 ? {value} : x[id] * x[id];")
    assert f"1 of 4 elements are wrong; at [2] the kernel gives {shown}, torch_defn 1 " in report(kernel, torch.ones(4))
    call(squares("equal_nan"), torch.tensor([float("nan"), float("inf"), -float("inf"), 1]))


@pytest.mark.parametrize(
    "dtype, shown", [(torch.float16, "0.099976"), (torch.bfloat16, "0.1001"), (torch.int64, "0"), (torch.uint8, "0")]
)
def test_report_shows_numbers_as_their_type_has_them(dtype, shown):
    def tenth(x: torch.Tensor) -> torch.Tensor:
        return (torch.ones(3) / 10).to(x.dtype)

    kernel = TorchMetalKernel("tenth", ["x"], ["o"], "o[id] = x[id];", tenth, index)
    assert f"the kernel gives 2, torch_defn {shown} " in report(kernel, torch.full((3,), 2).to(dtype))
