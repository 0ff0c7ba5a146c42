"""ggml's Metal back end beside its own CPU back end: operators, by ggml's own test program, and llama.cpp's tokens.

Which cases of an operator the back end takes, the program says itself; a part of them is chosen by --each.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import build as building
import model

DEVICE = "MTL0"
TYPES = ["F16", "Q4_0", "Q4_K", "Q6_K", "Q8_0"]
AT_ONCE = 200  # cases of one process: a fault ends them


def cases(program: pathlib.Path, environment: dict[str, str]) -> dict[str, list[str]]:
    """Those that the back end takes, by operator."""
    done = subprocess.run([program, "support", "-b", DEVICE, "--output", "csv"], check=True, capture_output=True, text=True,
                          timeout=600, env=environment)  # fmt: skip
    found: dict[str, list[str]] = {}
    for row in csv.DictReader(done.stdout[done.stdout.index('"backend_name"') :].splitlines()):
        if row["backend_name"] == DEVICE and row["supported"] == "1":
            found.setdefault(row["op_name"], []).append(f"{row['op_name']}({row['op_params']})")
    return found


def some_of(names: list[str], count: int) -> list[str]:
    """The same ones each time, spread over all."""
    if not count or len(names) <= count:
        return names
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:count]


def run(program: pathlib.Path, names: list[str], environment: dict[str, str]) -> tuple[set[str], list[str]]:
    """Which of the cases agree, and what was said of the others."""
    done = subprocess.run([program, "-b", DEVICE, "-o", ",".join(names)], capture_output=True, text=True, errors="replace",
                          timeout=3600, env=environment)  # fmt: skip
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    agree = {name for name in names if f"{name}: OK" in text}
    said = [line for line in text.splitlines() if "FAIL" in line or "error" in line.lower()]
    if done.returncode != 0 and not said:
        said = [f"ended with {done.returncode}"]
    return agree, said


def operators(program: pathlib.Path, each: int, only: list[str], environment: dict[str, str]) -> tuple[dict[str, tuple[int, int]], list[str]]:
    """Of each operator, how many cases agree and how many ran; and the names of those that do not agree."""
    results: dict[str, tuple[int, int]] = {}
    wrong: list[str] = []
    for name, all_of_it in cases(program, environment).items():
        if only and name not in only:
            continue
        chosen = some_of(all_of_it, each)
        agree: set[str] = set()
        for begin in range(0, len(chosen), AT_ONCE):
            part, said = run(program, chosen[begin : begin + AT_ONCE], environment)
            agree |= part
            for line in said:
                print(f"  {line}", flush=True)
        wrong += [case for case in chosen if case not in agree]
        results[name] = len(agree), len(chosen)
        print(f"{name}: {len(agree)} of {len(chosen)} agree", flush=True)
    return results, wrong


def tokens(build: pathlib.Path, environment: dict[str, str]) -> dict[str, bool]:
    """Whether a small model with random weights goes on with the same text on both back ends, for each type of weights."""
    programs = building.programs(build, "llama-completion", "llama-quantize")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        first = pathlib.Path(folder) / "F16.gguf"
        model.write(first, building.SOURCE / "gguf-py")
        for kind in TYPES:
            weights = first.with_name(f"{kind}.gguf")
            if kind != "F16":
                subprocess.run([programs / "llama-quantize", "--pure", first, weights, kind, "1"], check=True, capture_output=True,
                               timeout=600)  # fmt: skip
            texts = []
            for device in (DEVICE, "none"):
                command: list[str | pathlib.Path] = [
                    programs / "llama-completion", "-m", weights, "-p", "The quick brown fox", "-n", "32", "--temp", "0", "-no-cnv",
                    "-ngl", "99", "-dev", device, "--no-warmup", "-t", "1",
                ]  # fmt: skip
                done = subprocess.run(command, check=True, capture_output=True, timeout=1200, env=environment)
                texts.append(done.stdout)
            results[kind] = texts[0] == texts[1] and len(texts[0]) > 40
            print(f"{kind}: tokens {'agree' if results[kind] else 'differ'}", flush=True)
    return results


def table(found: dict[str, tuple[int, int]], texts: dict[str, bool]) -> str:
    packages = (building.SOURCE.parent / "installed").read_text().split()
    version = next(name for name in packages if name.startswith("llama")).replace("==", " ")
    agree, ran = (sum(numbers) for numbers in zip(*found.values(), strict=True))
    lines = [f"ggml of {version}, {time.strftime('%Y-%m-%d')}, device {os.environ.get('METALLOID_DEVICE', 'cpu')}: {agree} of {ran} "
             f"cases of {len(found)} operators agree.", ""]  # fmt: skip
    lines += ["| operator | cases | agree |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {ran} | {agree} |" for name, (agree, ran) in sorted(found.items())]
    if texts:
        lines += ["", "Tokens of a small random model: " + ", ".join(f"{kind} {'agree' if same else 'differ'}" for kind, same in texts.items()) + "."]
    return "\n".join(lines) + "\n"


def publish(text: str) -> None:
    """Between the page's two marks."""
    page = building.ROOT / "docs" / "mac-programs.md"
    before, begin, rest = page.read_text().partition("<!-- ggml -->\n")
    _, end, after = rest.partition("<!-- end ggml -->")
    page.write_text(before + begin + text + end + after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("operators", nargs="*", help="operators by ggml's names; all, if there are none")
    parser.add_argument("--build", type=pathlib.Path, default=building.ROOT / "build", help="Metalloid's build folder")
    parser.add_argument("--each", type=int, default=0, help="how many cases of each operator; 0 is all of them")
    parser.add_argument("--publish", action="store_true", help="writes the table onto docs/mac-programs.md")
    arguments = parser.parse_args()
    environment = dict(os.environ)
    found, wrong = operators(building.operator_tests(arguments.build), arguments.each, arguments.operators, environment)
    texts = {} if arguments.operators else tokens(arguments.build, environment)
    if not arguments.operators:
        graphs = subprocess.run([building.many_graphs(arguments.build), "1000"], capture_output=True, text=True, timeout=1200, env=environment)
        print(graphs.stdout.strip(), flush=True)
        if graphs.returncode != 0:
            wrong.append("many graphs")
    for name in wrong:
        print(f"differs: {name}")
    if arguments.publish:
        publish(table(found, texts))
    return 1 if wrong or not all(texts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
