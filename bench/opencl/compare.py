"""Times of the same kernels in Metal on Metalloid's devices and in OpenCL C on this machine's CPU runtimes, as JSON.

Every result is compared with NumPy's before anything is timed. This process loads no Metalloid: its threading library
and that of an OpenCL runtime may have the same name.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from cases import CASES, Case, difference  # noqa: E402
from measuring import OtherLoad, measure  # noqa: E402
from runtimes import MetalDevice, OpenClPlatform, platforms  # noqa: E402
from workers import Worker  # noqa: E402


def prepare(name: str, case: Case, workers: list[Worker]) -> dict[str, str | None]:
    """Has all of them run the kernel once and checks the results. Returns the engines that took it."""
    engines, expected = {}, case.expected()
    for worker in workers:
        engines[worker.name] = worker.prepare(name)
        worker.seconds(1)
        for result, right in zip(worker.results(), expected, strict=True):
            if wrong := difference(case, result, right):
                sys.exit(f"{name} on {worker.name}: {wrong}")
    return engines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", default="cpu,reference", help="of Metalloid")
    parser.add_argument("--kernels", help="some of them, with commas between")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each kernel, about")
    options = parser.parse_args()
    names = options.kernels.split(",") if options.kernels else list(CASES)
    if unknown := set(names) - set(CASES):
        sys.exit(f"no such kernel: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")

    workers = [Worker(name, MetalDevice, name) for name in options.devices.split(",")]
    workers += [Worker(name, OpenClPlatform, own_name) for name, own_name in platforms().items()]
    result = {
        "runtimes": {each.name: each.description for each in workers},
        "first_engines": {each.name: each.first_engine for each in workers if each.first_engine},
        "kernels": {},
    }
    for name in names:
        case = CASES[name]()
        engines = prepare(name, case, workers)
        with OtherLoad([each.process for each in workers]) as load:
            times = measure({each.name: each.seconds for each in workers}, options.seconds)
        result["kernels"][name] = {
            "seconds": times, "engines": engines, "grid": case.grid, "group": case.group, "other_load": load.part,
        }  # fmt: skip
        took = ", ".join(f"{each} {min(seconds) * 1e3:.2f} ms" for each, seconds in times.items())
        print(f"{name}: {took}; others kept {load.part:.0%} of the machine busy", file=sys.stderr, flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
