"""metalloid aten new: files to start from."""

import pathlib

import pytest

pytest.importorskip("torch")

from metalloid.aten import new
from metalloid.aten.__main__ import main
from metalloid.mps._plugin import generate, operators, shaders


def names(folder):
    native = folder / "aten/src/ATen/native"
    return {file.relative_to(native).as_posix() for file in native.rglob("*") if file.is_file()}


def test_an_operator_that_pytorch_has(tmp_path):
    new.write("atan2", None, tmp_path)
    assert names(tmp_path) == {"native_functions.yaml", "mps/kernels/atan2.metal", "mps/operations/atan2.mm"}
    folder = operators.find(tmp_path)
    made = generate.generate(folder.yamls)
    assert {name for function in made.functions for name in function.registers} == {"atan2", "atan2_", "atan2.out"}
    text = (tmp_path / "aten/src/ATen/native/mps/operations/atan2.mm").read_text()
    assert "#include <ATen/native/BinaryOps.h>" in text and "exec_binary_kernel" in text
    assert "REGISTER_DISPATCH(atan2_stub, &atan2_mps_kernel)" in text


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_a_new_operator_is_complete(tmp_path, inputs):
    new.write("my_op", inputs, tmp_path, cpp=True)
    assert names(tmp_path) == {
        "native_functions.yaml", "my_op.h", "my_op.cpp", "cpu/my_opKernel.cpp",
        "mps/kernels/my_op.metal", "mps/operations/my_op.cpp",
    }  # fmt: skip
    assert (tmp_path / "tools/autograd/derivatives.yaml").is_file()
    prepared = operators.prepare(operators.find(tmp_path))
    assert prepared.generated.new_operators == ["my_op", "my_op.out"]
    assert {function.key for function in prepared.generated.functions} == {"CPU", "MPS"}
    (shader,) = prepared.shaders
    kernels = shaders.check(shader)
    assert "my_op_dense_float_float" in kernels and "my_op_strided_bfloat_bfloat" in kernels
    # With --op the same files count.
    assert {unit.source for unit in operators.prepare(operators.find(tmp_path), ["my_op"]).units} == {
        unit.source for unit in prepared.units
    }
    assert "@" not in "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file())


def test_an_entry_with_a_function_of_its_own_comes_to_share_the_cpus(tmp_path):
    new.write("frac", None, tmp_path)
    text = (tmp_path / "aten/src/ATen/native/native_functions.yaml").read_text()
    assert "_mps" not in text and "CPU, CUDA, MPS: frac_out" in text.replace(", XPU", "")


@pytest.mark.parametrize(
    "name, inputs, words",
    [
        ("a-b", None, "is no name of an operator"),
        ("relu_", None, "is no name of an operator"),
        ("atan2", 1, "takes 2 tensors"),
        ("mm", None, "has no mm_stub"),
        ("add", None, "has no add_stub for a kernel over nothing but a TensorIterator"),
    ],
)
def test_what_cannot_begin(tmp_path, name, inputs, words):
    with pytest.raises(new.CannotBegin, match=words):
        new.write(name, inputs, tmp_path)
    assert not any(tmp_path.iterdir())


def test_files_in_the_way_stay(tmp_path, capsys):
    arguments = ["new", "my_op", str(tmp_path / "here")]
    assert main(arguments) == 0
    files = capsys.readouterr().out.split()
    assert len(files) == 7 and all(pathlib.Path(file).is_file() for file in files)
    assert main(arguments) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["my_op", "--binary", "FOLDER"], ["--binary", "my_op", "FOLDER"], ["my_op", "FOLDER", "--binary"], ["my_op", "--binary", "--cpp", "FOLDER"]]
)
def test_its_usage_line(tmp_path, capsys, arguments):
    folder = tmp_path / "here"
    assert main(["new", *(str(folder) if one == "FOLDER" else one for one in arguments)]) == 0
    assert "Tensor self, Tensor other" in (folder / "aten/src/ATen/native/native_functions.yaml").read_text()


@pytest.mark.parametrize("rest", [["here", "there"], ["--binari"], ["here", "--nonsense"]])
def test_what_is_too_much(tmp_path, capsys, monkeypatch, rest):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["new", "my_op", "--unary", *rest])
    assert end.value.code == 2 and "unrecognized arguments: " in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("host", ["cpp", "mm"])
@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_one_operator_of_several(tmp_path, inputs, host):
    """--op takes the files of a new operator, and no other's."""
    new.write("my_op", inputs, tmp_path, cpp=host == "cpp")
    other = tmp_path / "other"
    new.write("my_opposite", inputs, other, cpp=host == "cpp")
    prepared = operators.prepare(operators.find(tmp_path), ["my_op"])
    assert prepared.generated.new_operators == ["my_op", "my_op.out"]
    own = {unit.source.name for unit in prepared.units if unit.source.is_absolute()}
    assert own == {"my_op.cpp", "my_opKernel.cpp", f"my_op.{host}"}
    assert [shader.file.name for shader in prepared.shaders] == ["my_op.metal"]
