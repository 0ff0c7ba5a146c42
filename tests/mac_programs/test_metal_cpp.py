"""metal-cpp's unmodified headers: what they call and what values they give must be what ours declare, and a program runs."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from metalloid import _cpp_files

ROOT = pathlib.Path(__file__).parents[2]
METAL_CPP = ROOT / "build" / "mac_programs" / "metal_cpp"
OURS = _cpp_files.sdk_include_folder()
CLANG = shutil.which("clang++-22") or pytest.fail("there is no clang++-22")
OBJECTIVE_C = ["-xobjective-c++", "-fblocks", "-fobjc-runtime=objfw", "-fconstant-string-class=NSConstantString"]


def texts(folder: pathlib.Path, pattern: str) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.glob(pattern)))


def compiled(source: str, folder: pathlib.Path, *flags: str | pathlib.Path) -> None:
    file = folder / "source.mm"
    file.write_text(source)
    done = subprocess.run([CLANG, "-std=c++20", *flags, f"-I{OURS}", f"-I{METAL_CPP}", file],
                          capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]


def test_values_and_sizes(tmp_path):
    """Every constant and structure of both has one value and one size."""
    ours = set(re.findall(r"\bMTL\w+", texts(OURS / "Metal", "*.h")))
    theirs = re.findall(r"^\s*(\w+) = [^;]*?,$", texts(METAL_CPP / "Metal", "MTL[!4]*.hpp"), re.MULTILINE)
    theirs.remove("ResourceStorageModeMemoryless")  # there it is what private memory is
    checks = [f"static_assert((long)MTL{name} == (long)MTL::{name});" for name in dict.fromkeys(theirs) if f"MTL{name}" in ours]
    assert len(checks) > 150
    structures = ["Size", "Origin", "Region", "SizeAndAlign", "DispatchThreadgroupsIndirectArguments", "ResourceID",
                  "IndirectCommandBufferExecutionRange"]  # fmt: skip
    checks += [f"static_assert(sizeof(MTL{name}) == sizeof(MTL::{name}));" for name in structures]
    compiled('#include <Metal/Metal.hpp>\n#import <Metal/Metal.h>\n' + "\n".join(checks), tmp_path, *OBJECTIVE_C, "-fsyntax-only")


def selectors_of(text: str) -> set[str]:
    """Of methods and properties that headers declare."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\(\^\w*\)\([^)]*\)", "(block)", text)
    found = set()
    for declaration in re.findall(r"^[-+]\s*\([^;]*?;", text, re.MULTILINE):
        plain = declaration
        while "(" in plain:
            plain, count = re.subn(r"\([^()]*\)", "", plain)
            if count == 0:
                break
        words = plain.strip("-+; \n")
        parts = re.findall(r"(\w+)\s*:", words)
        found.add("".join(f"{part}:" for part in parts) if parts else words.split()[0])
    for attributes, name in re.findall(r"@property\s*(\([^)]*\))?[^;]*?(\w+)\s*;", text):
        getter = re.search(r"getter=(\w+)", attributes or "")
        found.add(getter[1] if getter else name)
        if "readonly" not in (attributes or ""):
            found.add(f"set{name[0].upper()}{name[1:]}:")
    return found


def test_selectors_are_spelled_as_theirs():
    private = texts(METAL_CPP / "Metal", "MTLHeaderBridge.hpp") + texts(METAL_CPP / "Foundation", "NSPrivate.hpp")
    theirs = set(re.findall(r'_DEF_SEL\(\w+,\s*"([^"]+)"\)', private))
    assert len(theirs) > 1000
    ours = selectors_of(texts(OURS / "Metal", "*.h"))
    assert len(ours) > 250
    assert ours - theirs == {"beginScope", "endScope"}  # which metal-cpp sends without such a definition


@pytest.mark.parametrize("device", ["cpu", "reference", "trial"])
def test_a_program(tmp_path, device):
    library = _cpp_files.metal_library()
    program = tmp_path / "program"
    source = pathlib.Path(__file__).with_name("saxpy.cpp")
    command = [CLANG, "-std=c++17", "-fblocks", f"-I{OURS}", f"-I{METAL_CPP}", source, library, f"-Wl,-rpath,{library.parent}",
               "-o", program]  # fmt: skip
    subprocess.run(command, check=True, timeout=600)
    environment = {**os.environ, "METALLOID_TRIAL_ENGINE": "1", "METALLOID_DEVICE": device}
    done = subprocess.run([program], capture_output=True, text=True, timeout=600, env=environment)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "saxpy\n")
