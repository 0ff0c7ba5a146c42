"""derivatives.yaml of a contributor: gradients of new operators, made by the wheel's own generator (tools/autograd).

The wheel brings that generator with torchgen. ``source`` takes the definitions of operators that the wheel does not know and
makes one C++ source of PyTorch's templates: nodes of the graph (Functions.cpp), what records them (VariableType.cpp), and
what counts versions of tensors that are written to (ADInplaceOrViewType.cpp).
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from torchgen import gen
from torchgen.api.autograd import match_differentiability_info
from torchgen.model import FunctionSchema, NativeFunction
from torchgen.utils import FileManager

from . import entries
from .entries import YamlError

_PACKAGE = "torchgen.packaged.autograd"
_include = re.compile(r'^#include [<"]([^>"]+)[>"]$', re.MULTILINE)
# libtorch has these and does not export them.
_UNPACK = """#include <torch/csrc/autograd/generated/VariableType.h>
namespace torch::autograd::VariableType {
at::Tensor& unpack(at::Tensor& tensor, const char*, int) { return tensor; }
const at::Tensor& unpack(const at::Tensor& tensor, const char*, int) { return tensor; }
at::Tensor unpack_opt(const at::Tensor& tensor, const char*, int) { return tensor; }
std::vector<at::Tensor> unpack(const at::ITensorListRef& tensors, const char*, int) { return {tensors.begin(), tensors.end()}; }
}  // namespace torch::autograd::VariableType
"""
_MANY = 100  # PyTorch's own file has more definitions


@dataclasses.dataclass(frozen=True)
class Definition(entries.Item):
    """An item of a derivatives.yaml."""

    @property
    def name(self) -> str:
        """Of the function, with its overload."""
        return entries.name_of(self.data["name"])


def read(text: str, path: str) -> list[Definition]:
    """The definitions of a file.

    Raises:
        YamlError: it is no YAML, or a definition has a wrong form.
    """
    definitions, problems = [], []
    for item in entries.load(text, path):
        line = item.pop("__line__", 1) if isinstance(item, dict) else 1
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            problems.append(f"{path}:{line}: a derivative with 'name: SCHEMA' is expected")
            continue
        for value in (item, item.get("dispatch"), *(item.get("dispatch") or {}).values()):
            if isinstance(value, dict):
                value.pop("__line__", None)
        definitions.append(Definition(path, line, item))
    if problems:
        raise YamlError(problems)
    return definitions


def choose(
    files: Iterable[Sequence[Definition]], new: set[str], listed: frozenset[str], notes: list[str]
) -> list[Definition]:
    """Of each file the definitions of new operators; those of operators that the installed PyTorch has are its own.

    Args:
        new: functions that are built.
        listed: those that have an entry in the folder.
        notes: gets what is left out, in words.

    Raises:
        YamlError: a small file names a function that has no entry.
    """
    known = entries.wheel_entries()
    chosen, problems = [], []
    for definitions in files:
        for definition in definitions:
            if definition.name in new:
                chosen.append(definition)
            elif len(definitions) >= _MANY:
                continue
            elif definition.name in known:
                notes.append(f"{definition.place}: the derivative of '{definition.name}' stays the installed PyTorch's own")
            elif definition.name not in listed:
                near = entries.suggestion(definition.name, listed)
                problems.append(f"{definition.place}: '{definition.name}' has no entry in native_functions.yaml{near}")
    if problems:
        raise YamlError(problems)
    return chosen


def source(definitions: Sequence[Definition], functions: Sequence[NativeFunction], new: Sequence[NativeFunction]) -> str:
    """C++ for the gradients of new operators.

    Args:
        definitions: of them.
        functions: all there are.
        new: those that the wheel does not know.

    Raises:
        YamlError: PyTorch's generator does not accept a definition, or the wheel has no generator.
    """
    infos = _infos(definitions, functions)
    variable_type, functions_of, in_place = map(_module, ("gen_variable_type", "gen_autograd_functions", "gen_inplace_or_view_type"))
    parts: dict[str, list[str]] = defaultdict(list)
    derived = [fn for fn in match_differentiability_info(list(new), infos) if in_place.use_derived(fn)]
    for fn in derived:
        try:
            made = variable_type.gen_variable_type_func(fn)
        except (AssertionError, RuntimeError) as error:
            raise YamlError([f"{_place(definitions, fn.func)}: {_in_words(error)}"]) from None
        for name, texts in (*made.items(), *in_place.gen_inplace_or_view_type_env(fn).items()):
            parts[name] += texts
    keys = sorted(name.removeprefix("wrapper_registrations_") for name in parts if name.startswith("wrapper_registrations_"))
    registrations = [
        f"TORCH_LIBRARY_IMPL(aten, {'Autograd' if key == 'Default' else key}, m) {{\n"
        + "\n".join(parts[f"wrapper_registrations_{key}"])
        + "\n}"
        for key in keys
    ]
    bodies = [text for key in keys for text in parts[f"type_derived_method_definitions_{key}"]]
    nodes = functions_of.get_infos_with_derivatives_list(infos)
    declarations = [functions_of.process_function(info, functions_of.FUNCTION_DECLARATION) for info in nodes]
    definitions_of_nodes = [functions_of.process_function(info, functions_of.FUNCTION_DEFINITION) for info in nodes]
    redispatch = [text for function in new if (text := gen.ComputeRedispatchFunction()(function))]
    includes = sorted({f"#include <ATen/ops/{function.root_name}{kind}.h>" for function in new for kind in ("", "_ops")})

    fill = _templates()
    return "\n".join([
        "// Generated from derivatives.yaml; edits are lost.",
        "#include <torch/csrc/autograd/FunctionsManual.h>",
        *includes,
        "namespace at::redispatch {", *redispatch, "}  // namespace at::redispatch",
        "namespace torch::autograd::generated {", *declarations, "}  // namespace torch::autograd::generated",
        fill("Functions.cpp", autograd_function_definitions=definitions_of_nodes),
        _UNPACK,
        fill("VariableType.cpp", type_derived_method_definitions=bodies, wrapper_registrations=registrations),
        fill(
            "ADInplaceOrViewType.cpp",
            ops_headers=parts["ops_headers"],
            inplace_or_view_method_definitions=parts["inplace_or_view_method_definitions"],
            inplace_or_view_wrapper_registrations=parts["inplace_or_view_wrapper_registrations"],
        ).replace("#define TORCH_ASSERT_ONLY_METHOD_OPERATORS", ""),
        "",
    ])  # fmt: skip


def _infos(definitions: Sequence[Definition], functions: Sequence[NativeFunction]) -> dict[FunctionSchema, dict[str, Any]]:
    by_signature: dict[FunctionSchema, list[NativeFunction]] = defaultdict(list)
    for function in functions:
        by_signature[function.func.signature()].append(function)
    by_schema = {str(function.func): function for function in functions}
    counter: Counter[str] = Counter()
    infos, problems = {}, []
    for definition in definitions:
        data = dict(definition.data)
        try:
            data["name"] = str(FunctionSchema.parse(data["name"].removeprefix("aten::")))
            if "dispatch" not in data:
                outputs = {key: data.pop(key) for key in ("output_differentiability",) if key in data}
                data = {"name": data.pop("name"), "dispatch": {"Default": data}, **outputs}
            if data["name"] not in by_schema:
                entry = next(function for function in functions if str(function.func.name) == definition.name)
                raise ValueError(f"its entry has another schema: {entry.func}")
            schema, info = _module("load_derivatives").create_differentiability_info(
                data, by_signature, by_schema, counter, set()
            )
        except (AssertionError, ValueError, KeyError, IndexError, RuntimeError) as error:
            problems.append(f"{definition.place}: the derivative of '{definition.name}': {_in_words(error)}")
            continue
        infos[schema] = info
    if problems:
        raise YamlError(problems)
    return infos


def _place(definitions: Sequence[Definition], function: NativeFunction) -> str:
    base = entries.base_of(str(function.func.name))
    return next((one.place for one in definitions if entries.base_of(one.name) == base), definitions[0].place)


def _in_words(error: Exception) -> str:
    return " ".join(str(error).split())[:400] or type(error).__name__


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"{_PACKAGE}.{name}")
    except ModuleNotFoundError as error:
        raise YamlError([f"derivatives.yaml needs PyTorch's generator of derivatives, and its wheel has no {error.name}"]) from None


def _is_installed(header: str) -> bool:
    """Of what the templates include the wheel lacks some, and new operators are not in its list of all."""
    name = header.removeprefix("ATen/ops/")
    include = entries.wheel_folder().parent / "torch" / "include"
    return name != header or (name != "ATen/RedispatchFunctions.h" and (include / header).is_file())


def _templates() -> Any:
    """What fills in one of PyTorch's templates."""
    folder = entries.wheel_folder() / "packaged/autograd/templates"
    templates = FileManager(".", folder, dry_run=True)

    def fill(name: str, **parts: list[str]) -> str:
        text = templates.substitute_with_template(name, lambda: {"generated_comment": "", **parts})
        return _include.sub(lambda found: found[0] if _is_installed(found[1]) else "", text)

    return fill


__all__ = ["Definition", "choose", "read", "source"]
