"""metalloid against Core AI's own TorchMetalKernel: the same errors, the same generated source, and its kernels run."""

import inspect
import itertools
import re
import typing
import warnings

import pytest

import metalloid

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it names the newest torch that it was tried with
    coreai_torch = pytest.importorskip("coreai_torch")

numbers = itertools.count()


def fresh(name):
    """Core AI's operators must not be defined twice."""
    return f"{name}{next(numbers)}"


index = [("id", "uint", "thread_position_in_grid")]
index2 = [("id", "uint2", "thread_position_in_grid")]
index3 = [("id", "uint3", "thread_position_in_grid"), ("at", "uint3", "thread_position_in_threadgroup")]


def both(name="k", params=index, **keywords):
    """The same kernel of Core AI's class and of ours."""
    keywords = {"name": fresh(name) if name == "k" else name, **keywords}
    theirs = coreai_torch.TorchMetalKernel(
        metal_params=None if params is None else [coreai_torch.MetalParameter(*each) for each in params], **keywords
    )
    ours = metalloid.TorchMetalKernel(
        metal_params=None if params is None else [metalloid.MetalParameter(*each) for each in params], **keywords
    )
    return theirs, ours


def copy(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def scaled(x: torch.Tensor, n: int, s: float, b: bool) -> torch.Tensor:
    return x * n * s


def scalar_first(n: int, x: torch.Tensor) -> torch.Tensor:
    return x + n


def pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x + 1, x + 2


def several(x: torch.Tensor) -> list[torch.Tensor]:
    return [x + 1, x + 2]


def nothing() -> torch.Tensor:
    return torch.zeros(4)


def quoted(x: "torch.Tensor") -> "torch.Tensor":
    return x.clone()


def typing_list(x: torch.Tensor) -> typing.List[torch.Tensor]:  # noqa: UP006
    return [x.clone()]


def total(x: torch.Tensor) -> torch.Tensor:
    return x.sum()


def no_annotation(x) -> torch.Tensor:
    return x


def no_return(x: torch.Tensor):
    return x


def text_input(x: str) -> torch.Tensor:
    return x


def optional_input(x: typing.Optional[torch.Tensor]) -> torch.Tensor:  # noqa: UP045
    return x


def returns_int(x: torch.Tensor) -> int:
    return 1


def returns_list(x: torch.Tensor) -> list:
    return [x]


def returns_ints(x: torch.Tensor) -> list[int]:
    return [1]


def returns_any_tuple(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (x,)


def returns_mixed(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    return x, 1


def variadic(*x: torch.Tensor) -> torch.Tensor:
    return x[0]


def keywords_only(**x: torch.Tensor) -> torch.Tensor:
    return x["x"]


def with_default(x: torch.Tensor, n: int = 3) -> torch.Tensor:
    return x


def keyword_only(x: torch.Tensor, *, n: int) -> torch.Tensor:
    return x


def takes_grid(x: torch.Tensor, threads_per_grid: int) -> torch.Tensor:
    return x


bad = {
    "empty name": {"name": ""},
    "blank name": {"name": "  "},
    "no name": {"name": None},
    "no results": {"result_names": []},
    "input twice": {"input_names": ["x", "x"], "torch_defn": add},
    "result twice": {"result_names": ["o", "o"]},
    "input and result": {"result_names": ["x"]},
    "too many inputs": {"input_names": ["x", "y"]},
    "too few inputs": {"torch_defn": add},
    "not callable": {"torch_defn": 3},
    "lambda": {"torch_defn": lambda x: x},
    "one result for two": {"torch_defn": pair},
    "three results for two": {"torch_defn": pair, "result_names": ["a", "b", "c"]},
    "two results for one": {"result_names": ["a", "b"]},
    "unknown template": {"template_dtypes": {"z": "T"}},
    "template of a result": {"template_dtypes": {"o": "T"}},
    "template twice": {"torch_defn": add, "input_names": ["x", "y"], "template_dtypes": {"x": "T", "y": "T"}},
    **{
        definition.__name__: {"torch_defn": definition}
        for definition in (
            no_annotation, no_return, text_input, optional_input, returns_int, returns_list, returns_ints,
            returns_any_tuple, returns_mixed, variadic, keywords_only,
        )
    },
    "default": {"torch_defn": with_default, "input_names": ["x", "n"]},
    "keyword only": {"torch_defn": keyword_only, "input_names": ["x", "n"]},
    "clash": {"torch_defn": takes_grid, "input_names": ["x", "threads_per_grid"]},
}  # fmt: skip

plain = {"input_names": ["x"], "result_names": ["o"], "src": "o[id] = x[id];", "torch_defn": copy}


def are_the_same(original, ours):
    """Where Apple's class lets Python complain about an inner object, ours names the argument."""
    if original[1].endswith(("has no len()", "is not a callable object")):
        return ours[0] is original[0] and "must be" in ours[1]
    return ours == original


@pytest.mark.parametrize("changes", bad.values(), ids=bad)
def test_constructor_errors_are_the_same(changes):
    errors = []
    for kind in (coreai_torch.TorchMetalKernel, metalloid.TorchMetalKernel):
        with pytest.raises((ValueError, TypeError)) as caught:
            kind(**{"name": fresh("bad"), **plain, **changes})
        errors.append((caught.type, str(caught.value)))
    assert are_the_same(*errors), errors


@pytest.mark.parametrize("name", ["a b", "1a", "a-b"])
def test_names_that_are_no_identifiers(name):
    """Core AI's class leaves them to PyTorch, whose error this is."""
    for kind in (coreai_torch.TorchMetalKernel, metalloid.TorchMetalKernel):
        with pytest.raises(RuntimeError):
            kind(name=name, **plain)


def test_interfaces_are_the_same():
    def public(function):
        return [
            (parameter.name, parameter.default)
            for parameter in inspect.signature(function).parameters.values()
            if parameter.name not in ("verify", "rtol", "atol")
        ]

    assert public(metalloid.TorchMetalKernel) == public(coreai_torch.TorchMetalKernel)
    assert public(metalloid.TorchMetalKernel.__call__) == public(coreai_torch.TorchMetalKernel.__call__)
    assert public(metalloid.MetalParameter) == public(coreai_torch.MetalParameter)
    arguments = ("id", "uint", "thread_position_in_grid")
    assert repr(metalloid.MetalParameter(*arguments)) == repr(coreai_torch.MetalParameter(*arguments))


call_errors = {
    "grid of two": {"threads_per_grid": (4, 1)},
    "grid of four": {"threads_per_grid": (4, 1, 1, 1)},
    "grid of none": {"threads_per_grid": None},
    "grid is a number": {"threads_per_grid": 4},
    "group of one": {"threads_per_thread_group": (4,)},
    "group of none": {"threads_per_thread_group": None},
    "huge grid": {"threads_per_grid": (2**32, 1, 1)},
    "no shapes": {"result_shapes": []},
    "two shapes": {"result_shapes": [[4], [4]]},
    "no shape list": {"result_shapes": None},
}


@pytest.mark.parametrize("changes", call_errors.values(), ids=call_errors)
def test_call_errors_are_the_same(changes):
    call = {"threads_per_grid": (4, 1, 1), "threads_per_thread_group": (1, 1, 1), "result_shapes": [[4]], **changes}
    errors = []
    for kernel in both(**plain):
        with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
            kernel(torch.ones(4), **call)
        errors.append((caught.type, str(caught.value)))
    assert are_the_same(*errors), errors


def body(**changes):
    return {**plain, **changes}


T = {"x": "TYPE"}
templated = body(src="TYPE v = x[id]; o[id] = v; // TYPEs", template_dtypes=T)
number = body(input_names=["x", "n", "s", "b"], torch_defn=scaled, src="o[id] = x[id] * n * s;")
ones = torch.ones


def case(kernel, *args, shapes=None, params=index):
    return kernel, args, shapes or [list(args[0].shape)], params


sources = {
    **{
        f"type {str(dtype)[6:]}": case(templated, ones(4).to(dtype))
        for dtype in (
            torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int32,
            torch.int64, torch.uint8, torch.uint16, torch.uint32,
        )
    },
    **{f"rank {len(shape)}": case(plain, ones(shape)) for shape in ([1], [3, 4], [2, 3, 4], [1, 2, 3, 4], [2] * 6)},
    **{
        f"scalars {n} {s} {b}": case(number, ones(4), n, s, b)
        for n, s, b in (
            (0, 0.0, True), (-7, 1e-5, False), (2**31 - 1, 1e30, True), (-(2**31), -0.0, False), (1, 1 / 3, True),
            (2, 123456789.0, False), (3, 1e16, True), (4, 1e-40, False), (True, 3, 1),
        )
    },
    "scalar templates": case({**number, "src": "TN TS TB", "template_dtypes": {"n": "TN", "s": "TS", "b": "TB"}},
                             ones(4), 1, 2.0, True),
    "scalar first": case(body(input_names=["n", "x"], torch_defn=scalar_first, src="\n  o[id] = x[id] + n;\n"), 3,
                         ones(4), shapes=[[4]]),
    "no inputs": case(body(input_names=[], torch_defn=nothing, src="o[id] = 0;"), shapes=[[4]]),
    "no body": case(body(src=""), ones(4)),
    "no parameters": case(plain, ones(4), params=None),
    "two parameters": case(body(src="o[id.x, id.y, id.z] = x[id.x, id.y, id.z];"), ones(2, 2, 2), params=index3),
    "helpers": case(body(helper_src="inline TYPE same(TYPE v) { return v; }\n", src="o[id] = same(x[id]);",
                         template_dtypes=T), ones(4).half()),
    "nested templates": case(body(input_names=["x", "y"], torch_defn=add, src="TT a; TTB b; T c;",
                                  helper_src="TTB T TT", template_dtypes={"y": "TTB", "x": "TT"}),
                             ones(4).half(), ones(4)),
    "tuple": case(body(torch_defn=pair, result_names=["a", "b"]), ones(3, 4), shapes=[[3, 4], [3, 4]]),
    "list": case(body(torch_defn=several, result_names=["a", "b"]), ones(4).half(), shapes=[[4], [4]]),
    "typing list": case(body(torch_defn=typing_list), ones(4)),
    "quoted annotations": case(body(torch_defn=quoted), ones(4)),
    "input without dimensions": case(body(input_names=["x", "y"], torch_defn=add, src="o[id] = x[id] + y;"), ones(4),
                                     torch.tensor(2.0)),
    "result without dimensions": case(body(torch_defn=total, src="o[] = 1;"), ones(4), shapes=[[]]),
    "view": case(plain, ones(4, 3).t()),
    "special characters": case(body(src='o[id] = x[id]; // \\ " { } {x} %s $x \t é \n#define A \\\n  1\n'), ones(4)),
}  # fmt: skip


@pytest.mark.parametrize(("keywords", "args", "shapes", "params"), sources.values(), ids=sources)
def test_the_source_is_the_converters(keywords, args, shapes, params):
    theirs, ours = both(params=params, **keywords)
    their_name, their_source = metalloid.coreai.converted_source(
        theirs, *args, threads_per_grid=(4, 1, 1), threads_per_thread_group=(1, 1, 1), result_shapes=shapes
    )
    our_name, our_source = ours.metal_source(*args, result_shapes=shapes)
    letters = re.compile(r"[a-z]{8}")
    assert letters.fullmatch(their_name.removeprefix(theirs.name + "_"))
    assert letters.fullmatch(our_name.removeprefix(ours.name + "_"))
    assert our_source.count(our_name) == 1
    assert our_source.replace(our_name, "KERNEL") == their_source.replace(their_name, "KERNEL")


def test_more_parameters_than_metal_has():
    def many(x: torch.Tensor) -> list[torch.Tensor]:
        return [x + i for i in range(30)]

    theirs, ours = both(**body(torch_defn=many, result_names=[f"r{i}" for i in range(30)], src=""))
    call = {"threads_per_grid": (4, 1, 1), "threads_per_thread_group": (1, 1, 1), "result_shapes": [[4]] * 30}
    with pytest.raises(ValueError, match="metal kernels support 31 inputs, got 32"):
        metalloid.coreai.converted_source(theirs, ones(4), **call)
    with pytest.raises(ValueError, match="metal kernels support 31 inputs, got 32"):
        ours(ones(4), **call)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e5m2, torch.float8_e4m3fn], ids=str)
def test_element_types_that_both_refuse(dtype):
    theirs, ours = both(**body(src=""))
    call = {"threads_per_grid": (4, 1, 1), "threads_per_thread_group": (1, 1, 1), "result_shapes": [[4]]}
    x = torch.zeros(4).to(dtype)
    with pytest.raises(TypeError) as theirs_error:
        metalloid.coreai.converted_source(theirs, x, **call)
    with pytest.raises(TypeError) as ours_error:
        ours(x, **call)
    assert str(ours_error.value) == str(theirs_error.value)


# ---- verify: Core AI's kernels run ----


def grid(*extents, group=(1, 1, 1), shapes):
    return {
        "threads_per_grid": (*extents, 1, 1)[:3],
        "threads_per_thread_group": group,
        "result_shapes": shapes,
    }


def their_kernel(name, inputs, results, src, definition, params=index, **keywords):
    params = [coreai_torch.MetalParameter(*each) for each in params]
    return coreai_torch.TorchMetalKernel(fresh(name), inputs, results, src, definition, params, **keywords)


def test_verify_runs_the_converted_source():
    kernel = their_kernel("add", ["x", "y"], ["o"], "o[id] = x[id] + y[id];", add)
    x, y = torch.randn(40), torch.randn(40)
    verification = metalloid.coreai.verify(kernel, x, y, **grid(40, group=(32, 1, 1), shapes=[[40]]))
    torch.testing.assert_close(verification.results[0], x + y)
    assert verification.kernel_name in verification.source
    assert [comparison.matches for comparison in verification.comparisons] == [True]


def sin_cos(x: torch.Tensor) -> list[torch.Tensor]:
    return [torch.sin(x), torch.cos(x)]


def test_verify_finds_swapped_results():
    """The sum of both results, which is what a test easily checks, is right."""
    source = "output_sin[id] = cos(x[id]); output_cos[id] = sin(x[id]);"
    kernel = their_kernel("sincos", ["x"], ["output_sin", "output_cos"], source, sin_cos)
    with pytest.raises(metalloid.VerificationError, match="2 of 2 results differ") as caught:
        metalloid.coreai.verify(kernel, torch.randn(16), **grid(16, shapes=[[16], [16]]))
    assert "output_sin: 16 of 16" in str(caught.value) and "output_cos: 16 of 16" in str(caught.value)


def matmul(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    return A @ B


matmul_types = [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.int32]


@pytest.mark.parametrize("dtype", matmul_types, ids=str)
def test_verify_a_matrix_product(dtype):
    source = (
        "TYPE sum = 0; for (int k = 0; k < A.get_extent(0); ++k) sum += A[k, id.y] * B[id.x, k]; C[id.x, id.y] = sum;"
    )
    kernel = their_kernel("matmul", ["A", "B"], ["C"], source, matmul, index2, template_dtypes={"A": "TYPE"})
    A, B = torch.randint(0, 3, (5, 7)).to(dtype), torch.randint(0, 3, (7, 4)).to(dtype)
    metalloid.coreai.verify(kernel, A, B, **grid(4, 5, group=(2, 2, 1), shapes=[[5, 4]]))


def test_verify_scalars_and_64_bit_inputs():
    kernel = their_kernel("scaled", ["x", "n", "s", "b"], ["o"], "o[id] = b ? x[id] * n * s : 0;", scaled)
    for x in (torch.randn(8), torch.randn(8).double()):
        metalloid.coreai.verify(kernel, x, 3, 0.25, True, **grid(8, shapes=[[8]]))


def test_verify_a_definition_that_returns_its_input():
    """Core AI's class refuses to compute it, but converts it."""

    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    kernel = their_kernel("same", ["x"], ["o"], "o[id] = x[id];", same)
    with pytest.raises(RuntimeError, match="must not also be an input"):
        kernel(ones(8), **grid(8, shapes=[[8]]))
    metalloid.coreai.verify(kernel, ones(8), **grid(8, shapes=[[8]]))


def test_verify_finds_too_small_grids():
    kernel = their_kernel("small", ["x"], ["o"], "o[id] = x[id];", copy)
    with pytest.raises(metalloid.VerificationError, match="2 were never written"):
        metalloid.coreai.verify(kernel, ones(8), **grid(6, shapes=[[8]]))


def test_verify_finds_writes_to_inputs():
    kernel = their_kernel("writes", ["x"], ["o"], "o[id] = x[id]; x[id] = 0;", copy)
    x = ones(8)
    with pytest.raises(metalloid.VerificationError, match="writes to its input 'x'"):
        metalloid.coreai.verify(kernel, x, **grid(8, shapes=[[8]]))
    assert x.tolist() == [1] * 8


def test_verify_shows_the_compilers_errors():
    """Core AI's runtime says only that the kernel was invoked with invalid parameters."""
    kernel = their_kernel("wrong", ["x"], ["o"], "o[id] = y[id];", copy)
    with pytest.raises(SyntaxError, match="use of undeclared identifier 'y'"):
        metalloid.coreai.verify(kernel, ones(8), **grid(8, shapes=[[8]]))


def test_verify_checks_the_launch():
    kernel = their_kernel("large", ["x"], ["o"], "o[id] = x[id];", copy)
    with pytest.raises(metalloid.Error, match="limit of 1024"):
        metalloid.coreai.verify(kernel, ones(8), **grid(8, group=(2048, 1, 1), shapes=[[8]]))
