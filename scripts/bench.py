"""Runs the benchmarks, leaves their samples and tables in build/benchmarks, and puts tables on docs/performance.md.

A table is of one run. Machines differ, so it states ratios of times that were taken by turns.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

from bench_tables import bounds_table, comparison_table, large_table, machine_table, operators_table
from checker_tables import checker_tables

root = pathlib.Path(__file__).resolve().parent.parent
page = root / "docs" / "performance.md"
marks = "<!-- {0}: begin (make bench writes this) -->", "<!-- {0}: end -->"


# Tensor operations, what they are compared with, and what both do.
products = (
    ("tensors_f32", "matrices_f32", "float"),
    ("tensors_f16", "matrices_f16", "half"),
    ("tensors_bf16", "matrices_bf16", "bfloat"),
    ("tensors_i8", "matrices_f32", "char to int, against float"),
    ("tensors_f32_4", "matrices_f32_4", "float, by four simdgroups"),
    ("tensors_f16_cooperative_4", "matrices_f16_4", "half, by four simdgroups, into a cooperative tensor"),
    ("tensors_f32_thread", "matrices_f32", "float, by one thread each"),
    ("tensors_f32_accumulate", "matrices_f32_accumulate", "float, accumulated"),
    ("tensors_f32_left", "matrices_f32_left", "float, left operand transposed"),
    ("tensors_f32_right", "matrices_f32_right", "float, right operand transposed"),
    ("tensors_f32_relaxed", "matrices_f32", "float, relaxed precision"),
    ("registers_f16", "matrices_f16", "half, operands in cooperative tensors"),
    ("registers_f16_relaxed", "matrices_f16", "the same with relaxed precision"),
    ("registers_f32_left", "matrices_f32_left", "float, operands in cooperative tensors, left transposed"),
)


def measure(build: pathlib.Path) -> dict[str, dict]:
    output = build / "metalloid_bench.json"
    command: list[str | pathlib.Path] = [
        build / "bin" / "metalloid_bench",
        f"--benchmark_out={output}",
        "--benchmark_out_format=json",
        "--benchmark_repetitions=5",
        "--benchmark_enable_random_interleaving=true",
        "--benchmark_report_aggregates_only=true",
    ]
    subprocess.run(command, check=True)
    entries = json.loads(output.read_text())["benchmarks"]
    failed = [entry["name"] for entry in entries if entry.get("error_occurred")]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    # "name/256/real_time" with an argument is "name/256".
    names = {entry["run_name"]: re.findall(r"^\w+(?:/\d+)*", entry["run_name"])[0] for entry in entries}
    return {names[entry["run_name"]]: entry for entry in entries if entry["aggregate_name"] == "median"}


def measure_python(build: pathlib.Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    command: list[str | pathlib.Path] = [sys.executable, root / "bench" / "python_calls.py"]
    return json.loads(subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout)


def measure_device(build: pathlib.Path) -> dict[str, dict[str, dict[str, float]]]:
    """PyTorch's operators on "mps"."""
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    command: list[str | pathlib.Path] = [sys.executable, "-m", "metalloid.mps", root / "bench" / "device_calls.py"]
    return json.loads(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout)


def measure_comparison(against: str, build: pathlib.Path, arguments: list[str]) -> dict:
    """By turns with OpenCL's runtimes (scripts/install_dependencies.sh opencl installs them), PyTorch's operators, those
    on the device mps and on the CPU, the reference engine on large kernels, that and what the machine can do, kernels without checks of bounds, or checked runs
    with unchecked ones and Oclgrind (install_dependencies.sh checker)."""
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    python: str | pathlib.Path = sys.executable
    program = root / "bench" / "torch_operators" / "compare.py"
    if against == "operators":
        program = root / "bench" / "mps_operators" / "compare.py"
    if against == "reference":
        program = root / "bench" / "large" / "compare.py"
    if against == "opencl":
        python, program = build / "opencl" / "bin" / "python", root / "bench" / "opencl" / "compare.py"
        environment["OCL_ICD_VENDORS"] = str(build / "opencl" / "vendors")
    programs = {"machine": "machine_limits.py", "unchecked": "unchecked.py", "checker": "checker/compare.py"}
    if against in programs:
        program = root / "bench" / programs[against]
        arguments = ["--metalloid", str(build / "bin" / "metalloid"), *arguments]
    runner = ["-m", "metalloid.mps"] if against == "operators" else []
    command: list[str | pathlib.Path] = [python, *runner, program, *arguments]
    return json.loads(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout)


def seconds(entry: dict) -> float:
    return entry["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]


def core_seconds(entry: dict) -> float:
    """Of all cores together."""
    return entry["cpu_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[entry["time_unit"]]


def processor() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match.group(1) if match else platform.processor()


def table(results: dict[str, dict], calls: dict[str, float]) -> str:
    time = {name: seconds(entry) for name, entry in results.items()}
    rows: list[tuple[str, str, float, float | None, str, str]] = [
        ("Cold compile of `rms_norm` / `clang++-22 -O2 -c` of the same arithmetic", "at most 2",
         time["cold_compile"] / time["clang_compile"], 2, "x",
         f"{time['cold_compile'] * 1e3:.1f} ms / {time['clang_compile'] * 1e3:.1f} ms"),
        ("Cold compile / load of the cached kernel from disk", "at least 20",
         time["cold_compile"] / time["cached_load"], -20, "x",
         f"{time['cold_compile'] * 1e3:.1f} ms / {time['cached_load'] * 1e3:.2f} ms"),
        ("Launch of an empty kernel, one threadgroup", "at most 10 us",
         time["empty_launch"] * 1e6, 10, " us", ""),
        ("saxpy on 64 MiB, bytes per second / those of `memcpy` on 64 MiB", "-",
         results["saxpy_stream"]["bytes_per_second"] / results["memcpy_stream"]["bytes_per_second"], None, "x",
         f"{results['saxpy_stream']['bytes_per_second'] / 1e9:.1f} GB/s / "
         f"{results['memcpy_stream']['bytes_per_second'] / 1e9:.1f} GB/s"),
        ("A barrier, per thread of a threadgroup of 256", "-", results["barriers/256"]["lane"] * 1e9, None, " ns", ""),
        ("A `simd_sum`, per thread of a threadgroup of 256", "-",
         results["simd_sums/256"]["lane"] * 1e9, None, " ns", ""),
        ("`rms_norm`, 2048 rows of 2048", "-", core_seconds(results["rms_norm_rows"]) * 1e3, None, " ms of a core", ""),
        ("Causal attention, 8 heads, 256 queries and keys of 128", "-",
         core_seconds(results["causal_attention"]) * 1e3, None, " ms of a core", ""),
    ]  # fmt: skip
    for name, with_matrices, what in products:
        ratio = core_seconds(results[f"product_{name}"]) / core_seconds(results[f"product_{with_matrices}"])
        rows.append(
            (f"`matmul2d` / simdgroup matrices, the same product: {what}", "at most 1.5", ratio, 1.5, "x",
             f"{core_seconds(results[f'product_{name}']) * 1e3:.2f} ms / "
             f"{core_seconds(results[f'product_{with_matrices}']) * 1e3:.2f} ms of a core")
        )  # fmt: skip
    for call, what, most in (
        ("compile_shader_numpy", "`lib.kernel(...)` on NumPy arrays", 15),
        ("metal_kernel_numpy", "`metal_kernel` on NumPy arrays", 50),
        ("metal_kernel_mlx_call", "`metal_kernel` on `mx.array`", 50),
        ("metal_kernel_mlx_chain", "the same, one of 100 in a graph, to the end of its `mx.eval`", 50),
        ("metal_kernel_mlx_lazy", "the same, alone in its graph, to the end of `mx.eval`", 50),
        ("metal_kernel_mlx_eager", "the same with eager evaluation", 50),
        ("mlx_exp", "MLX's own `mx.exp`, to the end of `mx.eval`", None),
        ("metal_kernel_torch", "`metal_kernel` on PyTorch tensors", 50),
    ):
        if call in calls:
            rows.append(
                (f"Call from Python, {what}, over the launch in C++", "-" if most is None else f"at most {most} us",
                 (calls[call] - time["empty_launch"]) * 1e6, most, " us",
                 f"{calls[call] / time['empty_launch']:.0f} times the launch in C++")
            )  # fmt: skip
    lines = ["| measured | aim | result | | from |", "| --- | --- | --- | --- | --- |"]
    for name, aim, value, limit, unit, source in rows:
        met = "" if limit is None else "met" if (value <= limit if limit > 0 else value >= -limit) else "missed"
        lines.append(f"| {name} | {aim} | {value:.2f}{unit} | {met} | {source} |")
    lines.append("")
    lines.append("Medians of 5 repetitions.")
    return "\n".join(lines)


def device_table(times: dict[str, dict[str, dict[str, float]]]) -> str:
    lines = ["| operator / elements | on mps | on the CPU | (mps - 2 us) / CPU, at most 1.5 | |", "| --- | --- | --- | --- | --- |"]
    for name, took in times["fallback"].items():
        ratio = (took["mps"] - 2e-6) / took["cpu"]
        met = "met" if ratio <= 1.5 else "missed"
        lines.append(f"| `{name}` | {took['mps'] * 1e6:.1f} us | {took['cpu'] * 1e6:.1f} us | {ratio:.2f} | {met} |")
    lines += ["", "| operator | launch of its kernel | call with `out=`, over it | call, over it; at most 10 us | |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for name, took in times["kernel"].items():
        out, new = ((took[one] - took["launch"]) * 1e6 for one in ("call", "call_with_new_result"))
        met = "met" if max(out, new) <= 10 else "missed"
        lines.append(f"| `{name}` | {took['launch'] * 1e6:.1f} us | {out:.1f} us | {new:.1f} us | {met} |")
    return "\n".join(lines)


def write(name: str, text: str) -> None:
    """Puts a table in its place on the page."""
    begin, end = (mark.format(name) for mark in marks)
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(f"{page.relative_to(root)} has no place for {name}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def keep(name: str, result: dict, text: str, build: pathlib.Path, publish: bool) -> None:
    """Leaves samples and their table in the build folder, and puts the table on the page if it is to be published."""
    text = f"{text}\n\nTaken on {datetime.date.today()} on {processor()}, {os.cpu_count()} cores."
    folder = build / "benchmarks"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / f"{name}.md").write_text(text + "\n")
    if publish:
        write(name, text)
    print(f"\n{text}\n\nWritten to {folder / name}.json and .md{f' and {page.relative_to(root)}' if publish else ''}.")


tables = {
    "checker": checker_tables,
    "machine": machine_table,
    "opencl": comparison_table,
    "operators": operators_table,
    "reference": large_table,
    "torch": comparison_table,
    "unchecked": bounds_table,
}
PARTIAL = ("--devices", "--kernels", "--without-oclgrind")  # options of comparisons that leave out rows or columns


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--device", action="store_true", help='only PyTorch\'s operators on "mps"')
    parser.add_argument("--against", choices=tuple(tables), help="only the comparison; more options are its own")
    parser.add_argument("--publish", action="store_true", help="put the tables on the page, each whole")
    options, rest = parser.parse_known_args(arguments)
    build = options.build.resolve()
    if options.publish and (partial := [word for word in rest if word.partition("=")[0] in PARTIAL]):
        parser.error(f"a table is published whole: without {partial[0]}")
    if options.against:
        result = measure_comparison(options.against, build, rest)
        keep(options.against, result, tables[options.against](result), build, options.publish)
        if result.get("wrong") and options.against != "checker":  # whose table names what Oclgrind refuses
            sys.exit(f"wrong results: {', '.join(result['wrong'])}")
        return
    if rest:
        parser.error(f"unknown: {' '.join(rest)}")
    if not options.device:
        results, calls = measure(build), measure_python(build)
        keep("table", {"benchmarks": results, "calls": calls}, table(results, calls), build, options.publish)
    if importlib.util.find_spec("torch"):
        times = measure_device(build)
        keep("device", times, device_table(times), build, options.publish)


if __name__ == "__main__":
    main()
