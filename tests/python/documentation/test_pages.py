"""README.md and the pages in docs/: links lead somewhere, and commands and snippets that no other test runs do what
they say. (The pages for MLX, Core AI, Linux CI and C++ have tests of their own.)"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import numpy
import pytest
from conftest import root

build = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build"))
pages = [root / "README.md", root / "CONTRIBUTING.md", root / "examples/README.md", *sorted((root / "docs").glob("*.md"))]


def blocks(page, heading):
    return re.findall(rf"^```{re.escape(heading)}\n(.*?)^```", (root / page).read_text(), re.DOTALL | re.MULTILINE)


def sessions(page):
    """Commands and what the page prints below each."""
    for block in blocks(page, "console"):
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            yield command, output


def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(root)))
def test_links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The README's files."""
    monkeypatch.chdir(tmp_path)
    (source,) = [block for block in blocks("README.md", "metal") if block.startswith("// scale.metal")]
    (tmp_path / "scale.metal").write_text(source)
    (tmp_path / "wrong.metal").write_text(source.partition("\n")[2].replace("factor;", "factr;"))
    return tmp_path


@pytest.mark.parametrize("command, output", [*sessions("README.md")])
def test_sessions_of_the_readme(metalloid_cli, folder, command, output):
    program, *arguments = shlex.split(command)
    assert program == "metalloid"
    result = metalloid_cli(*arguments)
    printed = result.stdout or result.stderr
    # Clang's notes below an error are left out.
    assert printed == output or (result.returncode == 1 and printed.startswith(output)), printed


def test_python_of_the_readme(folder, capsys):
    (code,) = blocks("README.md", "python")
    exec(compile(code, "README.md", "exec"), {})
    assert code.rstrip().endswith("# " + capsys.readouterr().out.strip())


def test_cpp_of_the_readme(folder):
    (code,) = blocks("README.md", "cpp")
    includes, body = re.fullmatch(r"((?:#include[^\n]*\n)+)(.*)", code, re.DOTALL).groups()
    (folder / "main.cpp").write_text(
        f"{includes}#include <cstdio>\n"
        f'int main() {{\n{body}\nfor (float f : x.as<float>()) std::printf("%g ", f);\n}}\n'
    )
    (folder / "scale.metal").write_text((folder / "scale.metal").read_text().replace("x[i] *=", "x[i] = i *"))
    library = f"-L{build / 'lib'}", "-lmetalloid", f"-Wl,-rpath,{build / 'lib'}"
    command = ["g++", "-std=c++20", f"-I{root / 'include'}", "main.cpp", *library, "-o", "main"]
    compiled = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert compiled.returncode == 0, compiled.stderr
    assert subprocess.run(["./main"], capture_output=True, text=True, timeout=1200).stdout == "0 10 20 30 40 "


def test_python_of_the_checkers_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(root / "tests/checker/threadgroup-race/reversed_at_once.metal", tmp_path)
    (code,) = blocks("docs/checker.md", "python")
    import metalloid

    with pytest.raises(metalloid.CheckError, match="without a barrier between them"):
        exec(compile(code, "checker.md", "exec"), {})


def test_cpp_of_the_checkers_page(tmp_path):
    (code,) = blocks("docs/checker.md", "cpp")
    source = (root / "tests/checker/threadgroup-race/reversed_at_once.metal").read_text()
    (tmp_path / "main.cpp").write_text(
        "#include <metalloid/check.h>\n#include <metalloid/metalloid.h>\n#include <iostream>\nint main() {\n"
        f'metalloid::Kernel kernel = metalloid::Device::cpu().make_library(R"({source})").kernel("reversed");\n'
        "metalloid::Buffer x(64 * sizeof(float));\n"
        "const auto dispatch = metalloid::Dispatch().buffer(0, x).threads({64}, {64});\n" + code + "}\n"
    )
    library = f"-L{build / 'lib'}", "-lmetalloid", f"-Wl,-rpath,{build / 'lib'}"
    command = ["g++", "-std=c++20", f"-I{root / 'include'}", tmp_path / "main.cpp", *library, "-o", tmp_path / "main"]
    compiled = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert compiled.returncode == 0, compiled.stderr
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=1200)
    assert printed.returncode == 0 and "[threadgroup-race]" in printed.stderr, printed.stdout + printed.stderr


def test_every_sample_is_run():
    """A page with code in Python or C++ is one that a test here, or beside, runs."""
    texts = "".join(file.read_text() for file in (root / "tests").rglob("test_*.py"))
    for page in pages:
        if re.search(r"^```(python|cpp)", page.read_text(), re.MULTILINE):
            assert re.search(rf'blocks\("(docs/)?{re.escape(page.name)}"|/ "{re.escape(page.name)}"', texts), page


def test_tuning_page(metalloid_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("METALLOID_CACHE_DIR", str(tmp_path / "cache"))
    (source,) = blocks("docs/tuning.md", "metal")
    pathlib.Path("rms_norm.metal").write_text(source)
    (tune, shown), (run, _) = sessions("docs/tuning.md")
    tuned = metalloid_cli(*shlex.split(tune)[1:], "--rounds", "1")
    assert tuned.returncode == 0, tuned.stderr
    lines, expected = tuned.stdout.splitlines(), shown.splitlines()
    assert lines[0].split(";")[0] == expected[0].split(";")[0] and len(lines) >= len(expected)
    assert lines[1].split() == expected[1].split()
    assert [line.split()[0] for line in lines[2:8]] == [line.split()[0] for line in expected[2:8]]
    assert "(cached)" in metalloid_cli(*shlex.split(run)[1:], "--print", "1").stderr

    first, second = blocks("docs/tuning.md", "python")
    names = {}
    exec(compile(first, "tuning.md", "exec"), names)
    x, out = names["x"], names["out"]
    assert numpy.allclose(out, x / numpy.sqrt((x.astype(float) ** 2).mean(axis=1, keepdims=True) + 1e-5), atol=1e-5)
    exec(compile(second, "tuning.md", "exec"), names)
    assert (names["y"] == 2 * x).all()


def test_simd_engine_page(metalloid_cli, tmp_path, monkeypatch):
    (source,) = blocks("docs/simd-engine.md", "metal")
    (tmp_path / "halve.metal").write_text(source)
    text = (root / "docs/simd-engine.md").read_text()
    names = ("simplify_control_flow", "optimise_vectors")
    for shown, name in zip(blocks("docs/simd-engine.md", "llvm"), names, strict=True):
        assert f"`{name}`" in text
        monkeypatch.setenv("METALLOID_DUMP", f"after:{name}")
        printed = metalloid_cli("compile", tmp_path / "halve.metal", "--emit", "asm", "-o", tmp_path / "code.s").stderr
        # Numbers of values are not what the page is about.
        lines = [re.sub(r"%\d+", "%", line) for line in printed.splitlines()]
        for line in shown.splitlines():
            wanted = re.sub(r"%\d+", "%", line)
            assert any(found.startswith(wanted) for found in lines), (name, line)


def test_passes_that_the_simd_engine_page_names():
    (named,) = re.findall(r"In their order:\n(.*?)\n\n", (root / "docs/simd-engine.md").read_text(), re.DOTALL)
    engine = (root / "src/engines/simd/simd_engine.cpp").read_text()
    assert re.findall(r"`(\w+)`", named) == re.findall(r'pass\("(\w+)"', engine)
