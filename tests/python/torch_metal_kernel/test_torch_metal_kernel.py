"""metalloid.TorchMetalKernel: the Metal source runs, and every result is compared with torch_defn."""

import concurrent.futures
import copy as copy_module
import subprocess
import sys

import pytest
from conftest import build

import metalloid

torch = pytest.importorskip("torch")

from metalloid import MetalParameter, TorchMetalKernel, VerificationError  # noqa: E402

index = [MetalParameter("id", "uint", "thread_position_in_grid")]
index2 = [MetalParameter("id", "uint2", "thread_position_in_grid")]


def grid(*extents, group=(1, 1, 1), shapes):
    threads = (*extents, 1, 1)[:3]
    return {"threads_per_grid": threads, "threads_per_thread_group": group, "result_shapes": shapes}


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def copy(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def sin_cos(x: torch.Tensor) -> list[torch.Tensor]:
    return [torch.sin(x), torch.cos(x)]


def sin_cos_tuple(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.sin(x), torch.cos(x)


def matmul(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    return A @ B


def vector_add(name="vector_add", src="output[id] = x[id] + y[id];", **keywords):
    return TorchMetalKernel(name, ["x", "y"], ["output"], src, add, index, **keywords)


def test_import_needs_no_torch():
    code = (
        f"import sys; sys.path.insert(0, {str(build / 'python')!r}); import metalloid; "
        "print('torch' in sys.modules, 'TorchMetalKernel' in dir(metalloid)); metalloid.MetalParameter; "
        "print('torch' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "True", "False"]


def test_add():
    x, y = torch.randn(100), torch.randn(100)
    result = vector_add()(x, y, **grid(100, group=(32, 1, 1), shapes=[[100]]))
    torch.testing.assert_close(result, x + y)


def test_it_is_the_source_that_runs():
    kernel = vector_add("source_runs", "output[id] = x[id] - y[id];", verify=False)
    x, y = torch.randn(8), torch.randn(8)
    torch.testing.assert_close(kernel(x, y, **grid(8, shapes=[[8]])), x - y)


@pytest.mark.parametrize("definition", [sin_cos, sin_cos_tuple])
def test_several_results(definition):
    kernel = TorchMetalKernel(
        "sincos", ["x"], ["s", "c"], "s[id] = sin(x[id]); c[id] = cos(x[id]);", definition, index
    )
    x = torch.randn(33)
    result = kernel(x, **grid(33, group=(32, 1, 1), shapes=[[33], [33]]))
    assert type(result) is (list if definition is sin_cos else tuple)
    torch.testing.assert_close(list(result), [x.sin(), x.cos()], rtol=1e-5, atol=1e-6)


def test_a_tuple_of_one():
    def one(x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x + 1,)

    kernel = TorchMetalKernel("one", ["x"], ["o"], "o[id] = x[id] + 1;", one, index)
    result = kernel(torch.zeros(3), **grid(3, shapes=[[3]]))
    assert isinstance(result, tuple) and result[0].tolist() == [1, 1, 1]


def test_swapped_results_are_found():
    kernel = TorchMetalKernel(
        "swapped", ["x"], ["s", "c"], "s[id] = cos(x[id]); c[id] = sin(x[id]);", sin_cos, index
    )
    with pytest.raises(VerificationError, match="2 of 2 results differ") as caught:
        kernel(torch.randn(10), **grid(10, shapes=[[10], [10]]))
    assert [comparison.name for comparison in caught.value.comparisons] == ["s", "c"]
    assert all(comparison.wrong == 10 for comparison in caught.value.comparisons)


def test_elements_that_are_never_written_are_found():
    with pytest.raises(VerificationError, match=r"output: 3 of 10 .* at \[7\] .* 3 were never written"):
        vector_add()(torch.ones(10), torch.ones(10), **grid(7, shapes=[[10]]))


def test_a_kernel_that_writes_to_its_input_is_found():
    kernel = vector_add("writes_input", "output[id] = x[id] + y[id]; x[id] = 0;")
    x = torch.ones(4)
    with pytest.raises(VerificationError, match="writes to its input 'x'"):
        kernel(x, x, **grid(4, shapes=[[4]]))
    assert x.tolist() == [1, 1, 1, 1]


def test_shapes_that_differ_from_the_definition_are_found():
    with pytest.raises(VerificationError, match=r"shape \(4,\), result_shapes says \(2, 2\)"):
        TorchMetalKernel("reshaped", ["x"], ["o"], "o[id, 0] = x[id];", copy, index)(
            torch.ones(4), **grid(2, shapes=[[2, 2]])
        )


def test_a_kernel_does_not_run_into_results_of_another_shape(monkeypatch):
    """It would write as far as its grid says."""
    monkeypatch.setattr("metalloid._torch_metal_kernel.kernel.run_source", None)
    with pytest.raises(VerificationError, match=r"shape \(8,\), result_shapes says \(4,\)"):
        vector_add("short_results")(torch.ones(8), torch.ones(8), **grid(8, shapes=[[4]]))


@pytest.mark.parametrize("name", ["two words", "a-b", "1st", "a::b"])
def test_names_are_identifiers(name):
    with pytest.raises(RuntimeError, match="Kernel name must be an identifier"):
        vector_add(name)


def test_a_list_of_the_wrong_length_is_found():
    kernel = TorchMetalKernel("three", ["x"], ["a", "b", "c"], "", sin_cos, index)
    with pytest.raises(VerificationError, match="torch_defn returned 2 tensors, result_names has 3"):
        kernel(torch.ones(4), **grid(4, shapes=[[4]] * 3))


def test_environment_decides_about_verification(monkeypatch):
    kernel = vector_add("by_environment", "output[id] = 1;")
    x = torch.zeros(2)
    with pytest.raises(VerificationError):
        kernel(x, x, **grid(2, shapes=[[2]]))
    monkeypatch.setenv("METALLOID_VERIFY", "0")
    assert kernel(x, x, **grid(2, shapes=[[2]])).tolist() == [1, 1]
    monkeypatch.setenv("METALLOID_VERIFY", "1")
    with pytest.raises(VerificationError):
        kernel(x, x, **grid(2, shapes=[[2]]))


def test_tolerances():
    x = torch.ones(4)
    off = "output[id] = (x[id] + y[id]) * 1.001f;"
    with pytest.raises(VerificationError):
        vector_add("too_far", off)(x, x, **grid(4, shapes=[[4]]))
    vector_add("near_enough", off, rtol=1e-2)(x, x, **grid(4, shapes=[[4]]))


def test_scalars():
    def scaled(x: torch.Tensor, n: int, s: float, b: bool) -> torch.Tensor:
        return x * n * s + (1 if b else 0)

    kernel = TorchMetalKernel(
        "scaled", ["x", "n", "s", "b"], ["o"], "o[id] = x[id] * n * s; if (b) o[id] += 1;", scaled, index
    )
    x = torch.randn(16)
    for n, s, b in [(3, 0.5, True), (-2, 1e-3, False), (0, -0.0, True)]:
        torch.testing.assert_close(kernel(x, n, s, b, **grid(16, shapes=[[16]])), scaled(x, n, s, b))
    with pytest.raises(ValueError, match="int scalar 'n'=2147483648 is outside the 32-bit int range"):
        kernel(x, 2**31, 1.0, True, **grid(16, shapes=[[16]]))
    with pytest.raises(ValueError, match="float scalar 's'=nan is not finite"):
        kernel(x, 1, float("nan"), True, **grid(16, shapes=[[16]]))


types = [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32, torch.uint8]


@pytest.mark.parametrize("dtype", types, ids=str)
def test_one_source_for_every_type(dtype):
    kernel = TorchMetalKernel(
        "matmul", ["A", "B"], ["C"],
        "TYPE sum = 0; for (int k = 0; k < A.get_extent(0); ++k) sum += A[k, id.y] * B[id.x, k];"
        "C[id.x, id.y] = twice(sum) / TYPE(2);",
        matmul, index2,
        helper_src="inline TYPE twice(TYPE value) { return value + value; }",
        template_dtypes={"A": "TYPE"},
    )  # fmt: skip
    A, B = torch.randint(0, 3, (5, 7)).to(dtype), torch.randint(0, 3, (7, 4)).to(dtype)
    C = kernel(A, B, **grid(4, 5, group=(4, 2, 1), shapes=[[5, 4]]))
    assert C.dtype == dtype
    torch.testing.assert_close(C, (A.double() @ B.double()).to(dtype))


def test_64_bit_elements_are_narrowed_and_come_back():
    kernel = vector_add("narrowed")
    result = kernel(torch.arange(4), torch.arange(4), **grid(4, shapes=[[4]]))
    assert result.dtype == torch.int64 and result.tolist() == [0, 2, 4, 6]
    result = kernel(torch.ones(4).double(), torch.ones(4).double(), **grid(4, shapes=[[4]]))
    assert result.dtype == torch.float64 and result.tolist() == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="outside the 32-bit int range"):
        kernel(torch.tensor([2**40]), torch.tensor([0]), **grid(1, shapes=[[1]]))


@pytest.mark.parametrize("dtype", [torch.bool, torch.complex64, torch.float8_e5m2], ids=str)
def test_types_without_a_metal_tensor(dtype):
    x = torch.zeros(4).to(dtype)
    for verify in (True, False):
        kernel = TorchMetalKernel("refused", ["x"], ["o"], "", copy, index, verify=verify)
        with pytest.raises(TypeError, match="kernel input at index 0 has unsupported dtype"):
            kernel(x, **grid(4, shapes=[[4]]))

    def to_type(x: torch.Tensor) -> torch.Tensor:
        return x.to(dtype)

    with pytest.raises(TypeError, match="Result type at index 0 has unsupported dtype"):
        TorchMetalKernel("refused", ["x"], ["o"], "", to_type, index)(torch.zeros(4), **grid(4, shapes=[[4]]))


def test_extents_are_the_shape_reversed():
    def shape(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([*reversed(x.shape), x.dim()], dtype=torch.int32)

    source = "for (uint i = 0; i < x.get_rank(); ++i) o[i] = x.get_extent(i); o[3] = x.get_rank();"
    kernel = TorchMetalKernel("shape", ["x"], ["o"], source, shape, index)
    assert kernel(torch.zeros(2, 3, 5), **grid(1, shapes=[[4]])).tolist() == [5, 3, 2, 3]


def test_views_and_three_dimensions():
    kernel = TorchMetalKernel(
        "identity", ["x"], ["o"],
        "metal::array<uint, x.get_rank()> at = {id.x, id.y, id.z}; o[at] = x[id.x, id.y, id.z];",
        copy, [MetalParameter("id", "uint3", "thread_position_in_grid")],
    )  # fmt: skip
    x = torch.randn(6, 4, 10)[::2].transpose(0, 1)  # 4, 3, 10, with gaps
    torch.testing.assert_close(kernel(x, **grid(10, 3, 4, shapes=[[4, 3, 10]])), x, rtol=0, atol=0)


def test_tensors_without_dimensions():
    def total(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return x.sum() * scale

    source = "float sum = 0; for (int i = 0; i < x.get_extent(0); ++i) sum += x[i]; o[] = sum * scale;"
    kernel = TorchMetalKernel("total", ["x", "scale"], ["o"], source, total)
    assert kernel(torch.arange(5.0), torch.tensor(2.0), **grid(1, shapes=[[]])).item() == 20


def test_nothing_to_compute():
    empty = torch.empty(0)
    assert vector_add()(empty, empty, **grid(1, shapes=[[0]])).shape == (0,)


def test_no_inputs():
    def seven() -> torch.Tensor:
        return torch.full((4,), 7.0)

    kernel = TorchMetalKernel("seven", [], ["o"], "o[id] = 7;", seven, index)
    assert kernel(**grid(4, shapes=[[4]])).tolist() == [7, 7, 7, 7]


def test_tiles_in_threadgroup_memory():
    kernel = TorchMetalKernel(
        "tiled", ["A", "B"], ["C"],
        """
        constexpr int T = 4;
        threadgroup float a[T][T], b[T][T];
        const int size = A.get_extent(0);
        float sum = 0;
        for (int k = 0; k < size; k += T) {
          a[at.y][at.x] = k + at.x < size ? A.get(int(k + at.x), int(id.y)) : 0;
          b[at.y][at.x] = k + at.y < size ? B.get(int(id.x), int(k + at.y)) : 0;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          for (int i = 0; i < T; ++i) sum += a[at.y][i] * b[i][at.x];
          threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        C.set(sum, int(id.x), int(id.y));
        """,
        matmul,
        [*index2, MetalParameter("at", "uint2", "thread_position_in_threadgroup")],
    )  # fmt: skip
    A, B = torch.randn(6, 10), torch.randn(10, 7)
    torch.testing.assert_close(kernel(A, B, **grid(8, 8, group=(4, 4, 1), shapes=[[6, 7]])), A @ B)


def test_two_kernels_of_one_name():
    first = vector_add("twin", "output[id] = x[id] + y[id];")
    second = vector_add("twin", "output[id] = y[id] + x[id] + 0;")
    x = torch.ones(2)
    for kernel in (first, second, first):
        assert kernel(x, x, **grid(2, shapes=[[2]])).tolist() == [2, 2]


def test_compile_errors_are_the_compilers():
    with pytest.raises(SyntaxError, match="use of undeclared identifier 'z'"):
        vector_add("undeclared", "output[id] = x[id] + z;")(torch.ones(2), torch.ones(2), **grid(2, shapes=[[2]]))


def test_launch_errors():
    kernel, x = vector_add("launch"), torch.ones(4)
    with pytest.raises(ValueError, match=r"threads_per_grid must be a 3-tuple, got 2 elements: \(4, 1\)"):
        kernel(x, x, threads_per_grid=(4, 1), threads_per_thread_group=(1, 1, 1), result_shapes=[[4]])
    with pytest.raises(ValueError, match=r"threads_per_thread_group must be a 3-tuple, got 1 elements: \(1,\)"):
        kernel(x, x, threads_per_grid=(4, 1, 1), threads_per_thread_group=(1,), result_shapes=[[4]])
    with pytest.raises(ValueError, match=r"expected 1 \(for \['output'\]\), got 2"):
        kernel(x, x, **grid(4, shapes=[[4], [4]]))
    with pytest.raises(RuntimeError, match="to type uint32 without overflow"):
        kernel(x, x, **grid(2**32, shapes=[[4]]))
    with pytest.raises(metalloid.Error, match="limit of 1024"):
        kernel(x, x, **grid(4, group=(64, 32, 1), shapes=[[4]]))
    with pytest.raises(metalloid.Error, match="at least 1"):
        kernel(x, x, **grid(0, shapes=[[4]]))
    with pytest.raises(RuntimeError, match=r"takes 2 inputs \['x', 'y'\], got 1"):
        kernel(x, **grid(4, shapes=[[4]]))
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor'"):
        kernel(x, 3.0, **grid(4, shapes=[[4]]))


def test_a_crash_is_an_error():
    kernel = vector_add("crash", "output[id] = x[id * 1000000000u];")
    with pytest.raises(metalloid.Error, match="crash"):
        kernel(torch.ones(4), torch.ones(4), **grid(4, shapes=[[4]]))


def call_add(kernel, x, y):
    return kernel(x, y, **grid(x.shape[0], group=(32, 1, 1), shapes=[list(x.shape)])) * 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_torch_compile(backend, dynamic):
    kernel = vector_add("compiled")
    function = torch.compile(lambda x, y: call_add(kernel, x, y), fullgraph=True, backend=backend, dynamic=dynamic)
    for size in (5, 40):
        x, y = torch.randn(size), torch.randn(size)
        torch.testing.assert_close(function(x, y), (x + y) * 2)


def test_torch_compile_with_several_results():
    kernel = TorchMetalKernel(
        "compiled_sincos", ["x"], ["s", "c"], "s[id] = sin(x[id]); c[id] = cos(x[id]);", sin_cos_tuple, index
    )

    def function(x):
        s, c = kernel(x, **grid(8, shapes=[[8], [8]]))
        return s * s + c * c

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(torch.randn(8)), torch.ones(8))


def test_torch_export_with_a_dynamic_shape():
    kernel = vector_add("exported")

    class Model(torch.nn.Module):
        def forward(self, x, y):
            return call_add(kernel, x, y)

    size = torch.export.Dim("size", min=2, max=100)
    program = torch.export.export(
        Model(), (torch.randn(8), torch.randn(8)), dynamic_shapes={"x": {0: size}, "y": {0: size}}
    )
    assert [node for node in program.graph.nodes if "metalloid_kernels.exported" in str(node.target)]
    x, y = torch.randn(31), torch.randn(31)
    torch.testing.assert_close(program.module()(x, y), (x + y) * 2)


def test_it_is_a_proper_operator():
    def scaled(x: torch.Tensor, n: int, s: float, b: bool) -> list[torch.Tensor]:
        return [x * n, x * s]

    kernel = TorchMetalKernel(
        "proper", ["x", "n", "s", "b"], ["a", "c"], "a[id] = x[id] * n; c[id] = x[id] * s;", scaled, index
    )
    torch.library.opcheck(
        kernel.torch_custom_op, (torch.randn(6), 2, 0.5, True, [6, 1, 1], [2, 1, 1], [6], [6])
    )


def test_in_a_branch_of_a_condition():
    kernel = vector_add("in_a_branch")

    class Model(torch.nn.Module):
        def forward(self, flag, x):
            return torch.cond(flag, lambda x: kernel(x, x, **grid(4, shapes=[[4]])), lambda x: x - 1, (x,))

    model = torch.export.export(Model(), (torch.tensor(True), torch.ones(4))).module()
    assert model(torch.tensor(True), torch.ones(4)).tolist() == [2, 2, 2, 2]
    assert model(torch.tensor(False), torch.ones(4)).tolist() == [0, 0, 0, 0]


def test_models_that_hold_a_kernel_can_be_copied():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kernel = vector_add("held")

        def forward(self, x):
            return self.kernel(x, x, **grid(4, shapes=[[4]]))

    assert copy_module.deepcopy(Model())(torch.ones(4)).tolist() == [2, 2, 2, 2]


def test_tensors_without_data():
    x = torch.empty(4, device="meta")
    result = vector_add("meta")(x, x, **grid(4, shapes=[[4]]))
    assert result.device.type == "meta" and result.shape == (4,)


def test_calls_from_several_threads():
    kernel = vector_add("threads")

    def call(seed):
        x = torch.full((64,), float(seed))
        return kernel(x, x, **grid(64, group=(32, 1, 1), shapes=[[64]]))[0].item() == 2 * seed

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, range(40)))
