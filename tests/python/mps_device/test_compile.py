"""How the device is compiled where something is missing, and what is kept of it."""

import ctypes
import pathlib
import shutil

import pytest

pytest.importorskip("torch")

from metalloid.mps import _plugin
from metalloid.mps._plugin import batches, building, prebuilt, shaders
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


NAMES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()


@pytest.fixture
def units(tmp_path, monkeypatch):
    """Sixteen files, in four batches."""
    for name in NAMES:
        (tmp_path / f"{name}.cpp").write_text(f'extern "C" int value_{name}() {{ return 1; }}\n')
    files = sorted(tmp_path.glob("*.cpp"))
    monkeypatch.setattr(batches, "SIZE", sum(file.stat().st_size for file in files) // 4)
    return [compilation.Unit(file) for file in files]


@pytest.fixture
def compiled(monkeypatch):
    """What the compiler was called for."""
    units, compile_unit = [], compilation._compile

    def compile_and_tell(unit, *others):
        units.append(unit)
        compile_unit(unit, *others)

    monkeypatch.setattr(compilation, "_compile", compile_and_tell)
    return units


def members(batches):
    return {batch.source.name: {file.name for file in batch.files or [batch.source]} for batch in batches}


def test_a_batch_is_compiled_again_when_one_of_its_files_changes(units, own_cache, compiled):
    first = compilation.build("libvalues.so", batches.in_batches(units))
    assert all(f"value_{name}".encode() in first for name in NAMES)
    assert members(compiled) == members(batches.in_batches(units)) and len(compiled) == 4
    compiled.clear()
    assert compilation.build("libvalues.so", batches.in_batches(units)) == first and not compiled
    units[3].source.write_text(units[3].source.read_text().replace("return", "return 1 +"))
    assert compilation.build("libvalues.so", batches.in_batches(units)) != first
    (batch,) = compiled
    assert units[3].source in (batch.files or [batch.source])


def test_a_new_file_moves_no_other(units, tmp_path):
    before = members(batches.in_batches(units))
    (tmp_path / "another.cpp").touch()
    after = members(batches.in_batches([*units, compilation.Unit(tmp_path / "another.cpp")]))
    assert {name for batch in after.values() for name in batch} == {unit.source.name for unit in units} | {"another.cpp"}
    for files in before.values():
        assert any(files <= others for others in after.values())


def test_files_that_are_compiled_otherwise_are_in_other_batches(units):
    other = [unit._replace(flags=("-DOTHER",)) for unit in units]
    found = batches.in_batches([*units, *other])
    assert len(found) == 8 and {batch.flags for batch in found} == {(), ("-DOTHER",)}


def test_errors_in_batches_name_the_file(units, own_cache):
    units[5].source.write_text("\nint f() { return missing; }\n")
    with pytest.raises(_plugin.CannotBuild, match=rf"{units[5].source.name}:2:18: error: .*missing"):
        compilation.build("libvalues.so", batches.in_batches(units))


def test_each_file_of_a_batch_has_its_own_metal_library(tmp_path, own_cache, monkeypatch):
    """``lib`` of several files, also of two that include the same."""
    metal = [shaders.Shader(tmp_path / f"{name}.metal", f"// {name} in Metal\n") for name in ("One", "Two")]
    texts = tuple(shaders.headers(metal, in_batches=True).items())
    klass = (
        "#pragma once\nnamespace at::native::mps {\n"
        "struct MetalShaderLibrary { const char* text; MetalShaderLibrary(const char* text) : text(text) {} };\n}\n"
    )
    (tmp_path / "library.h").write_text(klass)
    units = []
    for name, library in (("a", "One"), ("b", "Two"), ("c", "One")):
        include = f'#include "library.h"\n#include <ATen/native/mps/{library}_metallib.h>\n'
        (tmp_path / f"{name}.cpp").write_text(f'{include}extern "C" const char* text_{name}() {{ return lib.text; }}\n')
        units.append(compilation.Unit(tmp_path / f"{name}.cpp", texts=texts))
    (batch,) = batches.in_batches(units)
    binary = tmp_path / "libtexts.so"
    binary.write_bytes(compilation.build("libtexts.so", [batch]))
    library = ctypes.CDLL(str(binary))
    found = []
    for name in "abc":
        function = library[f"text_{name}"]
        function.restype = ctypes.c_char_p
        found.append(function())
    assert found == [b"// One in Metal\n", b"// Two in Metal\n", b"// One in Metal\n"]


def test_libraries_that_are_compiled_together(units, own_cache, compiled, capsys):
    """The device's library comes also where the operators' does not."""
    with compilation.Workshop() as workshop:
        one = workshop.build("libone.so", units[:8], "compiling")
        with pytest.raises(_plugin.CannotBuild, match="missing"):
            units[8].source.write_text("int f() { return missing; }\n")
            workshop.build("libtwo.so", units[8:], "compiling")
        assert workshop.build("libone.so", units[:8], "compiling") == one
    assert capsys.readouterr().err == "compiling\n"


def test_operators_that_cannot_be_compiled_leave_the_device(units, own_cache, monkeypatch):
    monkeypatch.setattr(building, "device_units", lambda: units[:1])
    monkeypatch.setattr(building, "operator_units", lambda: units[1:2])
    monkeypatch.setattr(prebuilt, "hash_of_sources", lambda: "none that was compiled")
    units[1].source.write_text("int f() { return missing; }\n")
    device, operators = building.build("why").values()
    assert device.startswith(b"\x7fELF") and "missing" in str(operators)
    units[0].source.write_text("int f() { return absent; }\n")
    with pytest.raises(_plugin.CannotBuild, match=r"(?s)absent.*why"):
        building.build("why")


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
