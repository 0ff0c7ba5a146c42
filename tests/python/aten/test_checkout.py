"""``metalloid aten`` on a whole checkout of PyTorch: here its layout, with the wheel's native_functions.yaml."""

import re
import shutil

import pytest
import torch_processes

pytest.importorskip("torch")
pytest.importorskip("torchgen")

from checkout_layout import write_checkout


@pytest.fixture
def checkout(tmp_path):
    write_checkout(tmp_path / "pytorch")
    return tmp_path / "pytorch"


def aten(*arguments):
    return torch_processes.run(["-m", "metalloid.aten", *arguments], timeout=1200)


@pytest.mark.skipif(not shutil.which("clang++"), reason="Objective-C++ needs Clang")
def test_an_operator_of_a_checkout(checkout):
    done = aten("test", checkout, "--op", "atan2", "--samples", "2")
    found = re.search(r"^float32 +yes +(\d+)/(\d+) +(\d+)/(\d+)", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    ran, calls, right, compared = map(int, found.groups())
    assert ran == calls == right == compared > 5, done.stdout
    # The kernel has one type; that others are missing is told and is a failure.
    assert re.search(r"^int64 +no .*missing", done.stdout, re.MULTILINE) and done.returncode == 1, done.stdout


def test_a_stub_that_nobody_registers(checkout):
    host = checkout / "aten/src/ATen/native/mps/operations/Atan.mm"
    host.write_text(host.read_text().replace("REGISTER_DISPATCH(atan2_stub", "REGISTER_DISPATCH(other_stub"))
    done = aten("build", checkout, "--op", "atan2")
    assert done.returncode != 0
    assert re.search(r"native_functions.yaml:\d+: .*'atan2.out'.*REGISTER_DISPATCH\(atan2_stub", done.stderr + done.stdout)


def installed_release():
    import torch

    return torch.__version__.partition("+")[0].rsplit(".", 1)[0]


@pytest.mark.parametrize("command", ["build", "test", "lint"])
def test_a_checkout_of_another_version(checkout, command):
    (checkout / "version.txt").write_text("1.13.0a0\n")
    done = aten(command, checkout, "--op", "atan2")
    assert done.returncode == 1 and done.stdout == "", done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{checkout}: this checkout is of PyTorch 1.13.0a0, and PyTorch {installed_release()}.")


def test_a_checkout_of_this_version(checkout):
    (checkout / "version.txt").write_text(f"{installed_release()}.7a0\n")
    assert aten("lint", checkout, "--op", "atan2").returncode == 0


def test_a_new_operator_of_a_checkout(checkout, tmp_path):
    """Its files are spread over the checkout, and so are its entries and its derivative."""
    from metalloid.aten import new
    from metalloid.mps._plugin import operators

    folder = tmp_path / "my_op"
    new.write("my_op", 2, folder, cpp=True)
    for file in (file for file in folder.rglob("*") if file.is_file()):
        place = checkout / file.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a") as end:
            end.write(file.read_text())
    (checkout / "aten/src/ATen/native/Unrelated.cpp").write_text("#error of another operator\n")
    prepared = operators.prepare(operators.find(checkout), ["my_op"])
    assert prepared.generated.new_operators == ["my_op", "my_op.out"] == [*prepared.generated.differentiable, "my_op.out"]
    own = {unit.source.name for unit in prepared.units if unit.source.is_absolute()}
    assert own == {"my_op.cpp", "my_opKernel.cpp"}  # both that of native/ and that of operations/
    headers = {name for unit in prepared.units for name, _ in unit.texts}
    assert "ATen/native/my_op.h" in headers and "ATen/native/BinaryOps.h" not in headers
