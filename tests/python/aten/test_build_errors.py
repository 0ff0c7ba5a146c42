"""metalloid aten build: what is wrong is told with the contributor's own file and line."""

import subprocess

import pytest

pytest.importorskip("torch")

from metalloid.aten import new
from metalloid.aten.__main__ import main
from metalloid.mps._plugin import operators, shaders


@pytest.fixture
def folder(tmp_path):
    new.write("my_op", 2, tmp_path, cpp=True)
    return tmp_path


def change(folder, place, old, text):
    file = folder / "aten/src/ATen/native" / place
    content = file.read_text()
    assert old in content
    file.write_text(content.replace(old, text))
    return file


def said(capsys, folder, *arguments):
    assert main(["build", str(folder), *arguments]) == 1
    return capsys.readouterr().err


def test_an_entry(folder, capsys):
    file = change(folder, "native_functions.yaml", "dispatch:", "dispach:")
    assert f"{file}:5: unknown key 'dispach' of 'my_op.out'; did you mean 'dispatch'?" in said(capsys, folder)


def test_an_operator_that_is_not_there(folder, capsys):
    assert "no entry for 'my_opp'; did you mean 'my_op'?" in said(capsys, folder, "--op", "my_opp")


def test_a_function_that_nobody_defines(folder, capsys):
    file = change(folder, "native_functions.yaml", "CPU, MPS: my_op_out", "CPU: my_op_out\n    MPS: my_op_out_mps")
    text = said(capsys, folder)
    assert f"{file}:5: 'my_op.out' dispatches MPS to my_op_out_mps, but no file of the folder has TORCH_IMPL_FUNC(my_op_out_mps)" in text


def test_metal(folder, capsys):
    file = change(folder, "mps/kernels/my_op.metal", "return self; // what", "return selff; // what")
    text = said(capsys, folder)
    line = file.read_text()[: file.read_text().index("selff")].count("\n") + 1
    assert f"{file}:{line}:12: error: use of undeclared identifier 'selff'" in text


def test_a_header_of_metal_sources(folder, capsys):
    file = change(folder, "mps/kernels/my_op.metal", "using namespace metal;", '#include "helper.h"\nusing namespace metal;')
    (file.parent / "helper.h").write_text("#pragma once\ninline float one() {\n  return onee;\n}\n")
    text = said(capsys, folder)
    assert f"{file.parent / 'helper.h'}:3:10: error: use of undeclared identifier 'onee'" in text


def test_a_library_of_metal_that_is_not_there(folder, capsys):
    (folder / "aten/src/ATen/native/mps/kernels/my_op.metal").unlink()
    text = said(capsys, folder)
    assert "mps/operations/my_op.cpp:13: it includes ATen/native/mps/my_op_metallib.h, but there is no kernels/my_op.metal" in text


def test_a_folder_without_entries(tmp_path, capsys):
    assert "there is no native_functions.yaml" in said(capsys, tmp_path)
    assert "there is no such folder" in said(capsys, tmp_path / "nowhere")


def test_the_text_of_metal_sources_is_complete(folder):
    (shader,) = operators.prepare(operators.find(folder)).shaders
    header = shaders.headers([shader])["ATen/native/mps/my_op_metallib.h"]
    assert header.startswith("static ::at::native::mps::MetalShaderLibrary lib(")
    # A compiler reads the pieces as the text.
    source = folder / "text.cpp"
    source.write_text(f"#include <cstdio>\nint main() {{ std::fputs({shaders._literal(shader.text * 20)}, stdout); }}\n")
    subprocess.run(["c++", source, "-o", folder / "text"], check=True)
    assert subprocess.run([folder / "text"], capture_output=True, check=True).stdout.decode() == shader.text * 20


def test_headers_of_c10_that_were_changed_count(folder):
    include = folder / "aten/src/c10/metal"
    include.mkdir(parents=True)
    installed = shaders._torch_headers() / "c10/metal"
    for header in installed.glob("*.h"):
        (include / header.name).write_text(shaders._content(header) + "\n")
    file = folder / "aten/src/ATen/native/mps/kernels/my_op.metal"
    assert "#include <c10/metal/utils.h>" in shaders.read(file, [folder / "aten/src"]).text
    (include / "utils.h").write_text((include / "utils.h").read_text() + "// changed\n")
    text = shaders.read(file, [folder / "aten/src"]).text
    assert "#include <c10/metal/" not in text and "// changed" in text
