"""Fills docs/checker.md: kernels of tests/checker, what `metalloid check` says of them, and their repairs.

    python scripts/checker_page.py           fills the page; needs a built command line
    python scripts/checker_page.py --check   says whether it is up to date

Each block follows a comment that names its kernel, and begins with the next line:

    <!-- kernel: tests/checker/CLASS/NAME.metal -->   the wrong kernel, without its comments for tests
    <!-- report: tests/checker/CLASS/NAME.metal -->   the command and its report
    <!-- repair: tests/checker/CLASS/NAME.metal -->   what the repair changes
"""

import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
build = pathlib.Path(os.environ.get("METALLOID_BUILD", root / "build"))
page = root / "docs" / "checker.md"

block = re.compile(r"(<!-- (kernel|report|repair): (\S+) -->\n)(?:```.*?^```\n)?", re.DOTALL | re.MULTILINE)


def kernel_text(file: pathlib.Path, is_repaired: bool) -> str:
    """One of a file's two kernels, without comments for tests."""
    lines = file.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if not line.startswith("//"))
    kept, is_shown = [], True
    for line in lines[first:]:
        if line in ("#ifdef REPAIRED", "#ifndef REPAIRED"):
            is_shown = is_repaired == (line == "#ifdef REPAIRED")
            other = not is_shown
        elif line == "#else":
            is_shown = other
        elif line == "#endif":
            is_shown = True
        elif is_shown:
            kept.append(re.sub(r"\s*// @\w+$", "", line))
    return "\n".join(kept) + "\n"


def command_of(file: pathlib.Path) -> str:
    (options,) = re.findall(r"^// CHECK: (.*)$", file.read_text(), re.MULTILINE)
    return f"metalloid check {file.name} {options}"


def report_of(file: pathlib.Path) -> str:
    """What the command line prints about the kernel as the page shows it."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / file.name).write_text(kernel_text(file, is_repaired=False))
        program, *arguments = shlex.split(command_of(file))
        result = subprocess.run(
            [build / "bin" / program, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
    if result.returncode != 4:
        raise SystemExit(f"{file}: nothing was found (exit code {result.returncode})\n{result.stderr}")
    return result.stderr


def content_of(kind: str, file: pathlib.Path) -> str:
    wrong = kernel_text(file, is_repaired=False)
    if kind == "kernel":
        return f"```metal\n{wrong}```\n"
    if kind == "report":
        return f"```console\n$ {command_of(file)}\n{report_of(file).strip()}\n```\n"
    repaired = kernel_text(file, is_repaired=True)
    lines = difflib.unified_diff(wrong.splitlines(), repaired.splitlines(), lineterm="", n=1)
    return "```diff\n" + "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@"))) + "\n```\n"


def filled(text: str) -> str:
    """The page with all of its blocks as they should be."""
    return block.sub(lambda found: found[1] + content_of(found[2], root / found[3]), text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if the page is not up to date")
    options = parser.parse_args()
    before = page.read_text()
    after = filled(before)
    if not options.check:
        page.write_text(after)
        return 0
    sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "the page", "now"))
    return int(before != after)


if __name__ == "__main__":
    sys.exit(main())
