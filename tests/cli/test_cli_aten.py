"""`metalloid aten`, which is Python's."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import build


def test_it_is_among_the_commands(metalloid_cli):
    assert "aten " in metalloid_cli("--help").stdout


def test_a_python_without_the_packages(metalloid_cli, tmp_path):
    (tmp_path / "metalloid").mkdir()
    (tmp_path / "metalloid" / "__init__.py").write_text("")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "METALLOID_PYTHON": sys.executable}
    done = metalloid_cli("aten", "lint", env=environment)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("metalloid: aten needs the Python packages metalloid and torch, and ")
    assert done.stderr.endswith("has no metalloid.aten; METALLOID_PYTHON names another Python\n")


def test_no_python(metalloid_cli):
    done = metalloid_cli("aten", "lint", env={**os.environ, "METALLOID_PYTHON": "/nowhere/python"})
    assert done.returncode == 2
    assert done.stderr == (
        "metalloid: /nowhere/python cannot be started: No such file or directory; METALLOID_PYTHON names another Python\n"
    )


def test_arguments_and_exit_codes_are_pythons(metalloid_cli):
    environment = {**os.environ, "METALLOID_PYTHON": sys.executable}
    done = metalloid_cli("aten", "new", env=environment)
    assert done.returncode == 2 and "the following arguments are required: NAME" in done.stderr
    assert metalloid_cli("aten", "--help", env=environment).stdout.startswith("usage: metalloid aten")


@pytest.fixture
def build_folder(tmp_path):
    """A build folder elsewhere, whose package says what runs it."""
    folder = tmp_path / "project" / "build-folder"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(build / "bin" / "metalloid", folder / "bin" / "metalloid")
    (folder / "lib").symlink_to(build / "lib")
    package = folder / "python" / "metalloid" / "aten"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys\ndef main(arguments): print(sys.prefix, __file__, *arguments)\n")
    return folder


def run_aten(folder, **variables):
    names = ("METALLOID_PYTHON", "VIRTUAL_ENV", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in names} | variables
    command = [folder / "bin" / "metalloid", "aten", "lint", "x"]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    prefix, file, *arguments = done.stdout.split()
    assert arguments == ["lint", "x"]
    return pathlib.Path(prefix), pathlib.Path(file)


def environment_at(place):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True, timeout=1200)
    return place


def test_the_environment_beside_a_build_folder(build_folder):
    beside = environment_at(build_folder.parent / ".venv")
    prefix, file = run_aten(build_folder)
    assert prefix == beside and file.is_relative_to(build_folder)


def test_an_environment_that_is_chosen(build_folder, tmp_path):
    environment_at(build_folder.parent / ".venv")
    other = environment_at(tmp_path / "other")
    prefix, file = run_aten(build_folder, METALLOID_PYTHON=str(other / "bin" / "python"))
    assert prefix == other and file.is_relative_to(build_folder)
    prefix, _ = run_aten(build_folder, VIRTUAL_ENV=str(other), PATH=f"{other / 'bin'}:{os.environ['PATH']}")
    assert prefix == other


def test_no_environment_beside_it(build_folder, tmp_path):
    other = environment_at(tmp_path / "other")
    prefix, file = run_aten(build_folder, PATH=f"{other / 'bin'}:{os.environ['PATH']}")
    assert prefix == other and file.is_relative_to(build_folder)
