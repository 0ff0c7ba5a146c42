"""How the device is compiled where something is missing, and what is kept of it."""

import pathlib
import shutil

import pytest

pytest.importorskip("torch")

from metalloid.mps import _plugin
from metalloid.mps._plugin import compile as compilation


@pytest.fixture(autouse=True)
def compilers_are_looked_for():
    compilation._compiler.cache_clear()
    yield
    compilation._compiler.cache_clear()


@pytest.fixture
def unit(tmp_path):
    (tmp_path / "one.cpp").write_text('#include "value.h"\nextern "C" int value() { return VALUE; }\n')
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    (tmp_path / "dangling.h").symlink_to(tmp_path / "nowhere")
    return compilation.Unit(tmp_path / "one.cpp")


def test_without_a_compiler(unit, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    with pytest.raises(_plugin.CannotBuild, match=r"there is no C\+\+ compiler \(no-such-compiler\)"):
        compilation.build("libvalue.so", [unit])
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(unit.source.parent))
    compilation._compiler.cache_clear()
    with pytest.raises(_plugin.CannotBuild, match=r"clang\+\+, c\+\+ or g\+\+"):
        compilation.build("libvalue.so", [unit])


def test_errors_are_the_compilers(unit):
    unit.source.write_text("int f() {\n  return missing;\n}\n")
    with pytest.raises(_plugin.CannotBuild, match=r"one\.cpp:2:10: error: .*missing"):
        compilation.build("libvalue.so", [unit])


def test_gcc_will_do(unit, monkeypatch, own_cache):
    """The prefix header of two kinds of compilers."""
    if shutil.which("g++") is None:
        pytest.skip("there is no g++")
    monkeypatch.setenv("CXX", "g++")
    monkeypatch.setattr(compilation, "_PREFIX", "#include <cstdint>\nusing from_the_prefix = std::int32_t;\n")
    monkeypatch.setattr(compilation, "_WORTH_A_PREFIX", 1)
    unit.source.write_text("from_the_prefix value = 1;\n")
    assert compilation.build("libvalue.so", [unit]).startswith(b"\x7fELF")


def test_what_is_kept(unit, own_cache, capsys):
    first = compilation.build("libvalue.so", [unit], "compiling")
    assert compilation.build("libvalue.so", [unit], "compiling") == first
    assert capsys.readouterr().err == "compiling\n"
    (unit.source.parent / "value.h").write_text("#define VALUE 2\n")
    compilation._hash_of_headers.cache_clear()
    assert compilation.build("libvalue.so", [unit], "compiling") != first


def test_a_cache_that_cannot_be_written(unit, monkeypatch, capsys):
    monkeypatch.setenv("METALLOID_CACHE_DIR", "/proc/nothing")
    assert compilation.build("libvalue.so", [unit], "compiling").startswith(b"\x7fELF")
    assert "cannot be kept" in capsys.readouterr().err


def test_headers_that_torch_lacks(monkeypatch, tmp_path):
    import torch

    from metalloid.mps._plugin import wheel

    wheel.installed.cache_clear()
    monkeypatch.setattr(torch, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(_plugin.CannotBuild, match="has no headers of the device mps"):
        wheel.installed()
    monkeypatch.undo()
    wheel.installed.cache_clear()
    assert pathlib.Path(torch.__file__).parent in wheel.installed().libraries.parents
