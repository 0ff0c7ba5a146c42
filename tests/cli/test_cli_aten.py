"""`metalloid aten`, which is Python's."""

import os
import sys


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
