"""Tables of `scripts/bench.py --against checker` (bench/checker/compare.py)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from bench_tables import BUSY, milliseconds
from measuring import geometric_mean, ratio

UNCHECKED = ("reference", "reference, one core", "cpu")
WHATS = "kernel", "core", "whole"  # of the comparison with Oclgrind
MOST_TIMES, MOST_BYTES, LEAST_TIMES = 10, 8, 50  # what is aimed at


def checker_tables(result: dict) -> str:
    tables = [_aims(result), _cost(result)]
    if result["oclgrind"] or result["defects"]:
        tables += [_oclgrind(result), _defects(result["defects"])]
    lines = [f"- {name}: {version}" for name, version in result["versions"].items()]
    return "\n\n".join([*tables, "\n".join(lines)])


def shadow(row: dict) -> float | None:
    """Bytes of memory for each that is bound."""
    return (row["peaks"]["checked"] - row["peaks"]["reference"]) / row["bytes"] if "peaks" in row else None


def _checked(row: dict, under: str) -> list[float]:
    """What is compared with it: one core with one core."""
    return row["seconds"].get(under.replace(under.partition(",")[0], "checked"), row["seconds"]["checked"])


def _times(row: dict, under: str) -> float:
    return ratio(_checked(row, under), row["seconds"][under]).median


def _oclgrind_times(row: dict, what: str) -> float:
    return ratio(row[what]["Oclgrind"], row[what]["checked"]).median


def missed(defects: dict[str, dict]) -> list[str]:
    """What Oclgrind finds, and the checker does not."""
    return [name for name, row in defects.items() if row["Oclgrind"]["found"] and not row["checked"]["found"]]


def _times_text(times: float) -> str:
    return f"{times:.0f}" if times >= 10 else f"{times:.2f}"


def _aims(result: dict) -> str:
    rows: list[tuple[str, str, str, bool | None]] = []
    costs = list(result["cost"].values())
    for under in UNCHECKED if costs else ():
        mean = geometric_mean([_times(row, under) for row in costs])
        counts = under == "cpu"  # whose code a checked dispatch runs, unless something is found
        name = f"Checked / unchecked on {under}, geometric mean"
        rows.append((name, f"at most {MOST_TIMES}" if counts else "-", f"{mean:.2f}", mean <= MOST_TIMES if counts else None))
    shadows = [each for row in costs if (each := shadow(row)) is not None]
    if shadows:
        text = f"{max(shadows):.2f}"
        rows.append(("Memory of the shadow, bytes per byte, the worst", f"at most {MOST_BYTES}", text, max(shadows) <= MOST_BYTES))
    if theirs := list(result["oclgrind"].values()):
        means = {what: geometric_mean([_oclgrind_times(row, what) for row in theirs]) for what in WHATS}
        met = means["kernel"] >= LEAST_TIMES
        rows.append(("Oclgrind / checked, the kernels, geometric mean", f"at least {LEAST_TIMES}", _times_text(means["kernel"]), met))
        rows.append(("the same in time of all cores together", "-", _times_text(means["core"]), None))
        rows.append(("the same for whole processes, which compile", "-", _times_text(means["whole"]), None))
    if result["defects"]:
        names = missed(result["defects"])
        rows.append(("Defects that Oclgrind finds, and the checker does not", "none", ", ".join(names) or "none", not names))
    lines = ["| measured | aim | result | |", "| --- | --- | --- | --- |"]
    for name, aim, text, is_met in rows:
        lines.append(f"| {name} | {aim} | {text} | {'' if is_met is None else 'met' if is_met else 'missed'} |")
    return "\n".join(lines)


def _busy(row: dict) -> str:
    return f"{row['other_load']:.0%} of the machine was busy otherwise" if row["other_load"] > BUSY else ""


def _grid(row: dict) -> str:
    return " x ".join(map(str, row["grid"]))


def _cost(result: dict) -> str:
    columns = [*UNCHECKED, "checked"]
    heads = ["kernel", "threads", *columns, *(f"checked / {name}" for name in UNCHECKED), "bytes per byte", ""]
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for kernel, row in result["cost"].items():
        times = [milliseconds(row["seconds"][name]) for name in columns]
        ratios = [str(ratio(_checked(row, name), row["seconds"][name])) for name in UNCHECKED]
        memory = "" if (bytes_each := shadow(row)) is None else f"{bytes_each:.2f}"
        cells = [f"`{kernel}`", _grid(row), *times, *ratios, memory, _busy(row)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += _wrong(result, "checked", len(heads))
    if rows := result["cost"].values():
        means = [f"{geometric_mean([_times(row, name) for row in rows]):.2f}" for name in UNCHECKED]
        lines.append("| geometric mean | |" + " |" * len(columns) + f" {' | '.join(means)} | | |")
    return "\n".join(lines)


def _wrong(result: dict, tool: str, columns: int) -> list[str]:
    return [f"| `{kernel}` |" + " |" * (columns - 2) + f" {how[tool]} |" for kernel, how in result["wrong"].items() if tool in how]


def _oclgrind(result: dict) -> str:
    heads = ["kernel", "threads", "Oclgrind", "checked", "Oclgrind / checked", "in core time", "whole process of Oclgrind",
             "of the checker", "ratio", ""]  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for kernel, row in result["oclgrind"].items():
        cells = [f"`{kernel}`", _grid(row)]
        for what in WHATS:
            times = [] if what == "core" else [milliseconds(row[what][tool]) for tool in ("Oclgrind", "checked")]
            cells += [*times, str(ratio(row[what]["Oclgrind"], row[what]["checked"]))]
        lines.append(f"| {' | '.join([*cells, _busy(row)])} |")
    lines += _wrong(result, "Oclgrind", len(heads))
    if rows := result["oclgrind"].values():
        kernel, core, whole = (_times_text(geometric_mean([_oclgrind_times(row, what) for row in rows])) for what in WHATS)
        lines.append(f"| geometric mean | | | | {kernel} | {core} | | | {whole} | |")
    return "\n".join(lines)


def _said(row: dict) -> str:
    others = f"also {', '.join(row['others'])}" if row["others"] else ""
    if not row["found"]:
        return "; ".join(["**not found**", *([others.replace("also", "but", 1)] if others else [])])
    names = ", ".join(row["found"]) + ("" if row["line"] else ", elsewhere")
    return "; ".join([names, *([others] if others else [])])


def _defects(defects: dict[str, dict]) -> str:
    heads = ["defect", "", "`metalloid check`", "Oclgrind"]
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    tools = "checked", "Oclgrind"
    found = dict.fromkeys(tools, 0)
    wrong = {name: row for name, row in defects.items() if row["is_wrong"]}
    for name, row in wrong.items():
        for tool in tools:
            found[tool] += bool(row[tool]["found"])
        lines.append(f"| `{name}` | {row['what']} | {' | '.join(_said(row[tool]) for tool in tools)} |")
    for name, row in defects.items():
        if not row["is_wrong"]:
            cells = [", ".join(row[tool]["others"]) or "nothing" for tool in tools]
            lines.append(f"| `{name}` | {row['what']} | {' | '.join(cells)} |")
    counts = " | ".join(f"{found[tool]} of {len(wrong)}" for tool in tools)
    lines.append(f"| found | | {counts} |")
    return "\n".join(lines)
