"""A folder that has only the files that a pull request changes, beside PyTorch's whole native_functions.yaml."""

import pathlib

import pytest
import torch_processes

pytest.importorskip("torch")
torchgen = pytest.importorskip("torchgen")

from metalloid.mps._plugin import operators  # noqa: E402

STUB = """\
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/UnfoldBackward.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
namespace at::native {
static void unfold_backward_mps(Tensor& grad_in, const Tensor& grad, int64_t, int64_t, int64_t) { grad_in.fill_(7); }
REGISTER_MPS_DISPATCH(unfold_backward_stub, &unfold_backward_mps)
}  // namespace at::native
"""
STRUCTURED = """\
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/ops/renorm_native.h>
namespace at::native {
TORCH_IMPL_FUNC(renorm_out_mps)
(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm, const Tensor& out) { out.fill_(3); }
}  // namespace at::native
"""
# As in PyTorch, a function of MPS's own, with an entry that the pull request changes.
OWN = """\
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/ops/roll_native.h>
namespace at::native {
Tensor roll_mps(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) { return self.clone().fill_(5); }
}  // namespace at::native
"""


@pytest.fixture
def folder(tmp_path):
    native = tmp_path / "aten" / "src" / "ATen" / "native"
    (native / "mps" / "operations").mkdir(parents=True)
    wheel = pathlib.Path(torchgen.__file__).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    text = wheel.read_text()
    changed = text.replace("    CPU, MPS: roll\n", "    CPU: roll\n    MPS: roll_mps\n", 1)
    if changed == text:
        pytest.fail("roll has another entry in this version of PyTorch")
    (native / "native_functions.yaml").write_text(changed)
    for name, source in (("UnfoldBackward", STUB), ("RenormKernel", STRUCTURED), ("Roll", OWN)):
        (native / "mps" / "operations" / f"{name}.cpp").write_text(source)
    return tmp_path


def registered(prepared):
    return {function.name for function in prepared.generated.functions if function.key == "MPS"}


def hosts(prepared):
    return {unit.source.name for unit in prepared.units if unit.source.is_absolute()}


def test_entries_count_whose_kernels_the_files_have(folder):
    assert registered(operators.prepare(operators.find(folder))) == {"unfold_backward", "renorm.out", "roll"}


def test_one_operator_needs_its_own_files_alone(folder):
    prepared = operators.prepare(operators.find(folder), ["renorm"])
    assert registered(prepared) == {"renorm.out"} and hosts(prepared) == {"RenormKernel.cpp"}
    prepared = operators.prepare(operators.find(folder), ["unfold_backward"])
    assert registered(prepared) == {"unfold_backward"} and hosts(prepared) == {"UnfoldBackward.cpp"}


def test_all_of_them_run(folder):
    program = f"""
import torch
from metalloid.mps import install_on_import
from metalloid.aten import build
install_on_import()
build.build({str(folder)!r})
x = torch.zeros(2, 4, device="mps")
print(torch.renorm(x, 2, 0, 1.0).cpu().unique().tolist(), x.roll(1).cpu().unique().tolist())
x.requires_grad_()
x.unfold(1, 2, 1).sum().backward()
print(x.grad.cpu().unique().tolist())
"""
    done = torch_processes.run(["-c", program], timeout=1200)
    assert done.stdout.splitlines() == ["[3.0] [5.0]", "[7.0]"], done.stdout + done.stderr


def build(folder, *arguments):
    return torch_processes.run(["-m", "metalloid.aten", "build", folder, *arguments], timeout=1200)


def test_a_function_that_nobody_has_is_told_by_its_name(folder):
    host = folder / "aten/src/ATen/native/mps/operations/Roll.cpp"
    text = host.read_text().replace("namespace at::native {", "namespace at::mps { int of_nobody(const Tensor&); }\nnamespace at::native {")
    host.write_text(text.replace("return self", "at::mps::of_nobody(self); return self"))
    done = build(folder, "--op", "roll")
    assert done.returncode == 1 and "defines at::mps::of_nobody(at::Tensor const&), nor does" in done.stderr


def test_a_host_file_that_is_missing_is_told(folder):
    (folder / "aten/src/ATen/native/mps/operations/Roll.cpp").unlink()
    done = build(folder)
    assert done.returncode == 1 and "'roll' dispatches MPS to roll_mps, but no file of the folder has" in done.stderr
