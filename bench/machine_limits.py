"""What kernels reach of this machine's limits, by `metalloid bench`, and what launches and compiles cost, as JSON.

Each share is taken in one process with the limit that it is a part of.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import metalloid

root = pathlib.Path(__file__).resolve().parent.parent
kernels = root / "bench" / "opencl" / "kernels"
ELEMENTS, ROWS, COLUMNS, SIZE = 1 << 24, 16384, 8192, 1024


def floats(*shape: int, fill: str = "normal") -> str:
    return f"f32[{','.join(map(str, shape))}]={fill}"


STREAMS = {
    "copy": (root / "bench" / "machine" / "copy.metal", [floats(ELEMENTS, fill="zeros"), floats(ELEMENTS)]),
    "saxpy": (root / "examples" / "kernels" / "saxpy.metal", [floats(ELEMENTS), floats(ELEMENTS), "0.5"]),
    "silu": (kernels / "silu.metal", [floats(ELEMENTS, fill="zeros"), floats(ELEMENTS)]),
}
# Bound by arithmetic, for what a second core brings.
COMPUTING = {
    "mandelbrot": ["--threads", "1024,1024", "--group", "16,16", "--arg", "u32[1048576]=zeros", "--arg", "1024",
                   "--arg", "f32:0.0029296875", "--arg", "256"],
    "nbody": ["--threads", "4096", "--group", "256", "--arg", floats(16384, fill="zeros"), "--arg", floats(16384),
              "--arg", "4096"],
    "matmul_tiled": ["--threads", "512,512", "--group", "16,16", "--arg", floats(262144, fill="zeros"), "--arg",
                     floats(262144), "--arg", floats(262144), "--arg", "512"],
}  # fmt: skip


class Command:
    """`metalloid bench` of a build."""

    def __init__(self, metalloid: str, device: str, seconds: float) -> None:
        self._metalloid, self._options = metalloid, ["--device", device, "--seconds", str(seconds), "--json"]
        self.other_load = 0.0  # the largest part of the machine that others took

    def report(self, file: pathlib.Path, *arguments: str, cores: set[int] | None = None) -> dict:
        command = [self._metalloid, "bench", str(file), *arguments, *self._options]
        limit = (lambda: os.sched_setaffinity(0, cores)) if cores else None
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(command)}: {done.stderr}")
        report = json.loads(done.stdout)
        self.other_load = max(self.other_load, report["other_load"])
        return report

    def __call__(self, file: pathlib.Path, *arguments: str, cores: set[int] | None = None) -> dict:
        return self.report(file, *arguments, cores=cores)["runs"][0]


def examples(bench: Command) -> dict[str, dict]:
    """The examples against the reference engine, by turns."""
    result = {}
    for line in (root / "bench" / "examples.txt").read_text().splitlines():
        file, *arguments = shlex.split(line, comments=True) or ("",)
        if not file:
            continue
        report = bench.report(root / "examples" / "kernels" / file, *arguments, "--against-device", "reference")
        run, other = report["runs"]
        if report["results_differ"]:
            sys.exit(f"{file} {run['kernel']}: {report['results_differ']}")
        print(f"{run['kernel']}: {report['ratio']['median']:.2f}", file=sys.stderr, flush=True)
        result[f"{file.removesuffix('.metal')}: {run['kernel']}"] = {
            "seconds": run["seconds"], "reference_seconds": other["seconds"], **report["ratio"],
            "engine": run["engine"], "roofline_fraction": run["roofline_fraction"], "bound_by": run["bound_by"],
        }  # fmt: skip
    return result


def streams(bench: Command) -> dict[str, float]:
    """Bytes per second over those of memcpy."""
    result = {}
    for name, (file, arguments) in STREAMS.items():
        specs = [word for argument in arguments for word in ("--arg", argument)]
        run = bench(file, "--threads", str(ELEMENTS), "--group", "256", *specs)
        result[name] = run["bytes_per_second"] / run["bandwidth"]["copy_bytes_per_second"]
    return result


def matrix_products(bench: Command) -> dict[str, dict[str, float]]:
    """By the kernel's file: by tensors, 32 x 64 elements for a simdgroup, and the example's 16 x 16."""
    kernels = {
        root / "bench" / "machine" / "tensor_matmul.metal": ["tensor_matmul", f"{SIZE // 64},{SIZE // 64}", str(SIZE)],
        root / "bench" / "machine" / "matmul.metal": ["matmul", f"{SIZE // 128},{SIZE // 64}", str(SIZE)],
        root / "examples" / "kernels" / "simdgroup_matmul.metal": [
            "simdgroup_matmul_float", f"{SIZE // 32},{SIZE // 32}", f"{{{SIZE},{SIZE},{SIZE}}}",
        ],
    }  # fmt: skip
    result = {}
    for file, (kernel, groups, size) in kernels.items():
        run = bench(
            file, "--std", "metal4.0", "--kernel", kernel, "--threadgroups", groups, "--group", "128", "--arg",
            floats(SIZE, SIZE, fill="zeros"), "--arg", floats(SIZE, SIZE), "--arg", floats(SIZE, SIZE), "--arg", size,
            "--flops", str(2 * SIZE**3),
        )  # fmt: skip
        where = str(file.relative_to(root))
        result[where] = {"flops_per_second": run["flops_per_second"], "fraction": run["roofline_fraction"]}
    return result


def matrix_vector(bench: Command) -> dict[str, float]:
    weights = ROWS * COLUMNS // 32 * 18  # bytes
    run = bench(
        root / "bench" / "machine" / "q4_matvec.metal", "--threadgroups", str(ROWS // 8), "--group", "64", "--arg",
        floats(ROWS, fill="zeros"), "--arg", f"u8[{weights}]=uniform", "--arg", floats(COLUMNS), "--arg", str(COLUMNS),
        "--arg", str(ROWS),
    )  # fmt: skip
    reading = weights / run["bandwidth"]["read_bytes_per_second"]
    return {"seconds": run["seconds"], "over_reading": run["seconds"] / reading}


def scaling(bench: Command, repetitions: int = 3) -> dict[str, float]:
    """How much faster two cores are than one, which take turns."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    result = {}
    for name, arguments in COMPUTING.items() if len(cores) == 2 else ():
        ratios = []
        for _ in range(repetitions):
            one, two = (bench(kernels / f"{name}.metal", *arguments, cores=set(some)) for some in (cores[:1], cores))
            ratios.append(one["seconds"] / two["seconds"])
        result[name] = statistics.median(ratios)
    return result


def empty_launch(bench: Command, folder: pathlib.Path) -> float:
    file = folder / "nothing.metal"
    file.write_text("kernel void nothing() {}\n")
    return bench(file, "--threadgroups", "1", "--group", "32")["seconds"]


def compile_times(devices: list[str], repetitions: int = 5) -> dict[str, dict[str, float]]:
    """Seconds from source to machine code, by kernel and device. New names every time: no cache knows them."""
    os.environ["METALLOID_CACHE"] = "0"
    result: dict[str, dict[str, float]] = {}
    for file in sorted(kernels.glob("*.metal")):
        source, name, times = file.read_text(), file.stem, {device: [] for device in devices}
        for repetition in range(repetitions + 1):
            for device in devices:
                new = f"{name}_{device}_{repetition}"
                text = re.sub(rf"\bkernel void {name}\b", f"kernel void {new}", source)
                start = time.perf_counter()
                metalloid.compile_shader(text, device=device).get_kernel(new)
                times[device].append(time.perf_counter() - start)
        result[name] = {device: statistics.median(some[1:]) for device, some in times.items()}
    return result


def peak_memory(device: str) -> dict[str, int]:
    """Bytes that a process grows by at most while a kernel of 1024 threads per threadgroup runs for the first time."""
    program = """
import re, sys, numpy, metalloid
def now(what): return int(re.search(what + r":\\s*(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
x = numpy.ones(1 << 20, numpy.float32)
kernel = metalloid.compile_shader(sys.stdin.read(), device=sys.argv[1]).test
metalloid.compile_shader("kernel void nothing() {}", device=sys.argv[1]).nothing(threads=1)
open("/proc/self/clear_refs", "w").write("5")
before = now("VmRSS")
kernel(x, threads=x.size, group_size=1024)
print(now("VmHWM") - before)
"""
    sources = {
        "alone": "kernel void test(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }",
        "barriers": """kernel void test(device float* x, uint i [[thread_position_in_grid]],
            uint t [[thread_index_in_threadgroup]]) {
          threadgroup float all[1024];
          float own[16];
          for (uint k = 0; k < 16; ++k) own[k] = x[i] * k;
          for (uint k = 0; k < 16; ++k) {
            all[t] = own[k];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            own[(k + 1) % 16] += all[(t + k) % 1024];
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
          }
          x[i] = own[3];
        }""",
    }
    result = {}
    for name, source in sources.items():
        command = [sys.executable, "-c", program, device]
        text = "#include <metal_stdlib>\n" + source
        done = subprocess.run(command, check=True, input=text, stdout=subprocess.PIPE, text=True)
        result[name] = int(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metalloid", default=str(root / "build" / "bin" / "metalloid"), help="the command")
    parser.add_argument("--device", default="cpu", help="of Metalloid")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each kernel, about")
    options = parser.parse_args()
    bench = Command(options.metalloid, options.device, options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        result = {
            "device": options.device,
            "first_engine": metalloid.compile_shader("kernel void nothing() {}", device=options.device).nothing.engine,
            "examples": examples(bench),
            "streams": streams(bench),
            "matrix_products": matrix_products(bench),
            "matrix_vector": matrix_vector(bench),
            "scaling": scaling(bench),
            "empty_launch": empty_launch(bench, pathlib.Path(folder)),
            "compile": compile_times(list(dict.fromkeys([options.device, "reference"]))),
            "memory": peak_memory(options.device),
            "other_load": bench.other_load,
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
