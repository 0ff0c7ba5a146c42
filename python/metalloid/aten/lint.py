"""PyTorch's rules for kernels of MPS, applied to a native_functions.yaml and to the sources beside it.

=================  ====================================================================================================
entry              the file or an entry cannot be read, or names a dispatch key that there is not
family             an overload has a kernel for the CPU and none for MPS, while another overload of the operator has one
leftover           an overload still goes to a function of MPS's own (MPS: x_mps), while another one shares the CPU's
no-kernel          the function that MPS dispatches to is nowhere
no-stub            the function is shared with the CPU, but no host file registers its stub for MPS
idle-stub          a host file registers a stub, but no entry dispatches MPS to the function that calls it
no-metal           a host file runs a Metal kernel that no .metal file registers
=================  ====================================================================================================

The last four need sources: those of the folder, besides what the installed PyTorch's headers declare.
"""

from __future__ import annotations

import pathlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..mps._plugin import entries, operators, sources
from ..mps._plugin.entries import Entry, YamlError
from ..mps._plugin.generate import Function
from ..mps._plugin.operators import Folder


class Finding(NamedTuple):
    """What a rule says of a place."""

    place: str
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}: {self.text}"


def lint(path: pathlib.Path | None, names: Sequence[str] = ()) -> list[Finding]:
    """Applies all rules.

    Args:
        path: a native_functions.yaml or a folder with one; None: that of the installed PyTorch.
        names: operators; none: all.

    Raises:
        FolderError, OSError: there is no such file.
    """
    folder: Folder | None = None
    if path is None:
        files = [entries.wheel_folder() / "packaged/ATen/native/native_functions.yaml"]
    elif path.is_file():
        files = [path]
    else:
        folder = operators.find(path)
        files = folder.yamls
    try:
        read = [entry for file in files for entry in entries.read(file.read_text(encoding="utf-8"), str(file))]
    except YamlError as error:
        return [Finding(*_split(problem)) for problem in error.problems]
    chosen = [entry for entry in read if not names or not entry.names.isdisjoint(names)]
    if unreadable := list(_schemas(chosen)):
        return unreadable
    findings = [*_families(chosen), *_kernels(chosen, folder)]
    if folder is not None:
        findings += [*_stubs(chosen, read, folder), *_metal(chosen, folder, bool(names))]
    return sorted(findings, key=lambda finding: _order(finding.place))


def _split(problem: str) -> tuple[str, str, str]:
    found = re.match(r"(.*?:\d+): (.*)", problem, re.DOTALL)
    return (found[1], "entry", found[2]) if found else ("native_functions.yaml:1", "entry", problem)


def _order(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line) if line.isdigit() else 0


def _schemas(read: Sequence[Entry]) -> Iterator[Finding]:
    """Those that PyTorch's code generator cannot read."""
    from torchgen.model import FunctionSchema

    known = entries.wheel_entries()
    for entry in read:
        if entry.name in known and known[entry.name].schema == entry.schema:
            continue
        name, bracket, arguments = entry.schema.partition("(")
        try:
            FunctionSchema.parse(name.rpartition("::")[2] + bracket + arguments)
        except Exception as error:  # it has no errors of its own
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            yield Finding(entry.place, "entry", f"PyTorch's code generator does not accept '{entry.name}': {why}")


def _families(read: Sequence[Entry]) -> Iterator[Finding]:
    families: dict[str, list[Entry]] = defaultdict(list)
    for entry in read:
        if "CPU" in entry.dispatch or "MPS" in entry.dispatch:
            families[entry.base_name].append(entry)
    for members in families.values():
        served = [entry for entry in members if "MPS" in entry.dispatch]
        shared = [entry for entry in served if entry.dispatch["MPS"] == entry.dispatch.get("CPU")]
        for entry in members:
            place = f"{entry.path}:{entry.line_of_dispatch()}"
            if entry in served:
                if shared and entry not in shared and entry.dispatch["MPS"].rstrip("_").endswith("_mps"):
                    yield Finding(
                        place, "leftover",
                        f"'{entry.name}' goes to {entry.dispatch['MPS']}, while '{shared[0].name}' shares "
                        f"{shared[0].dispatch['MPS']} with the CPU: callers of this overload keep the other code",
                    )  # fmt: skip
            elif served and not _is_composite(entry):
                yield Finding(
                    place, "family",
                    f"'{entry.name}' has a kernel for the CPU ({entry.dispatch['CPU']}) and none for MPS, "
                    f"which '{served[0].name}' has ({served[0].dispatch['MPS']})",
                )  # fmt: skip


def _is_composite(entry: Entry) -> bool:
    return any(key.startswith("Composite") for key in entry.dispatch)


def _functions(read: Sequence[Entry]) -> Iterator[tuple[Entry, Function]]:
    """What is registered for MPS, as generate.py would say it."""
    for entry in read:
        if kernel := entry.dispatch.get("MPS"):
            structured = bool(entry.data.get("structured"))
            name = f"structured_{kernel}" if structured else kernel
            header = entries.wheel_folder().parent / f"torch/include/ATen/ops/{_root(entry)}_native.h"
            declared = header.is_file() and re.search(rf"\b{re.escape(name)}\b", header.read_text()) is not None
            yield entry, Function(entry.name, "MPS", f"at::native::{name}", structured, entry.place, [entry.name], not declared)


def _root(entry: Entry) -> str:
    """The name in ``ATen/ops/NAME_native.h``."""
    from torchgen.model import BaseOperatorName

    return BaseOperatorName.parse(entry.name.partition(".")[0]).base


def _kernels(read: Sequence[Entry], folder: Folder | None) -> Iterator[Finding]:
    texts = _texts(folder)
    for entry, function in _functions(read):
        if not function.own or any(sources.defines(text, function) for text in texts.values()):
            continue
        kernel = entry.dispatch["MPS"]
        shares = [key for key, other in entry.dispatch.items() if other == kernel and key != "MPS"]
        if folder is None and not shares:
            continue  # MPS's own functions are in sources that are not here
        where = "no file of the folder defines" if folder else "the installed PyTorch does not declare"
        yield Finding(
            f"{entry.path}:{entry.line_of_dispatch()}", "no-kernel",
            f"'{entry.name}' dispatches MPS to {kernel}, which {where}",
        )  # fmt: skip


def _texts(folder: Folder | None) -> dict[pathlib.Path, str]:
    return sources.read([*folder.operations, *folder.natives]) if folder else {}


_registration = re.compile(r"\bREGISTER_(?:MPS_)?DISPATCH\s*\(\s*(\w+)\s*,")


def _stubs(read: Sequence[Entry], everything: Sequence[Entry], folder: Folder) -> Iterator[Finding]:
    texts = _texts(folder)
    for entry, function in _functions(read):
        if entry.dispatch["MPS"] != entry.dispatch.get("CPU"):
            continue
        stubs = sources.stubs_of(function, folder.natives, texts)
        calls_one = function.structured or any(f"{stub}" in text for stub in stubs for text in texts.values())
        if calls_one and not any(sources.registers(texts[file], stub) for file in folder.operations for stub in stubs):
            yield Finding(
                f"{entry.path}:{entry.line_of_dispatch()}", "no-stub",
                f"'{entry.name}' shares {entry.dispatch['MPS']} with the CPU, but no host file says "
                + " or ".join(f"REGISTER_DISPATCH({stub}, …)" for stub in stubs),
            )  # fmt: skip
    wanted = {
        stub for _, function in _functions(everything)
        for stub in [*sources.stubs_of(function, folder.natives, texts), f"{entries.base_of(function.name)}_stub"]
    }  # fmt: skip
    for file in folder.operations:
        for number, line in enumerate(texts[file].splitlines(), 1):
            found = _registration.search(line)
            if found and found[1] not in wanted and not folder.is_checkout:
                yield Finding(
                    f"{file}:{number}", "idle-stub",
                    f"{found[1]} is registered, but no entry dispatches MPS to a function that calls it",
                )  # fmt: skip


_run = re.compile(r"""\bexec_(\w+?)_kernel(?:_with_params|_raw)?(?:<[^>]*>)?\s*\(\s*(?:\w+\s*,\s*)?"(\w+)\"""")


def _metal(read: Sequence[Entry], folder: Folder, only_named: bool) -> Iterator[Finding]:
    metal = "\n".join(sources.read(folder.kernels.values()).values())
    registered = set(re.findall(r"\bREGISTER_\w+\s*\(\s*(\w+)", metal))
    named = {entry.base_name for entry in read}
    for file, text in sources.read(folder.operations).items():
        for found in _run.finditer(text):
            if found[2] in registered or (only_named and found[2] not in named):
                continue
            if re.search(rf"\b{found[2]}_functor\b|\b{found[2]}_(dense|strided)", metal):
                continue
            line = text.count("\n", 0, found.start()) + 1
            yield Finding(
                f"{file}:{line}", "no-metal", f"the Metal kernel '{found[2]}' runs here, but no .metal file registers it"
            )
