#!/usr/bin/env python3
"""Runs programs for Metal's host API under a sanitizer (tests/python/metal_host/programs).

    scripts/soak_metal.py BUILD thread|address TIMES DEVICE...

LLVM is not compiled for ThreadSanitizer; kernels are compiled in a process of their own. Neither is oneTBB, whose threads
would seem to run without order: on one processor it makes none. All others are there, and take turns.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = HOME / "tests/python/metal_host/programs"
RUNS = [("queues.mm",), ("errors.m",), ("constants.m",), ("labelled.m",), ("thread_overrun.m",), ("overrun.m",), ("unbound.m",),
        ("strings.m",), ("behind_buffers.m",), ("around_bytes.m",), ("heap_places.m",), ("last_words.m",), ("leaving.m", "exit"), ("leaving.m", "return"), ("leaving.m", "fork")]  # fmt: skip
OBJECTIVE_C = ["-fblocks", "-fobjc-runtime=objfw", "-fconstant-string-class=NSConstantString"]


def built(name: str, build: pathlib.Path, sanitizer: str, folder: str) -> pathlib.Path:
    program = pathlib.Path(folder) / name.replace(".", "_")
    if not program.exists():
        own = ["-std=c++20", "-lstdc++"] if name.endswith(".mm") else []
        subprocess.run(["clang-22", "-O1", "-g", f"-fsanitize={sanitizer}", *OBJECTIVE_C, *own, f"-I{HOME / 'src/metal/include'}",
                        PROGRAMS / name, build / "lib/libmetalloid_metal.so", f"-Wl,-rpath,{build / 'lib'}", "-lm", "-lpthread",
                        "-o", program], check=True)  # fmt: skip
    return program


def run(command: list[str | pathlib.Path], build: pathlib.Path, device: str) -> str:
    """What is wrong; empty if nothing is."""
    env = os.environ | {
        "METALLOID_CACHE_DIR": str(build / "soak_cache"),
        "METALLOID_DEVICE": device,
        "METALLOID_TRIAL_ENGINE": "1",
        "TSAN_OPTIONS": "halt_on_error=0 exitcode=66 history_size=4 die_after_fork=0",
        "ASAN_OPTIONS": "detect_leaks=0",  # programs count their objects themselves
    }
    processor = str(min(os.sched_getaffinity(0)))
    done = subprocess.run(["taskset", "-c", processor, *command], env=env, capture_output=True, text=True, errors="replace", timeout=1200)
    return "" if done.returncode == 0 and "Sanitizer" not in done.stderr else f"exit code {done.returncode}\n{done.stderr}"


def main() -> int:
    build, sanitizer, times, devices = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, *arguments in RUNS:
            program = built(name, build, sanitizer, folder)
            for device in devices:
                reports = [text for _ in range(times) if (text := run([program, *arguments], build, device))]
                wrong += len(reports)
                print(*reports[:1], sep="\n", end="")
                print(f"{' '.join([name, *arguments])} on {device}: {len(reports)} of {times} runs with reports", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
