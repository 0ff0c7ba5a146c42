"""What `metalloid aten build` makes is used: in scripts, in pytest, and in tests that are written as PyTorch's own."""

import os

import pytest
import torch_processes

torch = pytest.importorskip("torch")

from metalloid.aten import new  # noqa: E402

CHANGES = {
    "aten/src/ATen/native/cpu/{}Kernel.cpp": ("return self; //", "return self - std::tanh(self); //"),
    "aten/src/ATen/native/mps/kernels/{}.metal": ("return self; //", "return T(float(self) - precise::tanh(float(self))); //"),
    "tools/autograd/derivatives.yaml": ("self: grad", "self: grad * self.tanh().square()\n  result: auto_element_wise"),
}


def python(*arguments, cwd, **variables):
    return torch_processes.run(arguments, cwd, {**os.environ, **variables}, timeout=1200)


def write_operator(folder, name):
    """x - tanh(x), with its derivative."""
    new.write(name, 1, folder, cpp=True)
    for place, (before, after) in CHANGES.items():
        file = folder / place.format(name)
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after))


@pytest.fixture(scope="module")
def place(tmp_path_factory, kernel_cache):
    """A folder with the operator's folder and its library."""
    place = tmp_path_factory.mktemp("use")
    write_operator(place / "shrink_folder", "my_shrink")
    done = python("-m", "metalloid.aten", "build", "shrink_folder", "-o", "shrink.so", cwd=place)
    assert done.returncode == 0 and done.stdout.endswith("shrink.so\n"), done.stdout + done.stderr
    return place


VALUES = """
import torch
x = torch.linspace(-3, 3, 50)
there = x.to("mps")
expected = x - x.tanh()
for result in (torch.ops.aten.my_shrink(there), torch.my_shrink(there), there.my_shrink(), torch.my_shrink(x)):
    assert torch.allclose(result.cpu(), expected, atol=1e-6), result
out = torch.empty(0, device="mps")
assert torch.my_shrink(there, out=out) is out and torch.allclose(out.cpu(), expected, atol=1e-6)
assert "my_shrink(Tensor self) -> Tensor" in torch.my_shrink.__doc__
print("values are right")
"""


@pytest.mark.parametrize("what", ["shrink.so", "shrink_folder"])
def test_in_a_script(place, what):
    script = place / "script.py"
    script.write_text(f"import metalloid\nmetalloid.aten.load({what!r})\nmetalloid.aten.load({what!r})\n{VALUES}")
    done = python(script, cwd=place)
    assert done.stdout == "values are right\n", done.stderr
    # The folder was built before: nothing is compiled.
    assert "compiling" not in done.stderr


@pytest.mark.parametrize("what", ["shrink.so", "shrink_folder"])
def test_under_the_runner(place, what):
    program = VALUES + "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import torch; torch.my_shrink'], cwd='/', check=True)\n"
    done = python("-m", "metalloid.mps", "-c", program, cwd=place, METALLOID_ATEN=what)
    assert done.returncode == 0 and done.stdout == "values are right\n", done.stderr


def test_without_the_runner_the_variable_means_nothing(place):
    done = python("-c", "import torch; assert not hasattr(torch, 'my_shrink')", cwd=place, METALLOID_ATEN="shrink.so")
    assert done.returncode == 0 and done.stderr == ""


TESTS = """
import torch
from torch.testing._internal.common_utils import TestCase, run_tests

class TestShrink(TestCase):
    def test_values(self):
        x = torch.randn(3, 7)
        self.assertEqual(torch.my_shrink(x.to("mps")), (x - x.tanh()).to("mps"))

    def test_module_that_trains(self):
        layer = torch.nn.Linear(4, 4).to("mps")
        torch.my_shrink(layer(torch.randn(2, 4, device="mps"))).sum().backward()
        self.assertNotEqual(layer.weight.grad.abs().sum().item(), 0)

if __name__ == "__main__":
    run_tests()
"""


def test_in_a_test_file_as_pytorchs(place):
    (place / "test_shrink.py").write_text(TESTS)
    done = python("-m", "metalloid.mps", "test_shrink.py", cwd=place, METALLOID_ATEN="shrink.so")
    assert done.returncode == 0 and "Ran 2 tests" in done.stderr, done.stderr


def test_in_pytest(place):
    (place / "test_shrink.py").write_text(TESTS)
    arguments = ("-m", "pytest", "--metalloid-mps", "test_shrink.py", "-q", "-p", "no:cacheprovider")
    done = python(*arguments, cwd=place, METALLOID_ATEN="shrink_folder")
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_derivatives(place):
    program = """
import torch, metalloid
metalloid.aten.load("shrink.so")
x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(torch.my_shrink, x, check_forward_ad=True)
assert torch.autograd.gradgradcheck(torch.my_shrink, x)
here = torch.randn(5, 6)
for make in (lambda t: t, lambda t: t.t(), lambda t: t[:, ::2], lambda t: t[1:2].expand(5, 6)):
    ours = here.to("mps").requires_grad_()
    theirs = here.clone().requires_grad_()
    make(ours).my_shrink().square().sum().backward()
    (lambda t: t - t.tanh())(make(theirs)).square().sum().backward()
    assert torch.allclose(ours.grad.cpu(), theirs.grad, atol=1e-5), (ours.grad, theirs.grad)
assert type(torch.my_shrink(ours).grad_fn).__name__ == "CppFunction" and "MyShrinkBackward0" in str(torch.my_shrink(ours))
try:
    torch.my_shrink(ours, out=torch.empty(5, 6, device="mps"))
except RuntimeError as error:
    print(error)
"""
    done = python("-c", program, cwd=place)
    assert "out=... arguments don't support automatic differentiation" in done.stdout, done.stdout + done.stderr


def said(place, program, **variables):
    done = python("-c", program, cwd=place, **variables)
    assert done.returncode == 1, done.stdout
    return done.stderr.strip().splitlines()[-1]


LOAD = "import metalloid; metalloid.aten.load({!r})"


def test_what_is_no_library(place):
    (place / "other.so").write_bytes(b"\x7fELF")
    assert said(place, LOAD.format("other.so")).endswith("other.so is no library that 'metalloid aten build' made")
    assert "No such file or directory: 'nowhere.so'" in said(place, LOAD.format("nowhere.so"))
    assert said(place, LOAD.format("nowhere")).endswith("nowhere: there is no such folder")
    runner = "from metalloid.mps import install_on_import; install_on_import(); import torch"
    words = said(place, runner, METALLOID_ATEN="nowhere")
    assert words.startswith("ImportError: $METALLOID_ATEN: ") and words.endswith("nowhere: there is no such folder")


def test_a_library_for_another_pytorch(place):
    binary = (place / "shrink.so").read_bytes()
    version = torch.__version__.encode()
    (place / "older.so").write_bytes(binary.replace(b'{"torch": "' + version, b'{"torch": "' + version.replace(b"2.", b"1.")))
    words = said(place, LOAD.format("older.so"))
    assert "older.so was built for PyTorch 1." in words and words.endswith("is installed: build it again")


def test_other_code_of_an_operator_that_is_there(place):
    (place / "again.so").write_bytes((place / "shrink.so").read_bytes() + b"other")
    words = said(place, LOAD.format("shrink.so") + "; metalloid.aten.load('again.so')")
    assert words.endswith("'my_shrink' is in this process already: what was built anew is for a new process")


def test_python_names_follow_variants(tmp_path):
    """Methods alone are no functions; nn's are where torch.nn.functional looks."""
    new.write("only_method", 1, tmp_path, cpp=True)
    entries = tmp_path / "aten/src/ATen/native/native_functions.yaml"
    entries.write_text(entries.read_text().replace("variants: function, method", "variants: method"))
    from metalloid.mps._plugin import operators

    prepared = operators.prepare(operators.find(tmp_path))
    assert prepared.generated.python_names == [["Tensor", "only_method"]]
    entries.write_text(entries.read_text().replace("variants: method", "python_module: nn"))
    assert operators.prepare(operators.find(tmp_path)).generated.python_names == [["nn", "only_method"]]


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("- name: my_op(Tensor self) -> Tensor\n  self: grad +* 2\n  other: grad\n", 1, "my_op"),
        ("- name: my_opp(Tensor self) -> Tensor\n  self: grad\n", 1, "'my_opp' has no entry in native_functions.yaml; did you mean 'my_op'"),
        ("\n- name: my_op(Tensor x) -> Tensor\n  x: grad\n", 2, "its entry has another schema: my_op(Tensor self) -> Tensor"),
        ("- self: grad\n", 1, "a derivative with 'name: SCHEMA' is expected"),
        ("- name: [\n", 2, "this is not YAML"),
    ],
)
def test_what_is_wrong_with_derivatives(tmp_path, text, line, words):
    from metalloid.mps._plugin import operators

    new.write("my_op", 1, tmp_path, cpp=True)
    file = tmp_path / "tools/autograd/derivatives.yaml"
    file.write_text(text)
    with pytest.raises(operators.YamlError) as error:
        operators.prepare(operators.find(tmp_path))
    assert str(error.value).startswith(f"{file}:{line}: ") and words in str(error.value)


def test_a_derivative_of_pytorchs_own_stays(tmp_path):
    from metalloid.mps._plugin import operators

    new.write("my_op", 1, tmp_path, cpp=True)
    file = tmp_path / "tools/autograd/derivatives.yaml"
    file.write_text(file.read_text() + "- name: sin(Tensor self) -> Tensor\n  self: grad\n")
    generated = operators.prepare(operators.find(tmp_path)).generated
    assert generated.notes == [f"{file}:3: the derivative of 'sin' stays the installed PyTorch's own"]
    assert generated.differentiable == ["my_op"]
