"""A folder to start an operator from: PyTorch's layout, every file with its place for what the operator computes."""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

from ..mps._plugin import entries
from . import templates


class CannotBegin(ValueError):
    """The folder cannot be made; the text says why."""


class Kind(NamedTuple):
    """What elementwise operators of one number of inputs differ in."""

    name: str
    arguments: tuple[str, ...]
    build: str


NATIVE = "aten/src/ATen/native"
KINDS = {
    1: Kind("unary", ("self",), "build_borrowing_unary_float_op"),
    2: Kind("binary", ("self", "other"), "build_borrowing_binary_float_op"),
    3: Kind("ternary", ("self", "first", "second"), "build_ternary_op"),
}


def write(name: str, inputs: int | None, folder: pathlib.Path, cpp: bool = False) -> list[pathlib.Path]:
    """Writes the files of an operator.

    Args:
        name: of the operator; one that PyTorch has gets a kernel for MPS, another one is new.
        inputs: how many tensors it takes, 1 to 3; None: as PyTorch's operator of this name, else 1.
        folder: which is made, or has nothing in the way.
        cpp: the host file in plain C++ instead of Objective-C++.

    Returns:
        The files.

    Raises:
        CannotBegin: the name cannot be used, or files are in the way.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.endswith("_"):
        raise CannotBegin(f"'{name}' is no name of an operator: letters, digits and _ inside")
    known = [entry for entry in entries.wheel_entries().values() if entry.base_name == name]
    contents = _known(name, known, inputs, cpp) if known else _new(name, KINDS[inputs or 1], cpp)
    files = {folder / place: text for place, text in contents.items()}
    for file in files:
        if file.exists():
            raise CannotBegin(f"{file} is there already")
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        except OSError as error:
            raise CannotBegin(f"{file} cannot be written: {error.strerror}") from None
    return list(files)


def _new(name: str, kind: Kind, cpp: bool) -> dict[str, str]:
    """An operator that PyTorch does not have: also shapes and types of results, the CPU's kernel to compare with, and the
    derivative."""
    values = {
        "NAME": name,
        "KIND": kind.name,
        "BUILD": kind.build,
        "SCHEMA": ", ".join(f"Tensor {argument}" for argument in kind.arguments),
        "TENSORS": ", ".join(f"const Tensor& {argument}" for argument in kind.arguments),
        "ARGUMENTS": ", ".join(kind.arguments),
        "SCALARS": ", ".join(f"scalar_t {argument}" for argument in kind.arguments),
        "STUB": f"{name}_stub",
        "STUB_HEADER": f"ATen/native/{name}.h",
    }
    zeros = "".join(f"  {argument}: at::zeros_like(grad)\n" for argument in kind.arguments[1:])
    return {
        f"{NATIVE}/native_functions.yaml": _fill(templates.NEW_ENTRIES, values),
        "tools/autograd/derivatives.yaml": _fill(templates.NEW_DERIVATIVES, values) + zeros,
        f"{NATIVE}/{name}.h": _fill(templates.STUB, values),
        f"{NATIVE}/{name}.cpp": _fill(templates.SHAPES, values),
        f"{NATIVE}/cpu/{name}Kernel.cpp": _fill(templates.CPU_KERNEL, values),
        **_metal_files(name, kind, values, cpp),
    }


def _known(name: str, known: list[entries.Entry], inputs: int | None, cpp: bool) -> dict[str, str]:
    """A kernel for MPS of an operator that PyTorch has."""
    structured = [entry for entry in known if entry.data.get("structured")]
    out = structured[0] if structured else known[0]
    tensors = len(re.findall(r"\bTensor \w+", out.schema.partition("->")[0].partition("*")[0]))
    if tensors not in KINDS or (inputs is not None and inputs != tensors):
        raise CannotBegin(f"PyTorch's operator '{out.schema}' takes {tensors} tensors")
    header = _header_of(f"{name}_stub")
    if header is None:
        raise CannotBegin(
            f"PyTorch's '{name}' has no {name}_stub for a kernel over nothing but a TensorIterator; write an entry with a "
            f"function of its own (MPS: {name}_mps) into a native_functions.yaml and its definition into operations/"
        )
    kind = KINDS[tensors]
    values = {"NAME": name, "KIND": kind.name, "STUB": f"{name}_stub", "STUB_HEADER": header}
    text = "\n\n".join(_moved(entry) for entry in known if not entry.name.startswith("__")) + "\n"
    return {f"{NATIVE}/native_functions.yaml": text, **_metal_files(name, kind, values, cpp)}


def _metal_files(name: str, kind: Kind, values: dict[str, str], cpp: bool) -> dict[str, str]:
    values = {**values, "REGISTER": "REGISTER_DISPATCH" if not cpp else "REGISTER_MPS_DISPATCH"}
    functor = {"unary": templates.UNARY_FUNCTOR, "binary": templates.BINARY_FUNCTOR, "ternary": templates.TERNARY_FUNCTOR}
    return {
        f"{NATIVE}/mps/kernels/{name}.metal": _fill(functor[kind.name], {**values, "MACRO": f"REGISTER_{kind.name.upper()}_OP"}),
        f"{NATIVE}/mps/operations/{name}.{'cpp' if cpp else 'mm'}": _fill(templates.OPERATION, values),
    }


def _fill(template: str, values: dict[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], template).lstrip("\n")


def _header_of(stub: str) -> str | None:
    """Where the installed PyTorch declares a stub that takes an iterator and nothing else."""
    include = entries.wheel_folder().parent / "torch" / "include"
    for header in sorted((include / "ATen" / "native").glob("*.h")):
        text = header.read_text(errors="replace")
        found = re.search(rf"\bDECLARE_DISPATCH\(((?:(?!DECLARE_DISPATCH)[^;])*?),\s*{stub}\)", text)
        if found:
            alias = re.search(rf"\busing {re.escape(found[1].strip())} =([^;]*);", text)
            parameters = re.search(r"\(\*\)\s*\(([^)]*)\)", alias[1] if alias else found[1])
            takes = parameters[1].strip() if parameters else ""
            is_iterator = re.fullmatch(r"TensorIteratorBase\s*&(\s*\w+)?", takes) is not None
            return header.relative_to(include).as_posix() if is_iterator else None
    return None


def _moved(entry: entries.Entry) -> str:
    """An entry's text with MPS beside CPU, which is how kernels over a stub are named."""
    lines = pathlib.Path(entry.path).read_text().splitlines()
    end = entry.line
    while end < len(lines) and (not lines[end] or lines[end][0] in " \t"):
        end += 1
    text = "\n".join(lines[entry.line - 1 : end]).rstrip()
    if not entry.data.get("structured") and "CPU" not in entry.dispatch:
        return text
    text = re.sub(r"(?m)^ +MPS: \S+\n?", "", text).rstrip()
    if re.search(r"(?m)^ +[\w, ]*\bMPS\b[\w, ]*:", text):
        return text
    return re.sub(r"(?m)^( +)(CPU(?:, CUDA)?)\b", r"\1\2, MPS", text, count=1)
