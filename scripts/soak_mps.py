#!/usr/bin/env python3
"""Runs the device mps under ThreadSanitizer (tests/python/mps_device/soak).

    scripts/soak_mps.py BUILD SECONDS DEVICE...

torch is not compiled for ThreadSanitizer, which does not see how torch's own threads order what they do. So reports of
which torch made one of the accesses are left out.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parent.parent
FRAME = re.compile(r"\s+#\d+ .*\(([^()+]+)\+0x[0-9a-f]+\)")
WITHOUT_A_SAY = ("libclang_rt", "libstdc++", "libc.so")  # who called them did it
TORCH = ("libtorch", "libc10")


def first_modules(report: str) -> list[str]:
    """The library of each access: of its first frame that says anything."""
    stacks = [stack for stack in report.split("\n\n") if re.match(r".*\b(read|write) of size", stack.strip(), re.I | re.S)]
    found = []
    for stack in stacks[:2]:
        modules = [pathlib.Path(match[1]).name for line in stack.splitlines() if (match := FRAME.match(line))]
        found.append(next((module for module in modules if not module.startswith(WITHOUT_A_SAY)), ""))
    return found


def is_of_torch(report: str) -> bool:
    return any(module.startswith(TORCH) for module in first_modules(report))


def run(build: pathlib.Path, seconds: str, device: str) -> bool:
    runtime = subprocess.run(
        ["clang++-22", "-print-file-name=libclang_rt.tsan-x86_64.so"], check=True, capture_output=True, text=True
    ).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {
            "CXX": "clang++-22 -fsanitize=thread -shared-libsan -g1",
            "LD_PRELOAD": runtime,
            "METALLOID_CACHE_DIR": str(build / "soak_cache"),
            "METALLOID_DEVICE": device,
            "METALLOID_TRIAL_ENGINE": "1",
            "PYTHONPATH": str(build / "python"),
            "TSAN_OPTIONS": f"log_path={folder}/report exitcode=0 history_size=4",
        }
        script = HOME / "tests/python/mps_device/soak/run.py"
        done = subprocess.run([sys.executable, "-m", "metalloid.mps", script, seconds], env=env)
        logs = "".join(path.read_text(errors="replace") for path in pathlib.Path(folder).iterdir())
    reports = [report for report in logs.split("==================") if "WARNING: ThreadSanitizer" in report]
    own = [report for report in reports if not is_of_torch(report)]
    print(*own, sep="\n")
    print(f"{device}: {len(own)} reports, beside {len(reports) - len(own)} of torch's own; exit code {done.returncode}")
    return not own and done.returncode == 0


if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1]).resolve()
    succeeded = [run(build, sys.argv[2], device) for device in sys.argv[3:]]
    sys.exit(not all(succeeded))
