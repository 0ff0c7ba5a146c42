"""What a checked kernel takes, against the same kernel unchecked and against Oclgrind, and what both tools find, as JSON.

Contenders are processes, by turns. The program's trace says what its dispatches took; from Oclgrind's time that of a run
with one work-group is taken away. What a checked kernel computes is compared with the device cpu, bit by bit: checks run
on the same engine first, and on the reference engine, which rounds otherwise, only where something may be wrong.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from commands import Metalloid, Oclgrind, Refusal, Report
from defects import DEFECTS, Defect
from kernels import NAMES, large, least, small
from measuring import OtherLoad
from work import Work, root

REFERENCE, CPU, CHECK = ("run", "--device", "reference"), ("run", "--device", "cpu"), ("check",)
ENOUGH = 4 << 20  # bytes bound, from which on the memory that they need in a process can be told from the rest
RUNS_FOR_DEFECTS = 3  # of Oclgrind, whose threads may come in any order
QUIET = 0.1  # part of the machine that others may take without spoiling a sample


class Patience:
    """Takes samples that others disturbed again, for so many seconds in all."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self.other_load = 0.0  # in the samples that count, at most

    def __call__(self, take: Callable[[], Any]) -> Any:
        sample, disturbed = self._once(take)
        while disturbed > QUIET and self._left > 0:
            start = time.monotonic()
            again = self._once(take)
            sample, disturbed = min((sample, disturbed), again, key=lambda both: both[1])
            self._left -= time.monotonic() - start
        self.other_load = max(self.other_load, disturbed)
        return sample

    def _once(self, take: Callable[[], Any]) -> tuple[Any, float]:
        with OtherLoad() as load:
            sample = take()
        return sample, load.part


def by_turns(contenders: dict[str, Callable[[], Any]], rounds: int, patience: Patience) -> dict[str, list]:
    samples: dict[str, list] = {name: [] for name in contenders}
    order = list(contenders.items())
    for turn in range(rounds):
        for place in range(len(order)):
            name, take = order[(place + turn) % len(order)]
            samples[name].append(patience(take))
    return samples


def cost(metalloid: Metalloid, work: Work, rounds: int, patience: Patience) -> dict:
    """Against the same kernel unchecked."""
    core = {min(os.sched_getaffinity(0))}

    def fastest(words: tuple[str, ...], repeat: int, cores: set[int] | tuple = ()) -> Callable[[], float]:
        return lambda: min(metalloid.dispatches(words, work, repeat, cores))

    contenders = {
        "reference": fastest(REFERENCE, 9),
        "reference, one core": fastest(REFERENCE, 9, core),
        "cpu": fastest(CPU, 19),
        "checked": fastest(CHECK, 3),
        "checked, one core": fastest(CHECK, 3, core),
    }
    seconds = by_turns(contenders, rounds, patience)
    row = {"seconds": seconds, "grid": work.grid, "bytes": work.bytes, "other_load": patience.other_load}
    if work.bytes >= ENOUGH:
        row["peaks"] = {"reference": metalloid.peak(REFERENCE, work), "checked": metalloid.peak(CHECK, work)}
    return row


def against_oclgrind(metalloid: Metalloid, oclgrind: Oclgrind, name: str, rounds: int, patience: Patience) -> dict:
    work, one_group = small(name), least(name)
    core = {min(os.sched_getaffinity(0))}
    contenders: dict[str, Callable[[], Any]] = {
        "Oclgrind": lambda: oclgrind.whole(work),
        "one work-group": lambda: oclgrind.whole(one_group),
        "checked": lambda: metalloid.whole(CHECK, work),
        "dispatch": lambda: min(metalloid.dispatches(CHECK, work, 9)),
        "dispatch, one core": lambda: min(metalloid.dispatches(CHECK, work, 9, core)),
    }
    samples = by_turns(contenders, rounds, patience)
    pairs = list(zip(samples["Oclgrind"], samples["one work-group"], strict=True))
    tools = "Oclgrind", "checked"
    return {
        "whole": {tool: [ended.seconds for ended in samples[tool]] for tool in tools},
        "kernel": {"Oclgrind": [all_.seconds - one.seconds for all_, one in pairs], "checked": samples["dispatch"]},
        "core": {
            "Oclgrind": [all_.core_seconds - one.core_seconds for all_, one in pairs],
            "checked": samples["dispatch, one core"],
        },
        "grid": work.grid,
        "other_load": patience.other_load,
    }


def said(reports: list[Report], kinds: tuple[str, ...], wrong_lines: set[int]) -> dict:
    """Which reports name the defect, whether they name its line, and what else was reported."""
    right = [each for each in reports if each.kind in kinds]
    return {
        "found": sorted({each.kind for each in right}),
        "line": any(set(each.lines) & wrong_lines for each in right),
        "others": sorted({each.kind for each in reports} - set(kinds)),
    }


def defect(metalloid: Metalloid, oclgrind: Oclgrind, which: Defect) -> dict:
    theirs = [each for _ in range(RUNS_FOR_DEFECTS) for each in oclgrind.reports(which.work)]
    return {
        "what": which.what,
        "is_wrong": bool(which.classes),
        "checked": said(metalloid.reports(which.work), which.classes, which.wrong_lines(".metal")),
        "Oclgrind": said(theirs, which.messages, which.wrong_lines(".cl")),
    }


def tell(name: str, seconds: dict[str, list[float]], row: dict) -> None:
    took = ", ".join(f"{each} {min(some) * 1e3:.2f} ms" for each, some in seconds.items())
    print(f"{name}: {took}; others kept {row['other_load']:.0%} of the machine busy", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metalloid", default=str(root / "build" / "bin" / "metalloid"), help="the command")
    parser.add_argument("--kernels", help="some of them, with commas between")
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison")
    parser.add_argument("--patience", type=float, default=5.0,
                        help="seconds of each comparison for taking samples again that others disturbed")  # fmt: skip
    parser.add_argument("--without-oclgrind", action="store_true", help="only what a check costs")
    options = parser.parse_args()
    chosen = options.kernels.split(",") if options.kernels else NAMES
    if unknown := set(chosen) - set(NAMES):
        sys.exit(f"no such kernel: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    result: dict = {"cost": {}, "oclgrind": {}, "defects": {}, "wrong": {}}
    with tempfile.TemporaryDirectory() as folder:
        metalloid = Metalloid(options.metalloid, pathlib.Path(folder))
        oclgrind = None if options.without_oclgrind else Oclgrind(pathlib.Path(folder))
        result["versions"] = {"checked": metalloid.version(), **({"Oclgrind": oclgrind.version()} if oclgrind else {})}
        for name in chosen:
            if metalloid.results(CPU, large(name)) != metalloid.results(CHECK, large(name)):
                result["wrong"][name] = {"checked": "it computed something else than the device cpu"}
                continue
            row = result["cost"][name] = cost(metalloid, large(name), options.rounds, Patience(options.patience))
            tell(name, row["seconds"], row)
            if not oclgrind:
                continue
            try:
                row = against_oclgrind(metalloid, oclgrind, name, options.rounds, Patience(options.patience))
            except Refusal as why:
                result["wrong"][name] = {"Oclgrind": str(why)}
                continue
            result["oclgrind"][name] = row
            tell(f"{name}, smaller", row["kernel"], row)
        if oclgrind:
            result["defects"] = {each.name: defect(metalloid, oclgrind, each) for each in DEFECTS}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
