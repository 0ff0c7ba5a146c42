"""Times of large kernels on the device cpu and on the reference engine, by turns, and what they take to compile, as JSON.

Results are compared with oracles that have nothing of the kernels (oracles.py) before anything is timed. Every kernel gets
processes of its own, so that the others are measured also when one of them crashes.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import sys
from collections.abc import Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from case import Case, MetalDevice, difference
from large.cases import CASES, make_case
from measuring import OtherLoad, measure
from workers import Worker

DEVICES = ("cpu", "reference")


class ColdDevice(MetalDevice):
    """Finds nothing of a kernel in any cache, but has compiled the standard library's headers that it includes."""

    def prepare(self, name: str) -> Callable[[], None]:
        case = self._make_case(name)
        headers = re.findall(r"^#include <.*>\n", case.file.read_text(), re.MULTILINE)
        text = "".join(headers or ["#include <metal_stdlib>\n"]) + "kernel void nothing() {}\n"
        library = self._metalloid.compile_shader(text, device=self._device, language=case.language, math_mode="fast")
        library.get_kernel("nothing")
        return super().prepare(name)


class Failure(Exception):
    """A device could not run a kernel: its name, and what happened."""


@contextlib.contextmanager
def failure_of(device: str, doing: str) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, OSError) as error:  # what went wrong in a worker, or with it
        print(error, file=sys.stderr, flush=True)
        line = re.search(r"^[\w.]*Error: .*", str(error), re.MULTILINE)  # which a worker says after where it was
        raise Failure(device, f"failed when {doing}: {line.group() if line else error}") from error


def wrong_results(case: Case, workers: list[Worker]) -> dict[str, str]:
    right, wrong = case.expected(), {}
    for worker in workers:
        with failure_of(worker.name, "running"):
            worker.seconds(1)
            results = worker.results()
        for got, wanted in zip(results, right, strict=True):
            if differing := difference(case, got.ravel(), wanted.ravel()):
                wrong[worker.name] = differing
    return wrong


def compare(name: str, compiles: int, seconds: float, result: dict) -> None:
    """Adds a kernel's row, or what is wrong with it."""
    workers: dict[str, Worker] = {}
    engines: dict[str, str | None] = {}
    compile_seconds: list[float] = []
    try:
        for device in [DEVICES[0]] * compiles + [DEVICES[1]]:
            if device in workers:
                workers.pop(device).end()
            workers[device] = Worker(device, ColdDevice, device, make_case)
            with failure_of(device, "compiling"):
                engines[device] = workers[device].prepare(name)
            if device == DEVICES[0]:
                compile_seconds.append(workers[device].compile_seconds())
        result["runtimes"] = {each.name: each.description for each in workers.values()}
        if wrong := wrong_results(make_case(name), list(workers.values())):
            result["wrong"][name] = wrong
            return
        with OtherLoad([each.process for each in workers.values()]) as load:
            times = measure({each.name: each.seconds for each in workers.values()}, seconds)
    except Failure as failure:
        device, what = failure.args
        result["wrong"][name] = {device: what}
        return
    finally:
        for worker in workers.values():
            worker.end()
    result["kernels"][name] = {
        "seconds": times,
        "compile_seconds": compile_seconds,
        "engines": engines,
        "other_load": load.part,
    }
    took = ", ".join(f"{each} {statistics.median(some) * 1e3:.2f} ms" for each, some in times.items())
    print(f"{name}: {took}; others kept {load.part:.0%} of the machine busy", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", help="some of them, with commas between")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each kernel, about")
    parser.add_argument("--compiles", type=int, default=3, help="how many times each kernel is compiled")
    options = parser.parse_args()
    chosen = options.kernels.split(",") if options.kernels else list(CASES)
    if unknown := set(chosen) - set(CASES):
        sys.exit(f"no such kernel: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    os.environ["METALLOID_CACHE"] = "0"
    result: dict = {"runtimes": {}, "kernels": {}, "wrong": {}}
    for name in chosen:
        compare(name, options.compiles, options.seconds, result)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
