"""What checks of bounds cost: the kernels of opencl/, machine/ and the examples with and without, by turns, as JSON."""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "bench" / "opencl"))

from case import MetalDevice  # noqa: E402
from cases import CASES, make_case  # noqa: E402
from machine_limits import ELEMENTS, SIZE, floats  # noqa: E402
from measuring import OtherLoad, measure  # noqa: E402
from workers import Worker  # noqa: E402

MODES = ("checked", "unchecked")
folder = root / "bench" / "machine"
MACHINE = {
    "copy": [folder / "copy.metal", "--threads", ELEMENTS, "--group", 256, "--arg", floats(ELEMENTS, fill="zeros"),
             "--arg", floats(ELEMENTS)],
    "matmul": [folder / "matmul.metal", "--threadgroups", f"{SIZE // 128},{SIZE // 64}", "--group", 128, "--arg",
               floats(SIZE, SIZE, fill="zeros"), "--arg", floats(SIZE, SIZE), "--arg", floats(SIZE, SIZE), "--arg", SIZE],
    "q4_matvec": [folder / "q4_matvec.metal", "--threadgroups", 2048, "--group", 64, "--arg", floats(16384, fill="zeros"),
                  "--arg", f"u8[{16384 * 8192 // 32 * 18}]=uniform", "--arg", floats(8192), "--arg", 8192, "--arg", 16384],
}  # fmt: skip


def make_device(mode: str) -> MetalDevice:
    os.environ["METALLOID_BOUNDS"] = "off" if mode == "unchecked" else "on"
    return MetalDevice("cpu", make_case)


class Command:
    """`metalloid bench` with or without checks: the median seconds of a kernel's runs."""

    def __init__(self, metalloid: str, mode: str, seconds: float) -> None:
        self._metalloid, self._seconds = metalloid, str(seconds)
        self._environment = {**os.environ, "METALLOID_BOUNDS": "off" if mode == "unchecked" else "on"}

    def __call__(self, arguments: list) -> float:
        command = [self._metalloid, "bench", *map(str, arguments), "--device", "cpu", "--seconds", self._seconds, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}: {done.stderr}")
        return json.loads(done.stdout)["runs"][0]["seconds"]


def examples() -> dict[str, list]:
    found = {}
    for line in (root / "bench" / "examples.txt").read_text().splitlines():
        file, *arguments = shlex.split(line, comments=True) or ("",)
        if not file:
            continue
        name = arguments[arguments.index("--kernel") + 1] if "--kernel" in arguments else pathlib.Path(file).stem
        found[f"{pathlib.Path(file).stem}: {name}"] = [root / "examples" / "kernels" / file, *arguments]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metalloid", default=str(root / "build" / "bin" / "metalloid"), help="the command")
    parser.add_argument("--kernels", help="some of them, with commas between")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each kernel, about")
    parser.add_argument("--rounds", type=int, default=5, help="of kernels that the command runs")
    options = parser.parse_args()
    commands = {**MACHINE, **examples()}
    chosen = options.kernels.split(",") if options.kernels else [*CASES, *commands]
    if unknown := set(chosen) - {*CASES, *commands}:
        sys.exit(f"no such kernel: {', '.join(sorted(unknown))}; there are {', '.join([*CASES, *commands])}")

    result: dict[str, dict] = {"kernels": {}}
    workers = [Worker(mode, make_device, mode) for mode in MODES] if set(chosen) & set(CASES) else []
    for name in chosen:
        with OtherLoad([each.process for each in workers]) as load:
            if name in CASES:
                for worker in workers:
                    worker.prepare(name)
                times = measure({each.name: each.seconds for each in workers}, options.seconds)
            else:
                times = {mode: [] for mode in MODES}
                runs = {mode: Command(options.metalloid, mode, options.seconds / options.rounds / 2) for mode in MODES}
                for turn in range(options.rounds):
                    for mode in MODES if turn % 2 else MODES[::-1]:
                        times[mode].append(runs[mode](commands[name]))
        result["kernels"][name] = {"seconds": times}
        if name in CASES:
            result["kernels"][name]["other_load"] = load.part
        over = sorted(a / b for a, b in zip(times["checked"], times["unchecked"], strict=True))
        print(f"{name}: {over[len(over) // 2]:.2f}", file=sys.stderr, flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
