"""docs/adding-an-operator.md: its commands and files, as they stand."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import build, root

pytest.importorskip("torch")

TEXT = (root / "docs" / "adding-an-operator.md").read_text()


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE)[1]


def steps(title):
    """The blocks of a section: commands, and files with their names in the first line."""
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```", section(title), re.DOTALL | re.MULTILINE):
        named = re.match(r"// (\S+/\S+)\n", block)
        if kind == "sh":
            yield from (("command", command) for command in block.splitlines())
        elif named:
            yield named[1], block.partition("\n")[2]


def follow(title, folder):
    """Does what the section says; the output of its last command."""
    environment = {**os.environ, "METALLOID_PYTHON": sys.executable, "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}
    output = ""
    for what, text in steps(title):
        if what != "command":
            assert (folder / what).is_file(), f"'new' writes {what}"
            (folder / what).write_text(text)
            continue
        done = subprocess.run(
            text, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=850
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
        registered, ran, calls, right, *_ = table[name]
        assert registered == "yes" and ran == calls == right > 10, name
