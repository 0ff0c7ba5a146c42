"""Times of PyTorch's operators and of small models on the CPU and on the device mps, by turns, as JSON.

Run by `python -m metalloid.mps`. Results are compared before anything is timed.
"""

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")  # code of other versions of the device

import torch
from measuring import OtherLoad, measure, seconds_of
from mps_operators.cases import CASES, KINDS, Case

DEVICES = ("cpu", "mps")


def difference(case: Case, got: torch.Tensor, wanted: torch.Tensor) -> str:
    """In words; empty if there is none that counts."""
    got, wanted = got.cpu().double(), wanted.double()
    if got.shape != wanted.shape:
        return f"{tuple(got.shape)} and not {tuple(wanted.shape)}"
    largest = float(wanted.abs().max())
    off = float((got - wanted).abs().max())
    return "" if off <= case.tolerance * max(largest, 1e-3) else f"off by {off:.2e} of {largest:.2e}"


def timed(run: Callable[[], object], device: str) -> Callable[[int], float]:
    def finished() -> None:
        run()
        if device == "mps":
            torch.mps.synchronize()

    return lambda calls: seconds_of(finished, calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", help="some of the operators and models, with commas between")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each, about")
    options = parser.parse_args()
    chosen = options.kernels.split(",") if options.kernels else list(CASES)
    if unknown := set(chosen) - set(CASES):
        sys.exit(f"no such operator: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    torch.set_num_threads(os.cpu_count() or 1)
    torch._dynamo.config.recompile_limit = len(CASES)  # models of one class share what counts compilations
    result: dict = {"torch": torch.__version__, "threads": torch.get_num_threads(), "kernels": {}, "wrong": {}}
    for name in chosen:
        runs = {device: CASES[name].make(device) for device in DEVICES}
        if wrong := difference(CASES[name], runs["mps"](), runs["cpu"]()):
            result["wrong"][name] = {"mps": wrong}
            continue
        with OtherLoad() as load:
            times = measure({device: timed(run, device) for device, run in runs.items()}, options.seconds)
        kind = next(kind for kind, cases in KINDS.items() if name in cases)
        result["kernels"][name] = {"seconds": times, "kind": kind, "other_load": load.part}
        took = ", ".join(f"{device} {min(seconds) * 1e3:.3f} ms" for device, seconds in times.items())
        print(f"{name}: {took}; others kept {load.part:.0%} of the machine busy", file=sys.stderr, flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
