"""docs/adding-an-operator.md: its commands and files, as they stand."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import torch_processes
from conftest import build, root

pytest.importorskip("torch")

TEXT = (root / "docs" / "adding-an-operator.md").read_text()


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)[1]


def steps(title):
    """The blocks of a section: commands, and files with their names in the first line."""
    for kind, new_file, block in re.findall(
        r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', section(title), re.DOTALL | re.MULTILINE
    ):
        named = re.match(r"(?://|#) (\S+/\S+)\n", block)
        if kind == "sh":
            yield from (("command", command) for command in block.splitlines())
        elif new_file:
            yield f"new {new_file}", block
        elif named:
            yield named[1], block.partition("\n")[2]


def follow(title, folder, **variables):
    """Does what the section says; the output of its last command."""
    path = f"{build / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "METALLOID_PYTHON": sys.executable, "PATH": path, **variables}
    output = ""
    for what, text in steps(title):
        if what.startswith("new "):
            (folder / what.removeprefix("new ")).write_text(text)
            continue
        if what != "command":
            assert (folder / what).is_file(), f"'new' writes {what}"
            (folder / what).write_text(text)
            continue
        done = subprocess.run(
            text, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=1200
        )
        output = done.stdout
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return output


def rows(output):
    """What the table says of each type."""
    found = re.findall(r"^(\w+) +(yes|no|\?) +(\d+)/(\d+) +(\d+)/(\d+) +(\d+)/(\d+)", output, re.MULTILINE)
    return {name: (registered, *map(int, numbers)) for name, registered, *numbers in found}


@pytest.mark.skipif(not shutil.which("clang++"), reason="Objective-C++ needs Clang")
def test_atan2(tmp_path):
    table = rows(follow("A kernel for an operator that PyTorch has", tmp_path))
    for name in ("float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        registered, ran, calls, right, _, right_gradients, gradients = table[name]
        assert registered == "yes" and ran == calls == right > 30, name
        assert right_gradients == gradients and (gradients > 5) == (name in ("float32", "float16")), name
    assert table["complex64"][0] == "no"


def test_an_operator_of_ones_own(tmp_path):
    table = rows(follow("A new operator", tmp_path))
    for name in ("float32", "float16", "bfloat16"):
        registered, ran, calls, right, _, right_gradients, gradients = table[name]
        assert registered == "yes" and ran == calls == right > 10, name
        assert right_gradients == gradients and (gradients > 10) == (name != "bfloat16"), name
    table = rows(follow("Samples of your own", tmp_path))
    assert table["float32"][1] == table["float32"][3] > 15
    assert "1 passed" in follow("Using it", tmp_path)


@pytest.mark.skipif(not shutil.which("clang++"), reason="Objective-C++ needs Clang")
def test_a_checkout(tmp_path):
    """~/pytorch of the page has a kernel for one type here."""
    from checkout_layout import write_checkout

    write_checkout(tmp_path / "pytorch")
    commands = [text for _, text in steps("Of a checkout of PyTorch")]
    environment = {**os.environ, "METALLOID_PYTHON": sys.executable, "HOME": str(tmp_path), "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}
    for command, status in zip(commands, (0, 1, 0), strict=True):
        done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, timeout=1200)
        assert done.returncode == status, command + done.stdout + done.stderr


ALPHA = {
    "native_functions.yaml": [("Tensor other)", "Tensor other, *, Scalar alpha=1)"), ("other, *, Tensor(a!)", "other, *, Scalar alpha=1, Tensor(a!)")],
    "{}.h": [("(*)(TensorIteratorBase&)", "(*)(TensorIteratorBase&, const c10::Scalar&)"), ("#include <ATen", "#include <c10/core/Scalar.h>\n#include <ATen")],
    "{}.cpp": [("Tensor& other", "Tensor& other, const Scalar& alpha"), ("*this)", "*this, alpha)")],
    "cpu/{}Kernel.cpp": [
        ("TensorIteratorBase& iter)", "TensorIteratorBase& iter, const c10::Scalar& alpha)"),
        ("cpu_kernel(iter, []", "const float factor = alpha.to<float>();\n    cpu_kernel(iter, [factor]"),
        ("return self;", "return self - factor * other;"),
    ],
    "mps/operations/{}.cpp": [("TensorIteratorBase& iter)", "TensorIteratorBase& iter, const Scalar& alpha)"), ('"{}")', '"{}", alpha)')],
    "mps/kernels/{}.metal": [
        ("const T other)", "const T other, const conditional_t<is_integral_v<T>, float, T> alpha)"),
        ("return self;", "return T(float(self) - float(alpha) * float(other));"),
        ("return (*this)(float(self), float(other));", "return float(self) - alpha * float(other);"),
        ("REGISTER_BINARY_OP({}, float, float)", "REGISTER_BINARY_ALPHA_OP({}, float, float, float)"),
        ("REGISTER_BINARY_OP({}, half, half)", "REGISTER_BINARY_ALPHA_OP({}, half, half, half)"),
        ("REGISTER_BINARY_OP({}, long, float)", "REGISTER_BINARY_ALPHA_OP({}, long, float, float)"),
    ],
    "../../../../tools/autograd/derivatives.yaml": [
        ("Tensor other)", "Tensor other, *, Scalar alpha=1)"), ("at::zeros_like(grad)", "at::neg(grad) * alpha"),
    ],
}  # fmt: skip


def test_an_operator_with_a_number(tmp_path):
    """alpha has cases of its own: a kernel that forgets it is wrong."""
    name = "difference"

    def aten(*arguments):
        return torch_processes.run(["-m", "metalloid.aten", *arguments], tmp_path, timeout=1200)

    assert aten("new", name, "--binary", "--cpp").returncode == 0
    native = tmp_path / name / "aten/src/ATen/native"
    for place, changes in ALPHA.items():
        file = native / place.format(name)
        text = file.read_text()
        for before, after in changes:
            assert before.format(name) in text, f"{file}: {before}"
            text = text.replace(before.format(name), after.format(name))
        file.write_text(re.sub(rf"REGISTER_BINARY_OP\({name}, .*\n", "", text))
    done = aten("test", name)
    table = rows(done.stdout)
    for type_name in ("float32", "int64"):
        registered, ran, calls, right, *_ = table[type_name]
        assert registered == "yes" and ran == calls == right > 20, done.stdout + done.stderr
    assert f"(its library has {name}_dense_" in done.stdout, "types that are missing: " + done.stdout
    kernel = native / f"mps/kernels/{name}.metal"
    kernel.write_text(kernel.read_text().replace("float(alpha) * ", ""))
    done = aten("test", name)
    _, ran, calls, right, *_ = rows(done.stdout)["float32"]
    assert ran == calls and 0 < calls - right <= 4 and "alpha=2.5" in done.stdout, done.stdout
