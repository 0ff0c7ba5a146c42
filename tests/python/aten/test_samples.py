"""metalloid aten test: samples of the contributor's, samples that it makes itself, and why there is none."""

import re

import pytest
import torch_processes

pytest.importorskip("torch")

from metalloid.aten import new


def table(output):
    """What is said of each type."""
    found = re.findall(r"^(\w+) +(yes|no|\?) +(\d+)/(\d+) +(\d+)/(\d+) +(\d+)/(\d+)", output, re.MULTILINE)
    return {name: (registered, *map(int, numbers)) for name, registered, *numbers in found}


def aten_test(folder, *arguments):
    return torch_processes.run(["-m", "metalloid.aten", "test", folder, *arguments], timeout=1200)


def change(folder, place, *changes):
    file = folder / "aten/src/ATen/native" / place
    text = file.read_text()
    for before, after in changes:
        assert before in text, f"{file}: {before}"
        text = text.replace(before, after)
    file.write_text(text)


# With a number that has no default: out = self * by.
SCALED = {
    "native_functions.yaml": [
        ("Tensor self)", "Tensor self, Scalar by)"), ("self, *, Tensor(a!)", "self, Scalar by, *, Tensor(a!)"),
        ("  tags: pointwise\n", ""),
    ],
    "{}.h": [("(*)(TensorIteratorBase&)", "(*)(TensorIteratorBase&, const c10::Scalar&)"), ("#include <ATen", "#include <c10/core/Scalar.h>\n#include <ATen")],
    "{}.cpp": [("Tensor& self", "Tensor& self, const Scalar& by"), ("*this)", "*this, by)")],
    "cpu/{}Kernel.cpp": [
        ("TensorIteratorBase& iter)", "TensorIteratorBase& iter, const c10::Scalar& by)"),
        ("cpu_kernel(iter, []", "const double factor = by.to<double>();\n    cpu_kernel(iter, [factor]"),
        ("return self;", "return self * factor;"),
    ],
    "mps/operations/{}.cpp": [
        ("TensorIteratorBase& iter)", "TensorIteratorBase& iter, const Scalar& by)"), ('"{}")', '"{}", by)'),
    ],
    "mps/kernels/{}.metal": [
        ("operator()(const T self)", "operator()(const T self, const T by)"), ("return self;", "return T(float(self) * float(by));"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def scaled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scaled")
    new.write("scaled", 1, folder, cpp=True)
    for place, changes in SCALED.items():
        change(folder, place.format("scaled"), *((one.format("scaled"), other.format("scaled")) for one, other in changes))
    kernel = folder / "aten/src/ATen/native/mps/kernels/scaled.metal"
    text = re.sub(r"(?s)  template <typename T, enable_if_t<is_integral_v.*?  }\n", "", kernel.read_text())
    text = re.sub(r"REGISTER_UNARY_OP\(scaled, \w+, \w+\);\n", "", text)
    kernel.write_text(text + "\n".join(f"REGISTER_UNARY_ALPHA_OP(scaled, {one}, {one}, {one});" for one in ("float", "half")) + "\n")
    derivatives = folder / "tools/autograd/derivatives.yaml"
    derivatives.write_text("- name: scaled(Tensor self, Scalar by) -> Tensor\n  self: grad * by\n")
    return folder


def test_numbers_without_defaults_get_values(scaled):
    done = aten_test(scaled)
    rows = table(done.stdout)
    for name in ("float32", "float16"):
        registered, ran, calls, right, _, right_gradients, gradients = rows[name]
        assert registered == "yes" and ran == calls == right > 10 and right_gradients == gradients > 8, done.stdout + done.stderr
    assert rows["bfloat16"][0] == "no" and "missing" in done.stdout
    assert "derivative" not in done.stdout, done.stdout


def test_a_wrong_derivative_is_found(scaled):
    file = scaled / "tools/autograd/derivatives.yaml"
    right = file.read_text()
    file.write_text(right.replace("grad * by", "grad * by * 1.01"))
    done = aten_test(scaled)
    file.write_text(right)
    assert done.returncode == 1 and "scaled, derivative: GradcheckError: Jacobian mismatch" in done.stdout, done.stdout + done.stderr


OPINFO = """
import torch
from torch.testing._internal.common_dtype import floating_types_and
from torch.testing._internal.opinfo.core import ErrorInput, OpInfo, SampleInput

def samples(op, device, dtype, requires_grad, **kwargs):
    for by in (2, -0.75, 3):
        x = torch.linspace(-1, 1, 30, device=device, dtype=dtype).reshape(5, 6).requires_grad_(requires_grad)
        yield SampleInput(x, args=(by,))

op_db = [
    OpInfo("scaled", op=torch.scaled, dtypes=floating_types_and(torch.float16), sample_inputs_func=samples, supports_out=True),
]
"""
FUNCTION = """
import torch
from torch.testing._internal.opinfo.core import SampleInput

def sample_inputs_scaled(op, device, dtype, requires_grad, **kwargs):
    for by in (2, -1):
        yield SampleInput(torch.ones(4, device=device, dtype=dtype, requires_grad=requires_grad), args=(by,))
"""


@pytest.mark.parametrize("place", ["opinfos.py", "torch/testing/_internal/common_methods_invocations.py"])
def test_an_opinfo_of_the_contributors(scaled, place):
    file = scaled / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(OPINFO)
    done = aten_test(scaled, *(["--opinfo", file] if place == "opinfos.py" else []))
    file.unlink()
    rows = table(done.stdout)
    registered, ran, calls, right, _, right_gradients, gradients = rows["float32"]
    # Its three samples have gradients; those that are made from the entry come besides.
    assert registered == "yes" and ran == calls == right > 15 and right_gradients == gradients == 3, done.stdout + done.stderr
    assert re.search(r"^int64 +no .* not a type of this operator$", done.stdout, re.MULTILINE), done.stdout
    assert done.returncode == 0


def test_samples_of_the_contributors_without_an_opinfo(scaled):
    file = scaled / "samples.py"
    file.write_text(FUNCTION)
    done = aten_test(scaled, "--opinfo", file)
    _, ran, calls, right, _, right_gradients, gradients = table(done.stdout)["float32"]
    assert ran == calls == right > 10 and right_gradients == gradients == 2, done.stdout + done.stderr


def test_a_file_that_does_not_run(scaled):
    file = scaled / "broken.py"
    file.write_text("import torch\n\nraise KeyError('broken')\n")
    done = aten_test(scaled, "--opinfo", file)
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"{file}:3: KeyError: 'broken'"


def test_why_nothing_was_tried(scaled, tmp_path):
    """An argument that no sample can be made for; and types that the CPU does not compute."""
    from metalloid.aten import checklist

    found, why = checklist.overloads("einsum", set(), {"einsum"})
    assert not found and why == "no value can be made for the argument 'str equation' of 'einsum'"
    found, why = checklist.overloads("add_", set(), {"add_.Tensor"})
    assert not found and why.startswith("none of its overloads is functional")
    found, _ = checklist.overloads("lerp", {"lerp"}, {"lerp.Scalar", "lerp.Tensor"})
    assert [(one.name, one.count, one.is_elementwise) for one in found] == [("lerp.Scalar", 2, True), ("lerp.Tensor", 3, True)]


def test_why_nothing_was_tried_is_said(scaled):
    file = scaled / "aten/src/ATen/native/scaled.cpp"
    right = file.read_text()
    change(scaled, "scaled.cpp", ("  scaled_stub(", '  TORCH_CHECK(device_type() != kCPU, "not here");\n  scaled_stub('))
    done = aten_test(scaled)
    file.write_text(right)
    assert done.returncode == 1
    assert "nothing was tried: the CPU, which results are compared with, computes no sample of 'scaled': RuntimeError: not here" in done.stdout


KERNEL = """
#include <c10/metal/indexing.h>
#include <metal_stdlib>
using namespace metal;

// Vectors are no complex numbers, and a kernel beside it says nothing of the operator's own types.
kernel void helper_float2(device float2* out, uint i [[thread_position_in_grid]]) { out[i] = float2(i); }
kernel void helper_bfloat(device bfloat* out, uint i [[thread_position_in_grid]]) { out[i] = bfloat(i); }
"""


def test_registered_is_what_runs(tmp_path):
    new.write("kept", 1, tmp_path, cpp=True)
    (tmp_path / "tools/autograd/derivatives.yaml").unlink()
    (kernel,) = tmp_path.rglob("kept.metal")
    text = "\n".join(line for line in kernel.read_text().splitlines() if "bfloat" not in line and "#include" not in line)
    kernel.write_text(KERNEL + text.replace("kept_functor {", "kept_functor {\n  inline float2 operator()(const float2 self) { return self; }") + "\n")
    change(tmp_path, "cpu/keptKernel.cpp", ("AT_DISPATCH_FLOATING_TYPES_AND2(", "AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2("))
    rows = table(aten_test(tmp_path).stdout)
    assert rows["float32"][0] == rows["int64"][0] == "yes" and rows["complex64"][0] == rows["bfloat16"][0] == "no"
    kernel.write_text(kernel.read_text() + "REGISTER_UNARY_OP(kept, float2, float2);\n")
    done = aten_test(tmp_path)
    registered, ran, calls, right, *_ = table(done.stdout)["complex64"]
    assert registered == "yes" and ran == calls == right > 10, done.stdout + done.stderr
