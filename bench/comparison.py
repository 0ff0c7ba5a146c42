"""The command of the comparisons: runs the cases on all workers by turns, and prints times as JSON."""

import argparse
import json
import sys
from collections.abc import Callable, Collection

import numpy
from case import Case, MetalDevice, difference
from measuring import OtherLoad, measure
from workers import Worker


def main(
    description: str,
    names: Collection[str],
    make_case: Callable[[str], Case],
    others: Callable[[], list[Worker]],
    expected: Callable[[str, Case, list[Worker]], list[numpy.ndarray]],
) -> None:
    """
    Args:
        make_case: a function of a module.
        others: makes the workers beside Metalloid's devices.
        expected: the results of a case, from the case itself or from those workers.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--devices", default="cpu,reference", help="of Metalloid, with commas between")
    parser.add_argument("--kernels", help="some of them, with commas between")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each kernel, about")
    options = parser.parse_args()
    chosen = options.kernels.split(",") if options.kernels else list(names)
    if unknown := set(chosen) - set(names):
        sys.exit(f"no such kernel: {', '.join(sorted(unknown))}; there are {', '.join(names)}")

    devices = [Worker(name, MetalDevice, name, make_case) for name in options.devices.split(",")]
    strangers = others()
    workers = [*devices, *strangers]
    result = {
        "runtimes": {each.name: each.description for each in workers},
        "first_engines": {each.name: each.first_engine for each in devices},
        "kernels": {},
        "wrong": {},  # is not timed
    }
    for name in chosen:
        case = make_case(name)
        engines = {worker.name: worker.prepare(name) for worker in workers}
        right, wrong = expected(name, case, strangers), {}
        for worker in workers:
            worker.seconds(1)
            for got, wanted in zip(worker.results(), right, strict=True):
                if differing := difference(case, got.ravel(), wanted.ravel()):
                    wrong[worker.name] = differing
        if wrong:
            result["wrong"][name] = wrong
            continue
        with OtherLoad([each.process for each in workers]) as load:
            times = measure({each.name: each.seconds for each in workers}, options.seconds)
        result["kernels"][name] = {
            "seconds": times,
            "engines": {each.name: engines[each.name] for each in devices},
            "grid": case.grid,
            "group": case.group,
            "other_load": load.part,
        }
        took = ", ".join(f"{each} {min(seconds) * 1e3:.2f} ms" for each, seconds in times.items())
        print(f"{name}: {took}; others kept {load.part:.0%} of the machine busy", file=sys.stderr, flush=True)
    print(json.dumps(result))
