"""The device mps as another package brings it, compiled: what fits is loaded, all else is compiled here, with the reason."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from metalloid import _cpp_files
from metalloid.mps import _plugin
from metalloid.mps._plugin import building, prebuilt
from metalloid.mps._plugin.compile import Unit

LIBRARIES = {prebuilt.DEVICE: b"the device", prebuilt.OPERATORS: b"the operators"}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Installs libraries."""
    folder = tmp_path / prebuilt.PACKAGE
    folder.mkdir()
    (folder / "__init__.py").touch()
    prebuilt.write(folder, LIBRARIES)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


@pytest.fixture
def compiled(monkeypatch):
    """What is said when the device is compiled here, if it is."""
    said = []
    monkeypatch.setattr(building, "build", said.append)
    return said


def libraries():
    return _plugin._libraries.__wrapped__()


def test_what_fits_is_taken(package, compiled):
    assert libraries() == LIBRARIES
    assert not compiled


def test_without_a_package(compiled):
    libraries()
    assert compiled == [""]


@pytest.mark.parametrize(
    "what, words",
    [
        ("torch", "is for torch something else, and here is "),
        ("the C++ ABI", "is for the C++ ABI something else, and here is _GLIBCXX_USE_CXX11_ABI=1"),
        ("the processor", "is for the processor something else"),
        ("metalloid", "is for metalloid something else"),
        ("sources with the hash", "is for sources with the hash something else"),
    ],
)
def test_what_was_made_for_something_else(package, compiled, what, words):
    about = json.loads((package / "about.json").read_text())
    assert set(about["made for"]) == set(prebuilt.identity())
    about["made for"][what] = "something else"
    (package / "about.json").write_text(json.dumps(about))
    libraries()
    assert f"{package} {words}" in compiled[0]


def test_a_damaged_library(package, compiled):
    (package / prebuilt.OPERATORS).write_bytes(b"the operatars")
    libraries()
    assert compiled == [f"{package / prebuilt.OPERATORS} is damaged: its hash is not the one in about.json"]


@pytest.mark.parametrize(
    "about, words",
    [(None, "FileNotFoundError"), ("{", "JSONDecodeError"), ("[]", "TypeError"), ('{"libraries": {}}', "KeyError: 'made for'")],
)
def test_a_damaged_package(package, compiled, about, words):
    (package / "about.json").unlink()
    if about is not None:
        (package / "about.json").write_text(about)
    libraries()
    assert f"{package} is damaged: {words}" in compiled[0]


def test_a_library_that_is_missing(package, compiled):
    (package / prebuilt.DEVICE).unlink()
    libraries()
    assert f"{package} is damaged: FileNotFoundError" in compiled[0]


def test_sources_count(monkeypatch, tmp_path):
    (tmp_path / "one.cpp").write_text("int one;")
    monkeypatch.setattr(prebuilt, "_made_of", (tmp_path,))
    before = prebuilt.hash_of_sources.__wrapped__()
    assert before == prebuilt.hash_of_sources.__wrapped__()
    (tmp_path / "one.cpp").write_text("int two;")
    assert prebuilt.hash_of_sources.__wrapped__() != before


def test_the_wheel_says_nothing_of_where_it_was_made():
    import torch_mps_wheel

    home = _cpp_files.torch_mps_folder()
    text = f'#line 1 "{home}/operators/kernels/A.metal"\n#include "{home}/operators/operations/A.cpp"\n'
    unit = torch_mps_wheel.without_places(Unit(pathlib.Path("a.cpp"), flags=("-DX",), texts=(("a.cpp", text),)))
    assert dict(unit.texts)["a.cpp"] == text.replace(f'#line 1 "{home}', '#line 1 "torch_mps')
    assert unit.flags[0] == "-DX" and f"-ffile-prefix-map={home}=torch_mps" in unit.flags


def in_a_process_without_compiler(folder, *arguments):
    environment = {
        **os.environ, "CXX": "no-such-compiler", "METALLOID_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
    }  # fmt: skip
    command = [sys.executable, "-m", "metalloid.mps", "-c", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, env=environment)


def test_no_compiler_is_needed(package, tmp_path):
    prebuilt.write(package, building.build())
    done = in_a_process_without_compiler(tmp_path, "import torch; print(torch.arange(3., device='mps'))")
    assert (done.stdout, done.stderr) == ("tensor([0., 1., 2.], device='mps:0')\n", "")


def test_without_a_compiler_both_reasons_are_said(package, tmp_path):
    (package / prebuilt.DEVICE).write_bytes(b"")
    done = in_a_process_without_compiler(tmp_path, "import torch")
    assert "there is no C++ compiler (no-such-compiler)" in done.stderr
    assert f"{package / prebuilt.DEVICE} is damaged" in done.stderr
