"""What a checked kernel takes, against the same kernel unchecked and against Oclgrind, and what both tools find, as JSON.

Contenders are processes, by turns. The program's trace says what its dispatches took; from Oclgrind's time that of a run
with one work-group is taken away.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from commands import Crash, Ended, Metalloid, Oclgrind, Report  # noqa: E402
from defects import DEFECTS, Defect  # noqa: E402
from kernels import NAMES, large, least, small  # noqa: E402
from measuring import OtherLoad  # noqa: E402
from work import Work, root  # noqa: E402

REFERENCE, CPU, CHECK = ("run", "--device", "reference"), ("run", "--device", "cpu"), ("check",)
ENOUGH = 4 << 20  # bytes bound, from which on the memory that they need in a process can be told from the rest
RUNS_FOR_DEFECTS = 3  # of Oclgrind, whose threads may come in any order


def by_turns(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list]:
    samples: dict[str, list] = {name: [] for name in contenders}
    order = list(contenders.items())
    for turn in range(rounds):
        for place in range(len(order)):
            name, take = order[(place + turn) % len(order)]
            samples[name].append(take())
    return samples


def cost(metalloid: Metalloid, work: Work, rounds: int) -> dict:
    """Against the same kernel unchecked."""
    core = {min(os.sched_getaffinity(0))}

    def median(words: tuple[str, ...], repeat: int, cores: set[int] | tuple = ()) -> Callable[[], float]:
        return lambda: statistics.median(metalloid.dispatches(words, work, repeat, cores))

    contenders = {
        "reference": median(REFERENCE, 7),
        "reference, one core": median(REFERENCE, 7, core),
        "cpu": median(CPU, 15),
        "checked": median(CHECK, 3),
    }
    with OtherLoad() as load:
        seconds = by_turns(contenders, rounds)
    row = {"seconds": seconds, "grid": work.grid, "group": work.group, "bytes": work.bytes, "other_load": load.part}
    if work.bytes >= ENOUGH:
        row["peaks"] = {"reference": metalloid.peak(REFERENCE, work), "checked": metalloid.peak(CHECK, work)}
    return row


def against_oclgrind(metalloid: Metalloid, oclgrind: Oclgrind, name: str, rounds: int) -> dict:
    work, one_group = small(name), least(name)
    contenders: dict[str, Callable[[], Ended | float]] = {
        "Oclgrind": lambda: oclgrind.whole(work),
        "one work-group": lambda: oclgrind.whole(one_group),
        "checked": lambda: metalloid.whole(CHECK, work),
        "dispatch": lambda: statistics.median(metalloid.dispatches(CHECK, work, 9)),
    }
    with OtherLoad() as load:
        samples = by_turns(contenders, rounds)
    whole = samples["Oclgrind"]
    alone = [ended.seconds - one.seconds for ended, one in zip(whole, samples["one work-group"], strict=True)]
    return {
        "whole": {name: [ended.seconds for ended in samples[name]] for name in ("Oclgrind", "checked")},
        "whole_core_seconds": {name: [ended.core_seconds for ended in samples[name]] for name in ("Oclgrind", "checked")},
        "kernel": {"Oclgrind": alone, "checked": samples["dispatch"]},
        "grid": work.grid, "group": work.group, "other_load": load.part,
    }  # fmt: skip


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metalloid", default=str(root / "build" / "bin" / "metalloid"), help="the command")
    parser.add_argument("--kernels", help="some of them, with commas between")
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison")
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
            if metalloid.results(REFERENCE, large(name)) != metalloid.results(CHECK, large(name)):
                result["wrong"][name] = {"checked": "the checked kernel computed something else"}
                continue
            row = result["cost"][name] = cost(metalloid, large(name), options.rounds)
            took = ", ".join(f"{each} {min(seconds) * 1e3:.2f} ms" for each, seconds in row["seconds"].items())
            print(f"{name}: {took}; others kept {row['other_load']:.0%} of the machine busy", file=sys.stderr, flush=True)
            if oclgrind:
                try:
                    row = result["oclgrind"][name] = against_oclgrind(metalloid, oclgrind, name, options.rounds)
                except Crash as signal:
                    result["wrong"][name] = {"Oclgrind": f"it crashed, {signal}"}
                    continue
                took = ", ".join(f"{each} {min(seconds) * 1e3:.2f} ms" for each, seconds in row["kernel"].items())
                print(f"{name}, smaller: {took}", file=sys.stderr, flush=True)
        if oclgrind:
            result["defects"] = {each.name: defect(metalloid, oclgrind, each) for each in DEFECTS}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
