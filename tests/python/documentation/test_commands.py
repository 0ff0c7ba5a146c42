"""Every shell command on README.md, CONTRIBUTING.md and the pages of docs/ runs as it stands, or is listed here with the
reason why not."""

import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

import numpy
import pytest
from conftest import build, root

pages = [root / "README.md", root / "CONTRIBUTING.md", root / "examples/README.md", *sorted((root / "docs").glob("*.md"))]
PROGRAMS = r"(?:export |metalloid |python3? |pytest |make |cmake |g\+\+ |\S+=\S* \S|\S*/\S+(?: |$))"


class Command(NamedTuple):
    """A command of a page.

    Attributes:
        page: its place in the repository.
        text: as the shell takes it; lines that go on are one.
        before: exports above it in its block.
    """

    page: str
    text: str
    before: str = ""


def blocks(text):
    """What is for a shell: blocks named sh, commands after $, indented lines that begin as commands, steps of CI."""
    for kind, block in re.findall(r"^```(\w+)[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if kind == "sh":
            yield block
        elif kind == "console":
            yield "".join(found + "\n" for found in re.findall(r"^\$ ((?:.*\\\n)*.*)$", block, re.MULTILINE))
        elif kind == "yaml":
            yield "".join(found + "\n" for found in re.findall(r"^- run: (.*)$", block, re.MULTILINE))
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for block in re.findall(r"(?:^    .*\n)+", rest, re.MULTILINE):
        lines = re.sub(r"^    ", "", block, flags=re.MULTILINE)
        if lines.startswith("$ "):
            yield re.match(r"\$ (.*\n)", lines)[1]
        elif re.match(rf"(?:#.*\n)*{PROGRAMS}", lines) and not lines.startswith("metalloid: "):
            yield lines


def logical_lines(block):
    """A command may go on behind a backslash, or within quotes."""
    command = ""
    for line in block.splitlines():
        command += line
        if command.endswith("\\"):
            command = command[:-1]
        elif len(re.findall(r"(?<!\\)'", re.sub(r'"[^"\']*"|#.*', "", command))) % 2 == 0:
            yield re.sub(r"\s+# .*|^# .*", "", command).strip()
            command = ""
        else:
            command += "\n"
    assert not command, f"a command does not end: {command}"


def commands():
    for page in pages:
        name = str(page.relative_to(root))
        for block in blocks(page.read_text()):
            before = ""
            for text in filter(None, logical_lines(block)):
                yield Command(name, text, before)
                if text.startswith("export "):
                    before += text + "\n"


# Commands that other tests run, with the files that the page shows: all of a page, or those that match.
ELSEWHERE = {
    "README.md": (r"metalloid ", "tests/python/documentation/test_pages.py"),
    "examples/README.md": (r"metalloid ", "tests/python/documentation/test_examples.py"),
    "docs/adding-an-operator.md": (r"", "tests/python/aten/test_adding_an_operator.py"),
    "docs/checker.md": (r"metalloid check \w+_\w+.metal", "tests/python/documentation/test_checker_page.py"),
    "docs/from-cpp.md": (r"cmake|build/scale|export PKG_CONFIG_PATH|g\+\+", "tests/cli/test_install.py"),
    "docs/mac-programs.md": (r"", "tests/sdk/test_sdk.py"),
    "docs/mac-scripts-in-linux-ci.md": (r"python -m metalloid.mps scale.py|pytest .*test_scale.py", "tests/python/pytest_plugin/test_mac_scripts_in_linux_ci.py"),
    "docs/tuning.md": (r"", "tests/python/documentation/test_pages.py"),
}  # fmt: skip

# Commands that no test runs.
NOT_RUN = [
    (r".*", r"make |cmake --preset|BUILD=\S+ scripts/fuzz.sh", "they build and test this very project, for minutes to hours"),
    ("docs/findings.md", r"", "they are about kernels of other projects, which are not here"),
    ("docs/mac-programs.md", r"metalloid sdk shell cmake .*\bout\b|PYTHONPATH=src ", "they build and test a project that is not here"),
    ("docs/mac-scripts-in-linux-ci.md", r".*install_dependencies.sh|python3 -m venv|\S*pip install", "they install packages"),
    ("docs/mac-scripts-in-linux-ci.md", r"docker ", "they need Docker"),
]


def fate(command):
    """"run", the test that runs it, or why none does."""
    for page, pattern, reason in NOT_RUN:
        if re.fullmatch(page, command.page) and re.match(pattern, command.text):
            return reason
    pattern, test = ELSEWHERE.get(command.page, ("$^", ""))
    return test if re.match(pattern, command.text) else "run"


KERNEL = "kernel void {name}(device float* x, uint i [[thread_position_in_grid]]) {{ x[i] = x[i] * 2 + {more}; }}\n"
COPY = "kernel void copy(device float* x, device float* out, uint i [[thread_position_in_grid]]) { out[i] = x[i]; }\n"
MPS_SCRIPT = 'import sys, torch\nassert torch.ones(3, device="mps").sum().item() == 3\n'
MLX_SCRIPT = "import mlx.core as mx\nassert mx.default_device() == mx.gpu and mx.ones(3).sum().item() == 3\n"
MPS_TEST = 'import torch\n\ndef test_sum():\n    assert torch.ones(3, device="mps").sum().item() == 3\n'
MLX_TEST = "import mlx.core as mx\n\ndef test_device():\n    assert mx.default_device() == mx.gpu\n"
# Files that commands ask for, by page.
FILES = {
    "README.md": {"train.py": MPS_SCRIPT, "generate.py": MLX_SCRIPT, "test_suite.py": MPS_TEST},
    "docs/checker.md": {"kernel.metal": KERNEL.format(name="only", more=1)},
    "docs/coming-from-mlx.md": {"script.py": MLX_SCRIPT, "package/__main__.py": MLX_SCRIPT, "package/__init__.py": ""},
    "docs/coming-from-pytorch.md": {"train.py": MPS_SCRIPT, "package/module.py": MPS_SCRIPT, "package/__init__.py": ""},
    "docs/measuring.md": {
        "new.metal": KERNEL.format(name="softmax", more=1), "old.metal": KERNEL.format(name="softmax", more=1),
        "kernels.metal": KERNEL.format(name="a", more=1) + KERNEL.format(name="b", more=1),
        "kernel.metal": KERNEL.format(name="only", more=1),
    },
    "docs/security.md": {
        "kernel.metal": KERNEL.format(name="only", more=1), "results/nothing": "",
        "script.py": "import metalloid\nassert metalloid.devices()\n",
    },
}  # fmt: skip
# What "..." stands for.
ARGUMENTS = {"docs/measuring.md": "--threads 4096 --arg x=f32[4096]=ones", "": ""}


def without_sandbox(text):
    """Sandboxes want an installation in /usr, or rights that a test need not have: what they start, alone."""
    program = text.split()[0]
    if program not in ("bwrap", "docker", "setpriv") and not (program == "unshare" and not can_unshare(text)):
        return text
    (inner,) = re.findall(r"(metalloid run [^']*|python \S*)'?$", text)
    return inner.replace("/in/", "").replace("/out/", "results/").replace("/tmp/", "")


def can_unshare(text):
    options = text.partition(" metalloid ")[0]
    return subprocess.run(f"{options} true", shell=True, capture_output=True, timeout=1200).returncode == 0


def run(command, folder):
    text = command.text.replace(" arguments...", "")
    text = text.replace(" ...", " " + ARGUMENTS.get(command.page, ""))
    text = without_sandbox(text)
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = f"set -eu\n{command.before}{text}\n"
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=1200)


TO_RUN = [command for command in commands() if fate(command) == "run"]


@pytest.mark.parametrize("command", TO_RUN, ids=lambda command: f"{pathlib.Path(command.page).name}-{command.text[:60]}")
def test_command(command, tmp_path):
    for package, word in (("torch", "metalloid.mps"), ("torch", "--metalloid-mps"), ("mlx.core", "metalloid.mlx"), ("mlx.core", "--metalloid-mlx")):
        if word in command.text:
            pytest.importorskip(package)
    folder = tmp_path
    if "examples/" in command.text:  # from the repository
        for name in ("examples", ".venv"):
            (folder / name).symlink_to(root / name)
    for name, content in FILES.get(command.page, {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    if "out=" in command.text and "/out" not in command.text:
        (folder / "kernel.metal").write_text(COPY)
    if "mac-scripts" in command.page:
        is_mlx = "mlx" in command.text
        (folder / "script.py").write_text(MLX_SCRIPT if is_mlx else MPS_SCRIPT)
        (folder / "test_suite.py").write_text(MLX_TEST if is_mlx else MPS_TEST)
    numpy.save(folder / "x.npy", numpy.arange(8, dtype=numpy.float32))
    done = run(command, folder)
    # 4: the checker found something.
    statuses = (0, 4) if " check " in command.text else (0,)
    assert done.returncode in statuses, f"{command.text}\n{done.stdout}\n{done.stderr}"


def test_reasons_are_of_use():
    """No reason outlives its command, and the tests that run the others read the page."""
    everything = list(commands())
    for page, pattern, reason in NOT_RUN:
        assert any(fate(command) == reason for command in everything), (page, pattern)
    for page, (pattern, test) in ELSEWHERE.items():
        assert any(command.page == page and fate(command) == test for command in everything), (page, pattern)
        text = (root / test).read_text()
        assert pathlib.Path(page).name in text or "docs" in text, (page, test)
    assert set(FILES) <= {command.page for command in TO_RUN}
