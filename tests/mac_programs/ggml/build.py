"""Builds ggml and llama.cpp's programs with the SDK's tools, as their own build files say for a Mac with Metal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import subprocess
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[3]
SOURCE = ROOT / "build" / "mac_programs" / "llama.cpp"
MADE = ROOT / "build" / "mac_programs" / "llama.cpp.build"
OPTIONS = {
    "BUILD_SHARED_LIBS": "OFF",
    "CMAKE_BUILD_TYPE": "Release",
    "GGML_METAL": "ON",
    "GGML_METAL_EMBED_LIBRARY": "ON",
    "GGML_OPENMP": "OFF",
    "GGML_BLAS": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_BUILD_SERVER": "OFF",
}


class Sdk:
    """The tools of a build folder of Metalloid's."""

    def __init__(self, build: pathlib.Path) -> None:
        tool = build.resolve() / "bin" / "metalloid"
        variables = {"METALLOID_SDK": str(build.resolve() / "mac_programs" / "sdk"), **os.environ}
        found = subprocess.run([tool, "sdk", "path"], check=True, capture_output=True, text=True, env=variables)
        self.folder = pathlib.Path(found.stdout.strip())
        self.variables = {**variables, "PATH": f"{self.folder / 'bin'}:{variables['PATH']}"}

    def run(self, *command: str | pathlib.Path) -> None:
        """Quietly, unless it fails."""
        done = subprocess.run(command, capture_output=True, text=True, env=self.variables)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def programs(build: pathlib.Path, *targets: str) -> pathlib.Path:
    """The folder of the programs that CMake's targets make."""
    sdk = Sdk(build)
    toolchain = sdk.folder / "cmake" / "metalloid.cmake"
    options = [f"-D{name}={value}" for name, value in OPTIONS.items()]
    sdk.run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", MADE, "--toolchain", toolchain, *options)
    sdk.run("cmake", "--build", MADE, "-j2", "--target", *targets)
    return MADE / "bin"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One process at a time builds: tests run in several."""
    with open(MADE.with_suffix(".lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def operator_tests(build: pathlib.Path) -> pathlib.Path:
    """ggml's own program that compares operators; by CMake it waits for all of llama.cpp, of which it uses nothing."""
    return with_ggml(build, SOURCE / "tests" / "test-backend-ops.cpp")


def many_graphs(build: pathlib.Path) -> pathlib.Path:
    """A program of ours that counts what stays behind graphs."""
    return with_ggml(build, pathlib.Path(__file__).with_name("graphs.cpp"))


def with_ggml(build: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    """The program that one source and ggml make."""
    with alone():
        return _with_ggml(build, source)


def _with_ggml(build: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    programs(build, "ggml")
    made = MADE / "bin" / source.stem
    folder = MADE / "ggml" / "src"
    libraries = [folder / "libggml.a", folder / "libggml-cpu.a", folder / "ggml-metal" / "libggml-metal.a", folder / "libggml-base.a"]
    if not made.exists() or made.stat().st_mtime < max(path.stat().st_mtime for path in [source, *libraries]):
        made.parent.mkdir(exist_ok=True)
        frameworks = [word for name in ("Foundation", "Metal", "MetalKit") for word in ("-framework", name)]
        Sdk(build).run("metalloid-clang++", "-std=c++17", "-O1", "-I", SOURCE / "ggml" / "include", source, *libraries, *frameworks,
                       "-lpthread", "-ldl", "-lm", "-o", made)  # fmt: skip
    return made
