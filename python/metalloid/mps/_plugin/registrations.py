"""From chosen entries to C++ text, through torchgen: what generate.py writes into files."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from torchgen import dest, gen
from torchgen.model import (
    BackendIndex,
    BackendMetadata,
    DispatchKey,
    Location,
    NativeFunction,
    NativeFunctionsGroup,
    OperatorName,
    SchemaKind,
    Variant,
)
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import FileManager, Target

from . import entries as _entries
from . import structured
from .derivatives import Definition, choose, source
from .entries import Choice, Entry, YamlError

Group: TypeAlias = NativeFunction | NativeFunctionsGroup

# Functions of one source: compiling it takes seconds.
PART = 80

MPS_KEYS = {DispatchKey.MPS, DispatchKey.SparseMPS, DispatchKey.SparseCsrMPS}
# What is registered of an operator that the wheel does not know.
NEW_KEYS = (
    DispatchKey.MPS,
    DispatchKey.CPU,
    DispatchKey.Meta,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeImplicitAutograd,
)

NOTE = "// Generated from native_functions.yaml; edits are lost."

SOURCE = """\
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/DeviceGuard.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <kernel_registrations.h>
#include <torch/library.h>
{includes}

namespace at {{
namespace {{

{definitions}

}}  // namespace
{outside}
}}  // namespace at

{registrations}
"""

REGISTRATIONS = """\
static const metalloid::torch_registrations::Registrations {namespace}_{key}("{namespace}", c10::DispatchKey::{key}, __FILE__, [](auto& m) {{
  {text}
}});"""


def make(choice: Choice, derivatives: Iterable[Sequence[Definition]] = ()) -> dict[str, object]:
    """The attributes of generate.Generated.

    Raises:
        YamlError: torchgen does not accept an entry, or a derivative.
    """
    return _Maker(choice).make(derivatives)


class _Maker:
    def __init__(self, choice: Choice):
        self.choice = choice
        known = _entries.wheel_entries()
        self.new = {name for name in choice.chosen if name not in known}
        self.functions, self.indices = _parse({**known, **choice.chosen}, choice.chosen)
        self.groups = [
            group for group in gen.get_grouped_native_functions(self.functions)
            if any(_full_name(function) in choice.chosen for function in _functions(group))
        ]  # fmt: skip
        # What autogen: names, which torchgen made.
        self.new |= {
            _full_name(function) for group in self.groups for function in _functions(group)
            if "generated" in function.tags and any(_full_name(one) in self.new for one in _functions(group))
        }  # fmt: skip
        self.headers: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        self.registered: list[dict[str, object]] = []
        self.templates = FileManager(".", _entries.wheel_folder() / "packaged/ATen/templates", dry_run=True)

    def make(self, derivatives: Iterable[Sequence[Definition]]) -> dict[str, object]:
        by_root: dict[str, list[Group]] = defaultdict(list)
        for group in self.groups:
            by_root[group.root_name].append(group)
        for root, groups in sorted(by_root.items()):
            self._write_headers(root, groups)

        mps = [group for group in self.groups if self._has_kernel(group, DispatchKey.MPS)]
        for number, part in enumerate(_parts(mps)):
            self._write_source(f"RegisterMPS_{number}.cpp", part, [DispatchKey.MPS])
        added = [group for group in self.groups if any(_full_name(f) in self.new for f in _functions(group))]
        for number, part in enumerate(_parts(added)):
            self._write_source(f"RegisterNew_{number}.cpp", part, [k for k in NEW_KEYS if k is not DispatchKey.MPS])
            self._write_operators(f"Operators_{number}.cpp", part)
            self._write_generated_kernels(f"Composite_{number}.cpp", part)
        notes = list(self.choice.notes)
        if definitions := choose(derivatives, self.new, self.choice.listed, notes):
            new = [function for function in self.functions if _full_name(function) in self.new]
            self.sources["Derivatives.cpp"] = source(definitions, self.functions, new)
        return {
            "headers": self.headers,
            "sources": self.sources,
            "functions": self.registered,
            "new_operators": sorted(self.new),
            "differentiable": sorted({definition.name for definition in definitions}),
            "python_names": self._python_names(),
            "notes": notes,
        }

    def _python_names(self) -> list[list[str]]:
        """Of new operators, by `variants`: where torch's Python has them, in "torch", "Tensor" or a module like "nn"."""
        names = set()
        for function in self.functions:
            if _full_name(function) not in self.new or function.namespace != "aten" or function.func.kind() is SchemaKind.out:
                continue
            name = str(function.func.name.name)
            if Variant.function in function.variants:
                names.add((function.python_module or "torch", name))
            if Variant.method in function.variants:
                names.add(("Tensor", name))
        return sorted(map(list, names))

    def _has_kernel(self, group: Group, key: DispatchKey) -> bool:
        return any(self.indices[key].has_kernel(function) for function in _functions(group))

    def _write_source(self, name: str, groups: list[Group], keys: list[DispatchKey]) -> None:
        """Wrappers of kernels and their registrations; each key has helpers of its own name, so a namespace of its own."""
        definitions, registrations, includes = [], [], set()
        for key in keys:
            index = self.indices[key]
            wrappers: list[str] = []
            lines: dict[str, list[str]] = defaultdict(list)
            for group in groups:
                found = [line for line in _generate(index, Target.REGISTRATION, group) if self._is_ours(line, key)]
                if not found:
                    continue
                wrappers += _generate(index, Target.ANONYMOUS_DEFINITION, group)
                lines[_namespace(group)] += found
                includes |= {f"#include <ATen/ops/{group.root_name}_native.h>"}
                if key is DispatchKey.CompositeExplicitAutogradNonFunctional:
                    includes |= {f"#include <ATen/ops/{group.root_name}.h>"}
                self._record(group, key, found)
            if not wrappers:
                continue
            includes |= set(dest.gen_registration_headers(index, per_operator_headers=True, rocm=False))
            space = f"for_{key.name}"
            body = "\n".join([*dest.gen_registration_helpers(index), structured.share("\n".join(wrappers))])
            definitions.append(f"namespace {space} {{\n{body}\n}}  // namespace {space}")
            for namespace, found in lines.items():
                # A pointer, not TORCH_FN: functions of one signature share the compiled code around them.
                text = "\n  ".join(re.sub(r"TORCH_FN\((\w+)\)", rf"at::{space}::\1", line.strip()) for line in found)
                registrations.append(REGISTRATIONS.format(namespace=namespace, key=key.name, text=text))
        if definitions:
            self._add_source(name, includes, definitions, "", registrations)

    def _write_operators(self, name: str, groups: list[Group]) -> None:
        """Schemas of new operators and what calls them from C++."""
        functions = [f for group in groups for f in _functions(group) if _full_name(f) in self.new]
        calls = [_text(gen.ComputeOperators(Target.DEFINITION, static_dispatch_backend_indices=[]), f) for f in functions]
        schemas: dict[str, list[NativeFunction]] = defaultdict(list)
        for function in functions:
            schemas[function.namespace].append(function)
        registrations = []
        for namespace, members in schemas.items():
            register = gen.RegisterSchema(SelectiveBuilder.get_nop_selector())
            text = "".join(_text(register, function) for function in members)
            registrations.append(f"TORCH_LIBRARY_FRAGMENT({namespace}, m) {{\n{text}}}")
        includes = {f"#include <ATen/ops/{group.root_name}_ops.h>" for group in groups}
        includes |= {"#include <ATen/core/dispatch/Dispatcher.h>", "#include <ATen/core/enum_tag.h>"}
        outside = "namespace _ops {\n" + "\n".join(calls) + "\n}  // namespace _ops"
        self._add_source(name, includes, [], outside, registrations)

    def _write_generated_kernels(self, name: str, groups: list[Group]) -> None:
        """Kernels of functions that autogen: names."""
        made = [group for group in groups if isinstance(group, NativeFunctionsGroup)]
        functional = [gen.gen_composite_functional_kernel(group) for group in made]
        out = [gen.gen_composite_out_kernel(group) for group in made]
        if not any(functional + out):
            return
        roots = {group.root_name for group in made}
        self.sources[name] = self.templates.substitute_with_template(
            "CompositeViewCopyKernels.cpp",
            lambda: {
                "generated_comment": NOTE[3:],
                "ops_headers": sorted(f"#include <ATen/ops/{root}_{kind}.h>" for root in roots for kind in ("ops", "native")),
                "CompositeViewCopyKernel_Definitions": [],
                "GeneratedCompositeFunctional_Definitions": [text for text in functional if text],
                "GeneratedCompositeOut_Definitions": [text for text in out if text],
            },
        )

    def _add_source(
        self, name: str, includes: set[str], definitions: list[str], outside: str, registrations: list[str]
    ) -> None:
        self.sources[name] = f"{NOTE}\n" + SOURCE.format(
            includes="\n".join(sorted(includes)),
            definitions="\n\n".join(definitions),
            outside=outside,
            registrations="\n\n".join(registrations),
        )

    def _is_ours(self, registration: str, key: DispatchKey) -> bool:
        """Of a group some functions may be the wheel's: those it has registered itself, but not for MPS."""
        name = _registered(registration)
        return key is DispatchKey.MPS or name in {_plain(new) for new in self.new}

    def _record(self, group: Group, key: DispatchKey, registrations: list[str]) -> None:
        index = self.indices[key]
        names = [_registered(line) for line in registrations]
        metadata = index.get_kernel(group)
        if isinstance(group, NativeFunctionsGroup) and group.structured:
            if metadata is None or not metadata.structured:
                return  # made by torchgen: meta functions and the composites around them
            functions = [(group.out, f"structured_{metadata.kernel}", names)]
        else:
            functions = [
                (function, index.get_kernel(function).kernel, [str(function.func.name)])
                for function in _functions(group)
                if index.has_kernel(function) and str(function.func.name) in names
            ]
        for function, kernel, registers in functions:
            metadata = index.get_kernel(function)
            self.registered.append({
                "name": _full_name(function),
                "key": str(key),
                "kernel": f"{metadata.cpp_namespace}::{kernel}",
                "structured": metadata.structured,
                "place": str(function.loc.file) + f":{function.loc.line}",
                "registers": registers,
                "own": not _declares(f"{group.root_name}_native.h", kernel),
            })  # fmt: skip

    def _write_headers(self, root: str, groups: list[Group]) -> None:
        """What the wheel's headers of an operator lack."""
        new = [f for group in groups for f in _functions(group) if _full_name(f) in self.new]
        structured = [g for g in groups if isinstance(g, NativeFunctionsGroup) and g.structured]
        if new:
            declare = gen.ComputeOperators(Target.DECLARATION, static_dispatch_backend_indices=[])
            self._write_header(f"{root}_ops.h", "Operator.h", declarations=[_text(declare, f) for f in new])
            inline = [_text(gen.ComputeFunction(), function) for function in new]
            self._write_header(
                f"{root}.h", "Function.h",
                static_dispatch_ops_headers="", operator_includes=f"#include <ATen/ops/{root}_ops.h>",
                function_definitions=[text for text in inline if text],
            )  # fmt: skip
        missing = [g for g in structured if not _declares(f"{root}_meta.h", f"structured_{_meta_name(g)}")]
        if missing:
            declarations = [gen.compute_meta_function_declaration(group) for group in missing]
            self._write_header(f"{root}_meta.h", "NativeMetaFunction.h", meta_function_declarations=declarations)

        keys = NEW_KEYS if new else (DispatchKey.MPS,)
        declarations = gen.get_native_function_declarations(
            grouped_native_functions=groups,
            backend_indices={key: self.indices[key] for key in keys},
            native_function_decl_gen=lambda group, index: [
                text for text in dest.compute_native_function_declaration(group, index)
                if not _has_declaration(f"{root}_native.h", text)
            ],
        )  # fmt: skip
        if missing or any(line.strip(" \n") and "namespace" not in line for line in declarations):
            meta = f"#include <ATen/ops/{root}_meta.h>" if structured else ""
            self._write_header(
                f"{root}_native.h", "NativeFunction.h", extra_includes=meta, native_function_declarations=declarations
            )

    def _write_header(self, name: str, template: str, **parts: str | list[str]) -> None:
        text = self.templates.substitute_with_template(template, lambda: {"generated_comment": NOTE[3:], **parts})
        if _wheel_header(name).is_file():
            text = text.replace("#pragma once", f"#pragma once\n#include_next <ATen/ops/{name}>", 1)
        self.headers[f"ATen/ops/{name}"] = text


def _parse(
    merged: dict[str, Entry], chosen: dict[str, Entry]
) -> tuple[list[NativeFunction], dict[DispatchKey, BackendIndex]]:
    functions: list[NativeFunction] = []
    kernels: dict[DispatchKey, dict[OperatorName, BackendMetadata]] = defaultdict(dict)
    problems = []
    for name, entry in merged.items():
        data = {**entry.data, "tags": _list(entry.data.get("tags"))}  # torchgen adds to the list that it gets
        try:
            function, metadata = NativeFunction.from_yaml(
                data,
                Location(entry.path, entry.line),
                set(_entries.valid_tags()),
                None if name in chosen else MPS_KEYS,
            )
        except (AssertionError, ValueError, KeyError, IndexError, RuntimeError) as error:
            problems.append(f"{entry.place}: {_in_words(error)}\n    func: {entry.schema}")
            continue
        functions.append(function)
        BackendIndex.grow_index(kernels, metadata)
    if problems:
        raise YamlError(problems)
    try:
        gen.error_check_native_functions(functions)
        gen.add_generated_native_functions(functions, kernels)
        gen.get_grouped_native_functions(functions)
    except AssertionError as error:
        # torchgen looks at all functions together and names some of them.
        named = [entry for name, entry in chosen.items() if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", str(error))]
        place = (named or list(chosen.values()))[0].place
        raise YamlError([f"{place}: {_in_words(error)}"]) from None
    return functions, {
        key: BackendIndex(
            dispatch_key=key, use_out_as_primary=True, external=False, device_guard=False, index=kernels[key]
        )
        for key in NEW_KEYS
    }  # fmt: skip


def _registered(line: str) -> str:
    """The function's name in ``m.impl("name", ...)``."""
    found = re.search(r'm\.impl\("([^"]+)"', line)
    assert found, line
    return found[1]


def _list(tags: str | Iterable[str] | None) -> list[str]:
    return [tags] if isinstance(tags, str) else list(tags or [])


def _in_words(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"PyTorch's code generator does not accept it: {text[0] if text else type(error).__name__}"


def _functions(group: Group) -> list[NativeFunction]:
    return [group] if isinstance(group, NativeFunction) else list(group.functions())


def _full_name(function: NativeFunction) -> str:
    name = str(function.func.name)
    return name if function.namespace in ("aten", "at") else f"{function.namespace}::{name}"


def _plain(name: str) -> str:
    return name.rpartition("::")[2]


def _namespace(group: Group) -> str:
    return _functions(group)[0].namespace


def _meta_name(group: NativeFunctionsGroup) -> str:
    import torchgen.api.meta

    return torchgen.api.meta.name(group)


def _text(generator, function: NativeFunction) -> str:
    return generator(function) or ""


def _generate(index: BackendIndex, target: Target, group: Group) -> list[str]:
    register = dest.RegisterDispatchKey(
        index, target, SelectiveBuilder.get_nop_selector(),
        rocm=False, symint=True, class_method_name=None, skip_dispatcher_op_registration=False,
    )  # fmt: skip
    return register(group)


def _parts(groups: Iterable[Group]) -> list[list[Group]]:
    """Parts whose ends depend on the names around them: one function more changes one part."""
    parts: list[list[Group]] = [[]]
    for group in sorted(groups, key=lambda group: (group.root_name, str(_functions(group)[0].func.name))):
        parts[-1].append(group)
        if len(parts[-1]) >= PART // 2 and (
            zlib.crc32(group.root_name.encode()) % (PART // 2) == 0 or len(parts[-1]) >= 2 * PART
        ):
            parts.append([])
    return [part for part in parts if part]


def _wheel_header(name: str) -> pathlib.Path:
    torch = importlib.util.find_spec("torch")
    assert torch and torch.origin  # its torchgen is imported
    return pathlib.Path(torch.origin).parent / "include/ATen/ops" / name


def _declares(header: str, name: str) -> bool:
    """Whether the wheel's header of an operator has a name."""
    file = _wheel_header(header)
    return file.is_file() and re.search(rf"\b{re.escape(name)}\b", file.read_text()) is not None


def _has_declaration(header: str, declaration: str) -> bool:
    file = _wheel_header(header)
    return file.is_file() and _bare(declaration.splitlines()[0]) in map(_bare, file.read_text().splitlines())


def _bare(line: str) -> str:
    """A declaration without the macros of Windows' linkage."""
    return re.sub(r"\bTORCH_(CUDA_CPP_|XPU_)?API\b|\s+", "", line)
