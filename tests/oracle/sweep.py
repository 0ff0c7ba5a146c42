"""python tests/oracle/sweep.py [--seed N] [--count N] [--devices a,b] [--jobs N] [--seconds N] [--progress FILE]

Makes random kernels, one for each seed, runs each on the devices in several shapes of grid and threadgroup, and
compares all that they write with what NumPy computes. Of a difference it prints the seed and a kernel that was made as
small as still shows it, with its buffers. Ends with 1 if anything differed. With --progress or --keep-in it goes on
where an earlier run with the same seeds ended.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import ctypes
import hashlib
import json
import multiprocessing
import os
import pathlib
import signal
import sys
import time

if __package__ in (None, ""):  # run as a file
    folder = pathlib.Path(__file__).resolve().parent
    build = pathlib.Path(os.environ.get("METALLOID_BUILD", folder.parent.parent / "build"))
    sys.path[:1] = [str(folder.parent), str(build / "python")]
    __package__ = "oracle"

from .compare import Difference, Expected, Library
from .grid import Shape
from .make_program import kernels_per_library, make_program, shapes_for
from .minimise import minimise
from .program import Program

DEVICES = ["cpu", "reference"]  # every engine that runs on any machine


def counts_of() -> dict[str, int]:
    return {"kernels": 0, "dispatches": 0, "taken": 0, "differ": 0}


def compare_library(seeds: range, devices: list[str], minimises: bool = True) -> tuple[dict, list[str]]:
    """Counts of each device, and a report for each kernel that differs."""
    programs = [make_program(seed) for seed in seeds]
    expected = [[Expected(program, shape) for shape in shapes_for(program, program.seed)] for program in programs]
    counts: dict[str, dict[str, int]] = collections.defaultdict(counts_of)
    reports = []
    for device in devices:
        try:
            library = Library(programs, device)
        except Exception as error:  # whatever it says is the finding
            counts[device]["differ"] += len(programs)
            text = f"{type(error).__name__}: {error}"
            reports.append(f"==== --seed {seeds.start} --count {len(seeds)}, device {device}: no library\n{text}")
            continue
        for number, program in enumerate(programs):
            found = None
            for each in expected[number]:
                found = library.run(number, each)
                counts[device]["dispatches"] += 1
                if found:
                    break
            counts[device]["kernels"] += 1
            counts[device]["taken"] += library.engine(number) == "simd"
            if found:
                counts[device]["differ"] += 1
                reports.append(report(program, found, minimises))
    return dict(counts), reports


def report(
    program: Program, found: Difference, minimises: bool = True, evaluator: type | None = None, seconds: float = 180
) -> str:
    """For people: what differs, and the smallest kernel that is found within the time."""
    keywords = {"evaluator": evaluator} if evaluator else {}
    where = f"{program.mathematics} mathematics, device {found.device}, {found.shape}"
    text = f"==== --seed {program.seed} --count 1, {where}\n"
    text += found.text + "\n"
    if not minimises:
        return text

    def differs(candidates: list[Program], shape: Shape) -> list[bool]:
        try:
            library = Library(candidates, found.device)
        except SyntaxError:
            return [False] if len(candidates) == 1 else [differs([one], shape)[0] for one in candidates]
        results = [library.run(number, Expected(one, shape, **keywords)) for number, one in enumerate(candidates)]
        return [result is not None and result.kind == found.kind for result in results]

    small, shape = minimise(program, found.shape, differs, seconds)
    library, expected = Library([small], found.device), Expected(small, shape, **keywords)
    last = library.run(0, expected)
    text += f"{last.text if last else 'the small kernel does not differ when it runs again'}\n{shape}\n{library.source}"
    for name, values in expected.buffers(library.printers["k0"]).items():
        text += f"{name}: {' '.join(map(str, values[:40].tolist()))}{' ...' if len(values) > 40 else ''}\n"
    return text


def libraries(first: int, count: int) -> list[range]:
    """The seeds in parts that share their mathematics."""
    result, seed, end = [], first, first + count
    while seed < end:
        stop = min(end, (seed // kernels_per_library + 1) * kernels_per_library)
        result.append(range(seed, stop))
        seed = stop
    return result


class Progress:
    """The libraries that are done and what came of them, in a file of one line for each."""

    def __init__(self, path: str | None) -> None:
        self.path = pathlib.Path(path) if path else None
        self.done: dict[tuple[int, int], dict] = {}
        if self.path and self.path.exists():
            for line in self.path.read_text().splitlines():
                entry = json.loads(line)
                self.done[tuple(entry["seeds"])] = entry["counts"]

    def add(self, seeds: range, counts: dict) -> None:
        self.done[(seeds.start, seeds.stop)] = counts
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps({"seeds": [seeds.start, seeds.stop], "counts": counts}) + "\n")


def run_name(options: argparse.Namespace) -> str:
    """Another library or another generator is another run."""
    import metalloid._core

    state = hashlib.sha256(repr((options.seed, options.count, options.devices)).encode())
    library = pathlib.Path(metalloid._core.library_path())
    for file in (library, *sorted(pathlib.Path(__file__).parent.glob("*.py"))):
        state.update(file.read_bytes())
    return f"{options.seed}-{options.count}-{state.hexdigest()[:16]}"


def end_with_parent() -> None:
    """Of a worker: nobody waits for it once a signal has ended the process that started it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def table(all_counts: list[dict]) -> str:
    totals: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for counts in all_counts:
        for device, numbers in counts.items():
            totals[device].update(numbers)
    lines = [
        "| device | kernels | of them on its first engine | dispatches | differ |",
        "| --- | --- | --- | --- | --- |",
    ]
    for device, numbers in totals.items():
        taken = numbers["taken"] if device != "reference" else numbers["kernels"]
        lines.append(f"| {device} | {numbers['kernels']} | {taken} | {numbers['dispatches']} | {numbers['differ']} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--devices", default=",".join(DEVICES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=0, help="begin no library after that")
    parser.add_argument("--progress", help="a file that keeps what is done")
    parser.add_argument("--keep-in", help="a folder for such a file, named by what the run depends on")
    parser.add_argument("--no-minimise", action="store_true")
    parser.add_argument("--print", action="store_true", help="the seed's kernel, and nothing else")
    options = parser.parse_args(arguments)
    if options.print:
        from .metal_source import library_source

        print(library_source([("k0", make_program(options.seed))])[0], end="")
        return 0
    if options.keep_in:
        pathlib.Path(options.keep_in).mkdir(parents=True, exist_ok=True)
        options.progress = str(pathlib.Path(options.keep_in, run_name(options)))
    progress, start = Progress(options.progress), time.monotonic()
    waiting = [part for part in libraries(options.seed, options.count) if (part.start, part.stop) not in progress.done]
    devices = options.devices.split(",")
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, context, end_with_parent) as pool:
        running: dict = {}
        while waiting or running:
            while waiting and len(running) < 2 * options.jobs:
                if options.seconds and time.monotonic() - start > options.seconds:
                    waiting = []
                    break
                part = waiting.pop(0)
                running[pool.submit(compare_library, part, devices, not options.no_minimise)] = part
            if not running:
                break
            for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                part = running.pop(future)
                counts, reports = future.result()
                for text in reports:
                    print(text, flush=True)
                progress.add(part, counts)
    print(table(list(progress.done.values())))
    print(f"{time.monotonic() - start:.0f} s")
    return 1 if any(numbers["differ"] for counts in progress.done.values() for numbers in counts.values()) else 0


if __name__ == "__main__":
    os.environ.setdefault("METALLOID_CACHE", "0")  # no kernel comes twice
    sys.exit(main())
