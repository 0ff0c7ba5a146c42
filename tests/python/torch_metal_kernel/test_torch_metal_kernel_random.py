"""Random kernels, of Core AI's own TorchMetalKernel and of ours: the same source, shapes and graphs, and right results.

Every kernel sums its inputs at cyclic linear positions, in small whole numbers, so that each element type is exact.
"""

import dataclasses
import itertools
import keyword
import math
import typing
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import metalloid

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it names the newest torch that it was tried with
    coreai_torch = pytest.importorskip("coreai_torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

ELEMENT_TYPES = [
    torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.uint8, torch.uint16, torch.uint32,
]  # fmt: skip
# No keyword of Metal among them; Python's do not matter.
NAMES = ["x", "A", "input", "self", "args", "data", "shape", "result", "rank", "extent_0", "device_", "X", "x_", "_x"]
NAMES += [word for word in keyword.kwlist if word[0] in "ailnpr" and word not in ("and", "in", "if", "import", "not")]
NAMES = [name for name in NAMES if name not in ("return", "or")]
numbers = itertools.count()


@dataclasses.dataclass
class Input:
    name: str
    value: object  # a tensor, int, float or bool
    placeholder: str | None

    @property
    def annotation(self):
        return torch.Tensor if isinstance(self.value, torch.Tensor) else type(self.value)

    def element(self, at: str) -> str:
        """The Metal expression of the element at a linear position, cyclically."""
        if self.annotation is not torch.Tensor or self.value.dim() == 0:
            return f"float({self.name})"
        return f"float({subscripted(self.name, self.value.shape, f'({at} % {self.value.numel()})')})"


@dataclasses.dataclass
class Result:
    name: str
    shape: list[int]
    dtype: torch.dtype


@dataclasses.dataclass
class Case:
    inputs: list[Input]
    results: list[Result]
    container: type  # list or tuple; torch.Tensor for a single result
    threads: int  # 0: no thread attribute at all
    group: int
    helper: bool

    @property
    def args(self):
        return [each.value for each in self.inputs]

    @property
    def call(self):
        return {
            "threads_per_grid": (max(self.threads, 1), 1, 1),
            "threads_per_thread_group": (self.group, 1, 1),
            "result_shapes": [result.shape for result in self.results],
        }

    def definition(self):
        inputs, results, container = self.inputs, self.results, self.container

        def defined(*values):
            out = []
            for number, result in enumerate(results):
                at = torch.arange(math.prod(result.shape))
                total = torch.full((len(at),), float(number) * (2 if self.helper else 1))
                for each, value in zip(inputs, values, strict=True):
                    if each.annotation is not torch.Tensor:
                        total = total + float(value)
                    elif each.value.numel():
                        total = total + value.to(torch.float32).reshape(-1)[at % each.value.numel()]
                    if each.placeholder:
                        total = total + 1
                out.append(total.reshape(result.shape).to(result.dtype))
            return out[0] if container is torch.Tensor else container(out)

        parameters = ", ".join(f"p{i}" for i in range(len(inputs)))
        scope = {"defined": defined}
        exec(f"def torch_defn({parameters}): return defined({parameters})", scope)
        function = scope["torch_defn"]
        function.__annotations__ = {f"p{i}": each.annotation for i, each in enumerate(inputs)}
        function.__annotations__["return"] = {
            list: list[torch.Tensor],
            tuple: tuple[(torch.Tensor,) * len(results)],
        }.get(container, torch.Tensor)
        return function

    def body(self):
        lines = []
        for number, result in enumerate(self.results):
            elements = [each.element("at") for each in self.inputs
                        if each.annotation is not torch.Tensor or each.value.numel()]  # fmt: skip
            elements += [f"float({each.placeholder}(1))" for each in self.inputs if each.placeholder]
            first = f"twice({number})" if self.helper else str(number)
            cast = "bfloat" if result.dtype == torch.bfloat16 else ""  # the only one that Metal does not imply
            start = "position" if self.threads else "0"
            lines += [
                f"for (int at = {start}; at < {math.prod(result.shape)}; at += {max(self.threads, 1)}) {{",
                f"  float total = {' + '.join([first, *elements])};",
                f"  {subscripted(result.name, result.shape, 'at')} = {cast}(total);",
                "}",
            ]
        return "\n".join(lines)

    def keywords(self, parameter):
        placeholders = {each.name: each.placeholder for each in self.inputs if each.placeholder}
        return {
            "name": f"random{next(numbers)}",
            "input_names": [each.name for each in self.inputs],
            "result_names": [result.name for result in self.results],
            "src": self.body(),
            "torch_defn": self.definition(),
            "metal_params": [parameter("position", "uint", "thread_position_in_grid")] if self.threads else None,
            "helper_src": "inline float twice(float v) { return v + v; }" if self.helper else None,
            "template_dtypes": placeholders or None,
        }


def subscripted(name: str, shape: typing.Sequence[int], position: str) -> str:
    indices, stride = [], 1
    for extent in reversed(shape):
        indices.append(f"{position} / {stride} % {extent}")
        stride *= max(extent, 1)
    return f"{name}[{', '.join(indices)}]"


@st.composite
def cases(draw):
    shapes = st.lists(st.integers(0, 3) if draw(st.booleans()) else st.integers(1, 3), max_size=6)
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=16, unique=True))
    result_count = draw(st.integers(1, min(len(names), 8)))
    inputs = []
    for number, name in enumerate(names[result_count : result_count + 8]):
        kind = draw(st.sampled_from([torch.Tensor] * 3 + [int, float, bool]))
        value = kind(draw(st.integers(0, 3))) if kind is not torch.Tensor else None
        if kind is torch.Tensor:
            shape = draw(shapes)
            value = (torch.arange(math.prod(shape)) * 7 % 4).to(draw(st.sampled_from(ELEMENT_TYPES))).reshape(shape)
            if draw(st.booleans()) and len(shape) > 1:
                value = value.transpose(0, -1).contiguous().transpose(0, -1)
        inputs.append(Input(name, value, f"TYPE{number}_" if draw(st.booleans()) else None))
    results = [Result(name, draw(shapes), draw(st.sampled_from(ELEMENT_TYPES))) for name in names[:result_count]]
    containers = [list, tuple] + ([torch.Tensor] if result_count == 1 else [])
    threads = draw(st.sampled_from([0, 1, 5, 64]))
    return Case(inputs, results, draw(st.sampled_from(containers)), threads, draw(st.sampled_from([1, 3, 32])),
                draw(st.booleans()))  # fmt: skip


class Model(torch.nn.Module):
    def __init__(self, kernel, case):
        super().__init__()
        self.kernel, self.case = kernel, case

    def forward(self, *tensors):
        remaining = iter(tensors)
        args = [next(remaining) if isinstance(value, torch.Tensor) else value for value in self.case.args]
        return self.kernel(*args, **self.case.call)


def described(value):
    """A result's structure, element types and shapes."""
    if isinstance(value, (list, tuple)):
        return type(value), [described(each) for each in value]
    return value.dtype, tuple(value.shape)


def fake_results(kernel, case):
    with FakeTensorMode() as mode:
        args = [mode.from_tensor(value) if isinstance(value, torch.Tensor) else value for value in case.args]
        return described(kernel(*args, **case.call))


def exported(kernel, case):
    tensors = tuple(value for value in case.args if isinstance(value, torch.Tensor))
    return torch.export.export(Model(kernel, case).eval(), tensors)


def flat(results):
    return [results] if isinstance(results, torch.Tensor) else list(results)


def check(case):
    theirs = coreai_torch.TorchMetalKernel(**case.keywords(coreai_torch.MetalParameter))
    ours = metalloid.TorchMetalKernel(**case.keywords(metalloid.MetalParameter), verify=True)
    expected = ours._torch_defn(*case.args)

    shapes = [value.shape for value in case.args if isinstance(value, torch.Tensor)] + case.call["result_shapes"]
    if all(0 not in shape for shape in shapes):  # the converter refuses them
        verification = metalloid.coreai.verify(theirs, *case.args, **case.call)
        name, source = ours.metal_source(*case.args, result_shapes=case.call["result_shapes"])
        assert source.replace(name, "NAME") == verification.source.replace(verification.kernel_name, "NAME")

    results = ours(*case.args, **case.call)
    assert described(results) == described(expected)
    assert all(torch.equal(a, b) for a, b in zip(flat(results), flat(expected), strict=True))
    assert described(theirs(*case.args, **case.call)) == described(results)
    assert fake_results(ours, case) == fake_results(theirs, case) == described(expected)

    programs = [exported(ours, case), exported(theirs, case)]
    outputs = [[described(node.meta["val"]) for node in program.graph.nodes if str(node.target).count("random")]
               for program in programs]  # fmt: skip
    if case.container is not tuple or len(case.results) > 1:  # a tuple of one is a tensor in our graphs
        assert outputs[0] == outputs[1]
    tensors = [value for value in case.args if isinstance(value, torch.Tensor)]
    again = programs[0].run_decompositions().module()(*tensors)
    assert all(torch.equal(a, b) for a, b in zip(flat(again), flat(expected), strict=True))


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cases())
def test_random_kernels(case):
    check(case)
