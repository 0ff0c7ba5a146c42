#!/usr/bin/env python3
"""Runs clang-tidy over all C++ and Objective-C++ but the tests'; a file that no command is known for is an error.

    scripts/clang_tidy.py [--build build] [--only PATTERN] [--times]

The headers of LLVM and torch take most of the time, so files are read as they are compiled: those of CMake's targets in
their batches, with the build's precompiled headers; those that users' machines compile against torch with one that is
made here. What is compiled with the same command is read together, as far as names do not meet. The project must be built,
and torch and MLX installed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metalloid.mps._plugin.compile import Unit

root = pathlib.Path(__file__).resolve().parent.parent
CLANG, CLANG_TIDY = "clang++-22", "clang-tidy-22"
# Sources of the device mps: what metalloid.mps compiles, and PyTorch's operators.
DEVICE = root / "torch_mps"
INCLUDES = "bugprone-suspicious-include"  # sources; batches are nothing else
TOGETHER = 150_000  # bytes of sources that are read in one run, at most, where there are several files
NAMES_MEET = "[clang-diagnostic-error]"
# Names and signatures there, and in Metal's host API, are PyTorch's and those of Objective-C's runtime, whose functions take
# addresses of addresses and know objects and code under several types.
HOST_API = root / "src" / "metal"
NOT_FOR_DEVICE = (
    "bugprone-casting-through-void", "bugprone-multi-level-implicit-pointer-conversion", "bugprone-reserved-identifier",
    "bugprone-return-const-ref-from-parameter", "performance-trivially-destructible", "performance-unnecessary-value-param",
)  # fmt: skip


class Job(NamedTuple):
    """One run of clang-tidy.

    Attributes:
        file: what is compiled: a source, or a batch of them.
        command: the compiler's.
        sources: the files of the tree that it looks at.
        without: checks that are left out.
        parts: jobs that this one is made of, for when names of them meet.
    """

    file: pathlib.Path
    command: list[str]
    sources: list[pathlib.Path]
    without: tuple[str, ...] = ()
    parts: tuple[Job, ...] = ()


def wanted() -> set[pathlib.Path]:
    """All sources of the tree but tests, and code for GPUs, which has no standard library."""
    listed = subprocess.run(
        [
            "git",
            "-c",
            f"safe.directory={root}",
            "ls-files",
            "-z",
            "*.cpp",
            "*.mm",
            ":!tests",
            ":!src/engines/cuda/tiles/device",
        ],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return {root / name for name in listed.stdout.split("\0") if name and (root / name).exists()}


def built(build: pathlib.Path, folder: pathlib.Path, sources: set[pathlib.Path]) -> Iterator[Job]:
    """What CMake's targets compile of them."""
    seen: set[pathlib.Path] = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        is_batch = file.parent.name == "Unity"
        parts = re.findall(r'#include "([^"]+)"', file.read_text()) if is_batch else [file]
        looked_at = sorted({pathlib.Path(path).resolve() for path in parts} & sources - seen)
        if not looked_at:
            continue
        seen.update(looked_at)
        command = shlex.split(entry["command"])
        if is_batch:
            batch = folder / file.parent.parent.name / file.name
            write(batch.parent, [(batch.name, including(looked_at))])
            command = [str(batch) if word == str(file) else word for word in command]
            file = batch
        yield Job(file, command, looked_at, NOT_FOR_DEVICE if file.is_relative_to(HOST_API) else ())


def including(sources: Iterable[pathlib.Path]) -> str:
    """The text of a file that includes these."""
    includes = "".join(f'#include "{path}"\n' for path in sources)
    return f"// NOLINTBEGIN({INCLUDES})\n{includes}// NOLINTEND({INCLUDES})\n"


def together(jobs: Iterable[Job], folder: pathlib.Path) -> Iterator[Job]:
    """Jobs of libraries that differ in their files alone as fewer ones."""
    alike: dict[tuple[object, ...], list[Job]] = {}
    for job in jobs:
        if not all(source.is_relative_to(root / "src") for source in job.sources):  # programs: each has a main
            yield job
            continue
        output = job.command.index("-o") + 1
        words = [word for at, word in enumerate(job.command) if at != output and word != str(job.file)]
        alike.setdefault((*words, job.file.suffix, job.without), []).append(job)
    for members in alike.values():
        while members:
            size, count = size_of(members[0]), 1
            while count < len(members) and size + size_of(members[count]) <= TOGETHER:
                size += size_of(members[count])
                count += 1
            yield joined(members[:count], folder / "together")
            del members[:count]


def joined(jobs: list[Job], folder: pathlib.Path) -> Job:
    """One job of these, and of each half of them."""
    first = jobs[0]
    if len(jobs) == 1:
        return first
    sources = [source for job in jobs for source in job.sources]
    text = including(sources)
    file = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}{first.file.suffix}"
    write(folder, [(file.name, text)])
    command = [str(file) if word == str(first.file) else word for word in first.command]
    half = (len(jobs) + 1) // 2
    return Job(file, command, sources, first.without, (joined(jobs[:half], folder), joined(jobs[half:], folder)))


def with_parts(job: Job) -> Iterator[Job]:
    yield job
    for part in job.parts:
        yield from with_parts(part)


def size_of(job: Job) -> int:
    return sum(source.stat().st_size for source in job.sources)


def compiled_by_users(folder: pathlib.Path) -> Iterator[Job]:
    """What the Python package compiles on users' machines, and benchmarks that are compiled like it."""
    import mlx

    from metalloid.fast._mlx import build as mlx_extension
    from metalloid.mps._plugin import building, compile, objective_c

    benchmark = root / "bench" / "device_launch.cpp"
    units = [
        *building.device_units(), *building.operator_units(), *objective_c.units(),
        compile.Unit(benchmark, (DEVICE, DEVICE / "host", HOST_API / "include")),
    ]  # fmt: skip
    prefixes: dict[tuple[str, ...], list[str]] = {}
    for number, unit in enumerate(units):
        files = (unit.source,) if unit.is_file else unit.files
        if not files:  # generated
            continue
        texts = folder / "texts" / str(number)
        write(texts, unit.texts)
        first = [f"-I{texts}"] if unit.texts else []
        if unit.flags not in prefixes:
            prefixes[unit.flags] = prefix(folder / f"prefix{len(prefixes)}", unit)
        command = [*as_system_headers(compile._command(unit, first)), *prefixes[unit.flags]]
        source = texts / unit.source
        if unit.files:
            source.write_text(f"// NOLINTBEGIN({INCLUDES})\n{source.read_text()}// NOLINTEND({INCLUDES})\n")
        yield Job(source, [*command, "-c", str(source)], [file.resolve() for file in files], NOT_FOR_DEVICE)

    file = (mlx_extension.SOURCES / "primitive.cpp").resolve()
    headers = pathlib.Path(mlx.__path__[0]) / "include"
    yield Job(file, [CLANG, *mlx_extension.FLAGS, "-isystem", str(headers), "-c", str(file)], [file])
    file = root / "bench" / "rms_norm.cpp"
    yield Job(file, [CLANG, "-c", str(file)], [file])


def write(folder: pathlib.Path, texts: Iterable[tuple[str, str]]) -> None:
    for name, text in texts:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def as_system_headers(command: Iterable[str]) -> list[str]:
    """With torch's headers as the system's, which clang-tidy does not look into."""
    from metalloid.mps._plugin.wheel import installed

    flags = installed().flags
    return [f"-isystem{argument.removeprefix('-I')}" if argument in flags else argument for argument in command]


def prefix(folder: pathlib.Path, unit: Unit) -> list[str]:
    """Has the compiler read torch's headers once for all units that are compiled like this one: flags that use it."""
    from metalloid.mps._plugin import compile

    folder.mkdir(parents=True, exist_ok=True)
    header = folder / "prefix.h"
    header.write_text(compile._PREFIX)
    flags = tuple(flag for flag in unit.flags if not flag.startswith("-x"))
    command = as_system_headers(compile._command(unit._replace(source=header, flags=flags, texts=())))
    language = "objective-c++-header" if "-xobjective-c++" in unit.flags else "c++-header"
    subprocess.run(
        [*command, "-fpch-instantiate-templates", f"-x{language}", str(header), "-o", f"{header}.pch"], check=True
    )
    return ["-include-pch", f"{header}.pch"]


def run(job: Job, folder: pathlib.Path, looked_into: str) -> tuple[Job, float, int, str]:
    """clang-tidy's seconds, exit code and findings."""
    start = time.monotonic()
    done = subprocess.run(
        [CLANG_TIDY, "--quiet", "-p", str(folder), f"--header-filter={looked_into}",
         f"--checks={','.join(f'-{check}' for check in job.without)}", str(job.file)],
        capture_output=True, text=True,
    )  # fmt: skip
    if job.parts and NAMES_MEET in done.stdout:
        found = [run(part, folder, looked_into) for part in job.parts]
        said = "".join(dict.fromkeys(said for *_, said in found))
        return job, time.monotonic() - start, max(code for _, _, code, _ in found), said
    # On standard error it counts what it leaves out.
    said = done.stdout if done.stdout.strip() or not done.returncode else done.stderr
    return job, time.monotonic() - start, done.returncode, said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="of a source's path")
    parser.add_argument("--times", action="store_true", help="say how long each run took")
    options = parser.parse_args()
    build = options.build.resolve()
    os.environ.update(CXX=CLANG, OBJCXX=CLANG)
    sys.path.insert(0, str(build / "python"))

    folder = build / "lint"
    folder.mkdir(exist_ok=True)
    sources = wanted()
    jobs = [*together(built(build, folder, sources), folder), *compiled_by_users(folder)]
    unknown = sorted(
        str(path.relative_to(root)) for path in sources - {source for job in jobs for source in job.sources}
    )
    if unknown:
        print("No command is known for", *unknown)
    entries = [
        {"directory": str(build), "file": str(each.file), "arguments": each.command}
        for job in jobs
        for each in with_parts(job)
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries, indent=1))

    jobs = [job for job in jobs if any(re.search(options.only, str(path.relative_to(root))) for path in job.sources)]
    parts = sorted({path.relative_to(root).parts[0] for path in sources} | {"include"})
    looked_into = f"^({re.escape(str(root))}|{re.escape(str(build))})/({'|'.join(parts)})/"
    failed = bool(unknown)
    findings: dict[str, None] = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # The longest first, so that the last ones end together.
        jobs.sort(key=size_of, reverse=True)
        for job, seconds, code, said in pool.map(lambda job: run(job, folder, looked_into), jobs):
            failed |= code != 0
            if options.times:
                names = " ".join(path.name for path in job.sources)
                print(f"{seconds:6.1f} s  {names}", flush=True)
            # Headers' findings come with each file that includes them.
            if said and said not in findings:
                findings[said] = None
                print(said, end="", flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"clang-tidy: {len(sources)} files in {len(jobs)} runs, {used.ru_utime + used.ru_stime:.0f} s of processor time"
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
