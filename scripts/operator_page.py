"""What test_operators.py saw: docs/operators.md, and a table by operator for the build folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import expected_failures
from expected_failures import Excuse

# With their columns' titles.
DTYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "complex64": "c64", "complex32": "c32", "int64": "i64",
    "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8", "bool": "bool",
}  # fmt: skip
TESTS = {
    "output": "results",
    "gradient": "gradients (float32)",
    "out=": "results with `out=`",
    "in place": "results in place",
    "layout": "results of all kinds with strided, transposed, expanded, channels-last and offset tensors",
    "layout gradient": "gradients (float32) with inputs and gradients in these layouts",
    "errors": "errors for wrong input",
}
METAL, BOTH, CPU, VIEW, WRONG = "M", "m", "c", "v", "x"

Results = Mapping[tuple[str, str], dict[str, Any]]


def page(about: dict[str, Any], results: Results, excuses: Sequence[Excuse], of_pytorch: Iterable[str], command: str) -> str:
    """Totals, and what differs and why, as Markdown.

    Args:
        about: what a worker says of itself.
        results: by operator and type.
        of_pytorch: overloads that PyTorch has for MPS.
        command: what wrote it.
    """
    known = _known(about, results)
    return "\n".join(
        [
            "# Operators of the device mps",
            "",
            f"Written by `{command}` with torch {about['torch']}. Every run of `make test-operators` leaves what it saw in",
            "`build/operators.md`, operator by operator and type by type.",
            "",
            "PyTorch's own samples (OpInfo, `torch.testing._internal.common_methods_invocations.op_db`) run on the device mps and on",
            "the CPU; results, derivatives and errors are compared with PyTorch's tolerances.",
            "",
            *_counts(about, known, excuses, set(of_pytorch)),
            *_on_the_cpu(about, known),
            *_failures(excuses),
        ]
    )


def table(about: dict[str, Any], results: Results) -> str:
    """What computed each operator, by type, and the registered overloads, as Markdown."""
    known = _known(about, results)
    title = ["# Operators of the device mps, one by one", "", f"With torch {about['torch']}.", ""]
    return "\n".join([*title, *_table(about, known), *_overloads(about, known), ""])


def _known(about: dict[str, Any], results: Results) -> Results:
    return {key: result for key, result in results.items() if key[0] in about["operators"]}


def _counts(about: dict[str, Any], results: Results, excuses: Sequence[Excuse], of_pytorch: set[str]) -> list[str]:
    own = set(about["own"])
    launched, called, fallen = Counter[str](), Counter[str](), Counter[str]()
    for result in results.values():
        for name, (calls, launches) in result.get("overloads", {}).items():
            called[name] += calls
            launched[name] += launches
        fallen.update(result.get("fallbacks", {}))
    seen = {name for name in own if launched[name]}
    idle = {name for name in own if called[name] and not launched[name]}
    lines = [
        "## Counts",
        "",
        "| Overloads, with those of `out=` and in place | |",
        "|---|---:|",
        f"| registered for MPS with Metal kernels (`torch_mps/operators/mps_dispatch.yaml`) | {len(own)} |",
        f"| &nbsp;&nbsp;a kernel of them was seen to run here | {len(seen)} |",
        f"| &nbsp;&nbsp;called here without a launch | {len(idle)} |",
        f"| &nbsp;&nbsp;not called by any sample | {len(own) - len(seen) - len(idle)} |",
        f"| seen to fall back to the CPU | {len(fallen.keys() - own)} |",
        f"| &nbsp;&nbsp;of them PyTorch has a kernel for MPS | {len((fallen.keys() - own) & of_pytorch)} |",
        "",
        "| Comparisons | compared | right | wrong, listed below |",
        "|---|---:|---:|---:|",
    ]
    for test, title in TESTS.items():
        compared = sum(result["compared"].get(test, 0) for result in results.values())
        right = sum(result["right"].get(test, 0) for result in results.values())
        lines.append(f"| {title} | {compared} | {right} | {compared - right} |")
    refused = sum(result.get("refused", 0) for result in results.values())
    calls, metal, both, cpu = (sum(r.get(k, 0) for r in results.values()) for k in ("calls", "metal", "mixed", "fallen"))
    types = sum(dtype != "errors" for _, dtype in results)
    wrong = [result for result in results.values() if expected_failures.unexpected(result, excuses)]
    lines += [
        "",
        f"{len({name for name, _ in results})} of {len(about['operators'])} operators, {types} operators and types. Of {calls} calls "
        f"with elements, {metal} ran on Metal kernels alone, {both} on kernels and on the CPU, {cpu} on the CPU alone; the others are "
        f"views and the like. {refused} calls asked for float64, which MPS refuses.",
    ]
    if wrong:
        lines.append(f"{len(wrong)} operators and types are wrong and not explained yet.")
    return [*lines, ""]


def _on_the_cpu(about: dict[str, Any], results: Results) -> list[str]:
    alone, in_part = [], []
    for name in sorted(about["operators"]):
        letters = {_letter(results.get((name, dtype)))[:1] for dtype in DTYPES}
        if BOTH in letters or {METAL, CPU} <= letters:
            in_part.append(f"`{name}`")
        elif CPU in letters:
            alone.append(f"`{name}`")
    lines = ["## On the CPU", "", f"The CPU computes {len(alone)} operators, over the same memory: {', '.join(alone)}.", ""]
    return [*lines, f"It computes {len(in_part)} in part, or for some types or samples: {', '.join(in_part)}.", ""]


def _failures(excuses: Sequence[Excuse]) -> list[str]:
    lines = ["## Known failures", "", "| Operators | Types | Tests | Why |", "|---|---|---|---|"]
    for one in sorted(excuses, key=lambda excuse: sorted(excuse.operators)):
        names = ", ".join(f"`{name}`" for name in sorted(one.operators))
        lines.append(f"| {names} | {', '.join(sorted(one.dtypes)) or 'all'} | {', '.join(sorted(one.tests))} | {one.reason} |")
    return [*lines, ""]


def _table(about: dict[str, Any], results: Results) -> list[str]:
    lines = [
        "## By operator",
        "",
        f"`{METAL}`: Metal kernels computed all of its samples. `{BOTH}`: some of them, or with operators on the CPU beside them. "
        f"`{CPU}`: the CPU. `{VIEW}`: nothing is computed. `{WRONG}` follows where a sample is wrong (docs/operators.md says why). Empty: not a type of "
        "the operator, or not compared.",
        "",
        f"| Operator | {' | '.join(DTYPES.values())} | on the CPU |",
        f"|---|{'---|' * (len(DTYPES) + 1)}",
    ]
    for name in sorted(about["operators"]):
        found = [results.get((name, dtype)) for dtype in DTYPES]
        if not any(found):
            continue
        fallen = Counter[str]()
        for result in found:
            fallen.update((result or {}).get("fallbacks", {}))
        shown = [other.removeprefix("aten::") for other, _ in fallen.most_common(3)]
        shown += ["…"] if len(fallen) > 3 else []
        lines.append(f"| `{name}` | {' | '.join(_letter(result) for result in found)} | {', '.join(shown)} |")
    return [*lines, ""]


def _letter(result: dict[str, Any] | None) -> str:
    if result is None or not result["compared"]:
        return ""
    wrong = WRONG if any(result["right"].get(test, 0) < count for test, count in result["compared"].items()) else ""
    metal, mixed, fallen = (result.get(kind, 0) for kind in ("metal", "mixed", "fallen"))
    if metal and not mixed and not fallen:
        return METAL + wrong
    if metal or mixed:
        return BOTH + wrong
    return (CPU if fallen else VIEW) + wrong


def _overloads(about: dict[str, Any], results: Results) -> list[str]:
    seen = {name for result in results.values() for name, counts in result.get("overloads", {}).items() if counts[1]}
    families: dict[str, list[str]] = {}
    for name in sorted(set(about["own"])):
        base, _, overload = name.removeprefix("aten::").partition(".")
        families.setdefault(base, []).append((overload or "default") + ("" if name in seen else "*"))
    lines = ["## Overloads on Metal kernels", "", "With a star: no sample of OpInfo launched it.", ""]
    return [*lines, *(f"- `{base}`: {', '.join(members)}" for base, members in families.items())]
