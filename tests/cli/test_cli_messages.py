"""What the command line says of sources without kernels, of what they include, and of names that a terminal obeys."""

import os

import pytest

one = "kernel void k(device int* x) { x[0] = 1; }\n"


def test_source_without_kernels(metalloid_cli, source_file):
    result = metalloid_cli("run", source_file("int f() { return 1; }\n"), "--threads", "1")
    assert result.returncode == 2
    assert "the file has no kernels" in result.stderr
    assert "''" not in result.stderr


def test_terminals_see_no_control_characters(metalloid_cli, source_file):
    file = source_file('#line 7 "\x1b[31m"\n[[host_name("\\x1b[31mred")]] ' + one)
    for arguments in (
        ("compile", file),
        ("inspect", file),
        ("inspect", file, "--json"),
        ("run", file, "--threads", "1", "--arg", "x=i32[1]=zeros"),
        ("run", file, "--kernel", "blue", "--threads", "1"),
        ("compile", source_file('#line 7 "\x1b[31m"\nkernel void k(device int* x) { x[0] = "\x1b]0;title\x07"; }\n', name="other.metal")),
    ):
        result = metalloid_cli(*arguments)
        assert result.stdout or result.stderr
        assert "\x1b" not in result.stdout + result.stderr, arguments


def test_files_include_their_neighbours(metalloid_cli, tmp_path):
    (tmp_path / "kernels" / "deep").mkdir(parents=True)
    (tmp_path / "kernels" / "defines.h").write_text('#include "deep/more.h"\n')
    (tmp_path / "kernels" / "deep" / "more.h").write_text("constant int value = 3;\n")
    file = tmp_path / "kernels" / "deep" / "k.metal"
    file.write_text('#include "../defines.h"\nkernel void k(device int* x) { x[0] = value; }\n')
    assert metalloid_cli("compile", file).returncode == 0
    os.symlink("/etc/passwd", tmp_path / "kernels" / "deep" / "link.h")
    file.write_text('#include "link.h"\n' + one)
    result = metalloid_cli("compile", file)
    assert result.returncode == 1
    assert "is a link to '/etc/passwd', which lies outside of the folders" in result.stderr
    file.write_text('#include "/etc/passwd"\n' + one)
    assert "lies outside of the folders" in metalloid_cli("compile", file).stderr


@pytest.mark.parametrize(
    "registration, message",
    [
        ("REGISTER_UNARY_OP(twice, float, float);", "member reference base type"),
        ("REGISTER_UNARY_OP(missing, float, float);", "undeclared identifier 'missing_functor'"),
    ],
)
def test_errors_in_headers_name_the_registration(metalloid_cli, source_file, registration, message):
    file = source_file(
        "#include <c10/metal/indexing.h>\n"
        "struct twice_functor { template <typename T> T operator()(const T x) { return x.nothing; } };\n"
        + registration + "\n" + one
    )
    result = metalloid_cli("compile", file)
    assert result.returncode == 1
    assert message in result.stderr
    assert f"{file}:3:" in result.stderr
    assert "/metalloid/stdlib" not in result.stderr
    assert result.stderr.count("error:") <= 2
