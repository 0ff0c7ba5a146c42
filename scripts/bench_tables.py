"""Tables of scripts/bench.py for measurements in which several run the same work by turns (bench/measuring.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from measuring import geometric_mean, ratio, spread

BUSY = 0.1  # part of the machine that others took, above which a row says so


def milliseconds(seconds: list[float]) -> str:
    took = spread(seconds)
    return f"{took.median * 1e3:.2f} ms ± {took.spread * 100:.0f} %"


def comparison_table(result: dict, base: str = "cpu") -> str:
    """Times of all runtimes, and those of the others over those of the device `base`."""
    runtimes = list(result["runtimes"])
    others = [name for name in runtimes if name != base]
    ratios: dict[str, list[float]] = {name: [] for name in others}
    comparators = [name for name in others if name not in result["first_engines"]]
    bests: list[float] = []
    lines = ["| kernel | " + " | ".join(runtimes) + " | " + " | ".join(f"{name} / {base}" for name in others) + " | |"]
    lines.append("| --- |" + " --- |" * (len(runtimes) + len(others) + 1))
    for kernel, row in result["kernels"].items():
        seconds = row["seconds"]
        over = {name: ratio(seconds[name], seconds[base]) for name in others}
        for name in others:
            ratios[name].append(over[name].median)
        notes = []
        if comparators:
            bests.append(min(over[name].median for name in comparators))
            notes.append("fastest" if bests[-1] > 1 else "not the fastest")
        if row["engines"][base] != result["first_engines"][base]:
            notes.append(f"ran on the engine {row['engines'][base]}")
        if row["other_load"] > BUSY:
            notes.append(f"{row['other_load']:.0%} of the machine was busy otherwise")
        cells = [milliseconds(seconds[name]) for name in runtimes] + [f"{over[name]}" for name in others]
        lines.append(f"| `{kernel}` | " + " | ".join(cells) + " | " + "; ".join(notes) + " |")
    for kernel, wrong in result["wrong"].items():
        words = "; ".join(f"{name}: {how}" for name, how in wrong.items())
        lines.append(f"| `{kernel}` |" + " |" * (len(runtimes) + len(others)) + f" wrong, {words} |")
    means = [f"{geometric_mean(ratios[name]):.2f}" for name in others]
    lines.append("| geometric mean |" + " |" * len(runtimes) + " " + " | ".join(means) + " | |")
    lines.append("")
    lines += [f"- {name}: {description}" for name, description in result["runtimes"].items()]
    return "\n".join(lines)


def large_table(result: dict) -> str:
    """Large kernels on the device cpu and on the reference engine, and what they take to compile."""
    lines = ["| kernel | engine | cold compile | cpu | reference | reference / cpu | |", "| --- |" + " --- |" * 6]
    ratios = []
    for kernel, row in result["kernels"].items():
        seconds = row["seconds"]
        over = ratio(seconds["reference"], seconds["cpu"])
        ratios.append(over.median)
        busy = f"{row['other_load']:.0%} of the machine was busy otherwise" if row["other_load"] > BUSY else ""
        compiling = f"{spread(row['compile_seconds']).median:.2f} s"
        cells = [f"`{kernel}`", row["engines"]["cpu"], compiling, *(milliseconds(seconds[each]) for each in ("cpu", "reference"))]
        lines.append(f"| {' | '.join(cells)} | {over} | {busy} |")
    for kernel, wrong in result["wrong"].items():
        words = "; ".join(f"{device}: {how}" for device, how in wrong.items())
        lines.append(f"| `{kernel}` | | | | | | wrong, {words} |")
    if ratios:
        lines.append(f"| geometric mean | | | | | {geometric_mean(ratios):.2f} | |")
    lines.append("")
    lines += [f"- {name}: {description}" for name, description in result["runtimes"].items()]
    return "\n".join(lines)


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def operators_table(result: dict) -> str:
    """PyTorch's operators and models on the device mps and on the CPU."""
    lines = ["| operator or model | CPU | mps | mps / CPU | |", "| --- | --- | --- | --- | --- |"]
    ratios: dict[str, float] = {}
    for name, row in result["kernels"].items():
        seconds = row["seconds"]
        over = ratio(seconds["mps"], seconds["cpu"])
        ratios[name] = over.median
        busy = f"{row['other_load']:.0%} of the machine was busy otherwise" if row["other_load"] > BUSY else ""
        cells = [f"`{name}`", *(f"{spread(seconds[device]).median * 1e3:.3g} ms" for device in ("cpu", "mps"))]
        lines.append(f"| {' | '.join(cells)} | {over} | {busy} |")
    for name, wrong in result["wrong"].items():
        lines.append(f"| `{name}` | | | | wrong, {wrong['mps']} |")
    small = {name: spread(row["seconds"]["mps"]).median for name, row in result["kernels"].items() if name.startswith("small_")}
    for kind in dict.fromkeys(row["kind"] for row in result["kernels"].values()):
        own = {name: over for name, over in ratios.items() if result["kernels"][name]["kind"] == kind}
        mean = geometric_mean(list(own.values()))
        lines.append(f"| {len(own)} {kind}: geometric mean, at most 1.1 | | | {mean:.2f} | {_met(mean <= 1.1)} |")
        if large := [over for name, over in own.items() if name not in small]:
            aim = "the worst but for the small ones" if small.keys() & own.keys() else "the worst"
            lines.append(f"| {aim}, at most 1.6 | | | {max(large):.2f} | {_met(max(large) <= 1.6)} |")
    if small:
        worst = max(small.values()) * 1e6
        lines.append(f"| the small ones: at most 6 us | | {worst:.2f} us | | {_met(worst <= 6)} |")
    lines += ["", f"torch {result['torch']}, {result['threads']} threads."]
    return "\n".join(lines)


def bounds_table(result: dict) -> str:
    """Times with checks of bounds over those without."""
    lines = ["| kernel | checked | unchecked | checked / unchecked |", "| --- | --- | --- | --- |"]
    ratios = []
    for kernel, row in result["kernels"].items():
        seconds = row["seconds"]
        over = ratio(seconds["checked"], seconds["unchecked"])
        ratios.append(over.median)
        lines.append(f"| `{kernel}` | {milliseconds(seconds['checked'])} | {milliseconds(seconds['unchecked'])} | {over} |")
    mean, worst = geometric_mean(ratios), max(ratios)
    lines.append(f"| geometric mean, at most 1.25 | | | {mean:.2f}, {'met' if mean <= 1.25 else 'missed'} |")
    lines.append(f"| the worst, at most 2 | | | {worst:.2f}, {'met' if worst <= 2 else 'missed'} |")
    return "\n".join(lines)


def machine_table(result: dict) -> str:
    device = result["device"]
    rows = [
        (f"`{name}`, bytes per second / those of `memcpy`", "at least 0.85", value, value >= 0.85, f"{value:.2f}")
        for name, value in result["streams"].items()
    ]
    vector = result["matrix_vector"]
    products = {"tensor_matmul": 0.6}  # others: by simdgroup matrices
    rows += [
        (f"`{Path(file).stem}`, float, 1024³ / the rate of fused multiply-adds",
         f"at least {products.get(Path(file).stem, 0.45)}", product["fraction"],
         product["fraction"] >= products.get(Path(file).stem, 0.45),
         f"{product['fraction']:.2f}, {product['flops_per_second'] / 1e9:.0f} GFLOP/s")
        for file, product in result["matrix_products"].items()
    ]  # fmt: skip
    rows += [
        ("4-bit matrix times vector, 16384 x 8192 / reading the weights once", "at most 2", vector["over_reading"],
         vector["over_reading"] <= 2, f"{vector['over_reading']:.2f}, {vector['seconds'] * 1e3:.2f} ms"),
    ]  # fmt: skip
    rows += [
        (f"`{name}`, one core / two cores", "at least 1.9", value, value >= 1.9, f"{value:.2f}")
        for name, value in result["scaling"].items()
    ]
    launch = result["empty_launch"] * 1e6
    rows.append(("Launch of an empty kernel", "at most 1 us", launch, launch <= 1, f"{launch:.2f} us"))
    if device != "reference":
        ratios = [took[device] / took["reference"] for took in result["compile"].values()]
        mean, worst = geometric_mean(ratios), max(ratios)
        text = f"{mean:.2f}, at worst {worst:.2f}"
        rows.append(("Source to machine code / the same for the reference engine", "at most 3", worst, worst <= 3, text))
    for name, peak in result["memory"].items():
        what = "a kernel without barriers" if name == "alone" else "a kernel with barriers, 1024 threads per threadgroup"
        rows.append((f"Memory of a first dispatch: {what}", "-", peak, None, f"{peak / (1 << 20):.1f} MiB"))
    lines = ["| measured | aim | result | |", "| --- | --- | --- | --- |"]
    for name, aim, _, met, text in rows:
        lines.append(f"| {name} | {aim} | {text} | {'' if met is None else 'met' if met else 'missed'} |")
    lines += ["", f"| example | {device} | reference | reference / {device} | of the roofline |", "| --- | --- | --- | --- | --- |"]
    for name, row in result["examples"].items():
        note = "" if row["engine"] == result["first_engine"] else f", on the engine {row['engine']}"
        lines.append(
            f"| `{name}` | {row['seconds'] * 1e3:.2f} ms{note} | {row['reference_seconds'] * 1e3:.2f} ms | "
            f"{row['median']:.2f} ± {row['spread'] * 100:.0f} % | {row['roofline_fraction']:.0%}, {row['bound_by']} |"
        )
    # At half of what memory gives, memory is what a kernel waits for.
    computing = [
        row["median"] for row in result["examples"].values() if row["bound_by"] != "memory" or row["roofline_fraction"] < 0.5
    ]
    if computing:
        lines.append(f"| geometric mean of those not bound by memory | | | {geometric_mean(computing):.2f} | |")
    if result["other_load"] > BUSY:
        lines += ["", f"Others kept up to {result['other_load']:.0%} of the machine busy meanwhile."]
    return "\n".join(lines)
