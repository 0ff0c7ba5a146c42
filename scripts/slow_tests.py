#!/usr/bin/env python3
"""Writes tests/slow_tests.txt: what `make test` leaves to `make test-all`, by the times of a run of all tests.

    scripts/slow_tests.py [--seconds N] [TIMES]    TIMES: build/test_times.json, which pytest writes

Each test function may take N seconds, with all its parameters; of one with many parameters every so-many-th is kept, and
of a file whose functions all take longer the shortest, unless it takes ten times as long. So the quick tests still
touch everything.
"""

import argparse
import collections
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "slow_tests.txt"
HEADER = """\
# What `make test` leaves to `make test-all`, as scripts/slow_tests.py found it: a test function, or one in so many of its
# parameters that is kept.
"""


def slow_tests() -> dict[str, int]:
    """Names of test functions; each with N where every Nth of its parameters is quick, or 0 where none is."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(kept or 0) for name, _, kept in (line.partition(" 1 in ") for line in lines)}


def choose(times: dict[str, float], limit: float) -> dict[str, int]:
    functions: dict[str, list[float]] = collections.defaultdict(list)
    for name, seconds in times.items():
        functions[name.partition("[")[0]].append(seconds)
    files: dict[str, list[str]] = collections.defaultdict(list)
    for name in functions:
        files[name.partition("::")[0]].append(name)
    slow = {}
    for names in files.values():
        shortest = min(names, key=lambda name: min(functions[name]))
        for name in names:
            each = functions[name]
            if sum(each) <= limit:
                continue
            every = math.ceil(sum(each) / limit)
            if every < len(each):
                slow[name] = every
            elif name != shortest or sum(each) > 10 * limit:
                slow[name] = 0
            elif len(each) > 1:
                slow[name] = len(each)
    return slow


def kept_seconds(times: dict[str, float], slow: dict[str, int]) -> float:
    total = 0.0
    seen: collections.Counter[str] = collections.Counter()
    for name, seconds in times.items():
        function = name.partition("[")[0]
        if is_quick(function, seen[function], slow):
            total += seconds
        seen[function] += 1
    return total


def is_quick(function: str, number: int, slow: dict[str, int]) -> bool:
    """Whether the function's test with that number, from 0, is among the quick ones."""
    every = slow.get(function)
    return every is None or (every > 0 and number % every == 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("times", type=pathlib.Path, nargs="?", default=ROOT / "build" / "test_times.json")
    arguments = parser.parse_args()
    times = json.loads(arguments.times.read_text())
    slow = choose(times, arguments.seconds)
    lines = [name if every == 0 else f"{name} 1 in {every}" for name, every in sorted(slow.items())]
    LIST.write_text(HEADER + "".join(f"{line}\n" for line in lines))
    print(f"{kept_seconds(times, slow):.0f} of {sum(times.values()):.0f} seconds are of quick tests")


if __name__ == "__main__":
    main()
