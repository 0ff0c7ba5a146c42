"""Tables of scripts/bench.py for measurements in which several run the same work by turns (bench/measuring.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from measuring import geometric_mean, ratio, spread  # noqa: E402

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
    means = [f"{geometric_mean(ratios[name]):.2f}" for name in others]
    lines.append("| geometric mean |" + " |" * len(runtimes) + " " + " | ".join(means) + " | |")
    lines.append("")
    lines += [f"- {name}: {description}" for name, description in result["runtimes"].items()]
    return "\n".join(lines)
