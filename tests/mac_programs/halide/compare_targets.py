"""Halide's own code generators for Metal and for the processor, from its wheel, on the same inputs.

A pipeline is compiled ahead of time to an object, as Halide does it for a Mac; the object becomes a library that links to
libmetalloid_metal.so, and runs in a process of its own.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "build" / "mac_programs" / "halide"), str(pathlib.Path(__file__).parent)]
METAL, PROCESSOR = "x86-64-linux-metal", "x86-64-linux"
# Metal's default mode may join a product and a sum, and has its own exponential.
ALLOWED = 2e-5  # of the largest value; integers agree


class Dimension(ctypes.Structure):
    """halide_dimension_t."""

    _fields_ = [("begin", ctypes.c_int32), ("extent", ctypes.c_int32), ("stride", ctypes.c_int32), ("flags", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    """halide_buffer_t."""

    _fields_ = [
        ("device", ctypes.c_uint64), ("interface", ctypes.c_void_p), ("host", ctypes.c_void_p), ("flags", ctypes.c_uint64),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(Dimension)), ("padding", ctypes.c_void_p),
    ]  # fmt: skip


HOST_DIRTY = 1


def buffer_of(array: numpy.ndarray, flags: int = 0) -> Buffer:
    """Around an array whose last dimension is Halide's first."""
    extents = array.shape[::-1]
    strides = [step // array.itemsize for step in array.strides[::-1]]
    dimensions = (Dimension * array.ndim)(*(Dimension(0, extent, step, 0) for extent, step in zip(extents, strides, strict=True)))
    code = {"i": 0, "u": 1, "f": 2}[array.dtype.kind]
    buffer = Buffer(0, None, array.ctypes.data, flags, code, array.itemsize * 8, 1, array.ndim, dimensions, None)
    buffer.kept = array, dimensions
    return buffer


def compiled(name: str, target: str, folder: pathlib.Path) -> tuple[pathlib.Path, list, numpy.dtype]:
    """Its library, the types of its inputs and that of its output."""
    import halide as hl
    from pipelines import PIPELINES

    function, inputs = PIPELINES[name](target == METAL)
    made = folder / f"{name}_{target.replace('-', '_')}.o"
    function.compile_to_object(str(made), inputs, name, hl.Target(target))
    library = made.with_suffix(".so")
    command = [os.environ.get("METALLOID_CLANG", "clang-22"), "-shared", made, "-o", library, "-lm", "-lpthread", "-ldl"]
    if target == METAL:
        metal = pathlib.Path(os.environ["METALLOID_METAL_LIBRARY"])
        command += [metal, f"-Wl,-rpath,{metal.parent}"]
    subprocess.run(command, check=True)
    types = [numpy.dtype(str(image.type())) for image in inputs]
    return library, types, numpy.dtype(str(function.type()))


def run(name: str, target: str, folder: pathlib.Path, arrays: list[numpy.ndarray] | None = None) -> numpy.ndarray:
    """What it computes from arrays that are the same each time."""
    from pipelines import SHAPES

    path, types, result = compiled(name, target, folder)
    *shapes, shape = SHAPES[name]
    random = numpy.random.default_rng(7)
    inputs = [
        random.random(extents[::-1]).astype(kind) if kind.kind == "f" else random.integers(0, 200, extents[::-1]).astype(kind)
        for extents, kind in zip(shapes, types, strict=True)
    ]  # fmt: skip
    if name == "mandelbrot":
        inputs[0][:] = 0.03125
    out = numpy.zeros(shape[::-1], result)
    library = ctypes.CDLL(str(path))
    buffers = [buffer_of(array, HOST_DIRTY) for array in inputs] + [buffer_of(out)]
    code = getattr(library, name)(*(ctypes.byref(buffer) for buffer in buffers))
    if code != 0:
        raise RuntimeError(f"{name} ended with {code}")
    if target == METAL:
        assert buffers[-1].device, "nothing ran on the device"
        assert library.halide_copy_to_host(None, ctypes.byref(buffers[-1])) == 0
        for buffer in buffers:
            assert library.halide_device_free(None, ctypes.byref(buffer)) == 0
    return out


def difference(name: str, build: pathlib.Path) -> tuple[float, bool]:
    """Of both targets' results, as a part of the largest value, and whether it is allowed.

    Raises:
        subprocess.CalledProcessError: one of them failed; its errors are on standard error.
    """
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for target in (METAL, PROCESSOR):
            saved = pathlib.Path(folder) / f"{target}.npy"
            environment = {**os.environ, "METALLOID_METAL_LIBRARY": str(build.resolve() / "lib" / "libmetalloid_metal.so")}
            command = [sys.executable, __file__, "--run", name, target, folder, saved]
            subprocess.run(command, check=True, timeout=600, env=environment)
            results.append(numpy.load(saved))
    metal, processor = results
    assert metal.any() and metal.shape == processor.shape
    if metal.dtype.kind != "f":
        # A value between two integers may go to either where it is rounded.
        allowed = 1 if name == "enlarged" else 0
        most = int(numpy.abs(metal.astype(numpy.int64) - processor.astype(numpy.int64)).max())
        return float(most), most <= allowed
    most = float(numpy.abs(metal - processor).max() / numpy.abs(processor).max())
    return most, most <= ALLOWED


def table(results: dict[str, str]) -> str:
    version = (ROOT / "build" / "mac_programs" / "installed").read_text().split()[0]
    lines = [f"{version.replace('==', ' ')}, {time.strftime('%Y-%m-%d')}, device {os.environ.get('METALLOID_DEVICE', 'cpu')}:", ""]
    lines += ["| pipeline | largest difference | |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| `{name}` | {text} |" for name, text in results.items())]) + "\n"


def publish(text: str) -> None:
    """Between the page's two marks."""
    page = ROOT / "docs" / "mac-programs.md"
    before, begin, rest = page.read_text().partition("<!-- halide -->\n")
    _, end, after = rest.partition("<!-- end -->")
    page.write_text(before + begin + text + end + after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="pipelines; all, if there are none")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="Metalloid's build folder")
    parser.add_argument("--publish", action="store_true", help="writes the table onto docs/mac-programs.md")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        name, target, folder, saved = arguments.run
        numpy.save(saved, run(name, target, pathlib.Path(folder)))
        return 0
    from pipelines import PIPELINES

    results, failed = {}, 0
    for name in arguments.names or PIPELINES:
        try:
            most, is_allowed = difference(name, arguments.build)
            text = f"{most:.1e} | {'agrees' if is_allowed else 'differs'}"
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            text, is_allowed = f" | failed: {error}", False
        failed += not is_allowed
        results[name] = text
        print(f"{name}: {text.replace(' | ', ', ')}", flush=True)
    if arguments.publish:
        publish(table(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
