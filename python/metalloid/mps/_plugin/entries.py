"""Entries of native_functions.yaml: PyTorch's own as its wheel brings them, those that a contributor changes, and tables of
kernels, which say of PyTorch's own entries nothing but what MPS dispatches to.

What is wrong with a file is told with the line and in words. torchgen is used as a library; it is part of the wheel.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib.util
import inspect
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

# A table of kernels by the names of functions.
TABLE = "mps_dispatch.yaml"
# A file with at least so much of the wheel's functions is PyTorch's own, with edits.
WHOLE = 0.5


class YamlError(ValueError):
    """Entries that cannot be used: one line of text each, which begins with the file and the line."""

    def __init__(self, problems: Sequence[str]):
        super().__init__("\n".join(problems))
        self.problems = list(problems)


@dataclasses.dataclass(frozen=True)
class Item:
    """An item of one of PyTorch's yaml files as it was read."""

    path: str
    line: int
    data: dict[str, Any]

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Entry(Item):
    """A function of a native_functions.yaml."""

    @property
    def schema(self) -> str:
        return self.data["func"]

    @functools.cached_property
    def name(self) -> str:
        """Namespace (unless it is aten), name and overload: ``sum.dim_IntList``."""
        return name_of(self.schema)

    @functools.cached_property
    def base_name(self) -> str:
        """The name of the operator that the entry is an overload or a variant of: ``add`` of ``add_.Tensor``."""
        return base_of(self.name)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """How people name it: ``atan2``, ``atan2_``, ``atan2.out``."""
        return frozenset((self.name, self.base_name, self.name.partition(".")[0]))

    @functools.cached_property
    def dispatch(self) -> dict[str, str]:
        """The kernel of each dispatch key."""
        table = self.data.get("dispatch") or {}
        return {key.strip(): kernel for keys, kernel in table.items() if keys != "__line__" for key in keys.split(",")}

    def line_of_dispatch(self) -> int:
        return (self.data.get("dispatch") or {}).get("__line__", self.line)


def base_of(name: str) -> str:
    """The operator's name of a function's: ``add`` of ``add_.Tensor``."""
    name = name.partition(".")[0]
    return name if name.startswith("__") else name.removesuffix("_")


def name_of(schema: str) -> str:
    """The function's name in a schema, with its overload."""
    return schema.partition("(")[0].strip().removeprefix("aten::")


def wheel_folder() -> pathlib.Path:
    """The folder torchgen of the installed wheel.

    Raises:
        YamlError: its wheel has no torchgen, or PyYAML is not installed, which torchgen needs.
    """
    found = importlib.util.find_spec("torchgen")
    folder = pathlib.Path(found.origin).parent if found and found.origin else None
    if folder is None or not (folder / "packaged/ATen/native/native_functions.yaml").is_file():
        raise YamlError(["the installed PyTorch has no torchgen/packaged/ATen/native/native_functions.yaml"])
    if importlib.util.find_spec("yaml") is None:
        raise YamlError(["PyTorch's code generator needs PyYAML, which is not installed: pip install pyyaml"])
    return folder


@functools.cache
def wheel_entries() -> dict[str, Entry]:
    """PyTorch's own entries by name. Not to be changed."""
    file = wheel_folder() / "packaged/ATen/native/native_functions.yaml"
    return {entry.name: entry for entry in read(file.read_text(), str(file))}


@functools.cache
def valid_tags() -> frozenset[str]:
    from torchgen.gen import parse_tags_yaml

    return frozenset(parse_tags_yaml(str(wheel_folder() / "packaged/ATen/native/tags.yaml")))


@functools.cache
def known_keys() -> frozenset[str]:
    """The keys that an entry may have, as torchgen reads them."""
    from torchgen.model import NativeFunction

    return frozenset(re.findall(r"""\be\.pop\(\s*["'](\w+)["']""", inspect.getsource(NativeFunction.from_yaml)))


@functools.cache
def dispatch_keys() -> frozenset[str]:
    """Those that an entry's dispatch may name."""
    from torchgen.model import dispatch_keys

    return frozenset(map(str, dispatch_keys))


def load(text: str, path: str) -> list[Any]:
    """The items of a file that is a list, each table with its ``__line__``.

    Raises:
        YamlError: it is no YAML, or no list.
    """
    import yaml
    from torchgen.gen import LineLoader

    try:
        content = yaml.load(text, Loader=LineLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise YamlError([f"{path}:{line}: this is not YAML: {error.problem or error}"]) from None
    except yaml.YAMLError as error:
        raise YamlError([f"{path}:1: this is not YAML: {error}"]) from None
    except AssertionError as error:  # a key that stands twice
        found = re.search(r"line=(\d+)", str(error))
        raise YamlError([f"{path}:{int(found[1]) + 1 if found else 1}: {error}"]) from None
    if content is None:
        return []
    if not isinstance(content, list):
        raise YamlError([f"{path}:1: a list of entries is expected"])
    return content


def read(text: str, path: str, notes: list[str] | None = None) -> list[Entry]:
    """The entries of a file.

    Args:
        notes: gets what a table names and the installed PyTorch does not have, in words.

    Raises:
        YamlError: it is no YAML, or entries have a wrong form.
    """
    if pathlib.Path(path).name == TABLE:
        return _of_table(text, path, [] if notes is None else notes)
    entries, problems = [], []
    seen: dict[str, Any] = {}
    for item in load(text, path):
        line = item.get("__line__", 1) if isinstance(item, dict) else 1
        wrong = _wrong_form(item)
        if wrong is None:
            entry = Entry(path, line, item)
            earlier = seen.setdefault(entry.name, entry)
            if earlier is not entry:
                wrong = f"'{entry.name}' stands in line {earlier.line} already"
            entries.append(entry)
        if wrong is not None:
            problems.append(f"{path}:{line}: {wrong}")
    if problems:
        raise YamlError(problems)
    return entries


def _of_table(text: str, path: str, notes: list[str]) -> list[Entry]:
    """PyTorch's entries with the kernels of a table (``eq.Tensor_out: eq_Tensor_out``)."""
    import yaml

    entries = []
    for name, kernel in yaml.compose(text).value:
        line = name.start_mark.line + 1
        known = wheel_entries().get(name.value)
        if known is None:
            notes.append(f"{path}:{line}: '{name.value}' is left out: the installed PyTorch has no such operator")
        else:
            entries.append(Entry(path, line, {**known.data, "dispatch": {"MPS": kernel.value}}))
    return entries


def _wrong_form(item: object) -> str | None:
    if not isinstance(item, dict):
        return f"an entry with 'func:' is expected, not {item!r}"
    schema = item.get("func")
    if not isinstance(schema, str):
        return "the entry has no 'func:' with a schema"
    for key in item:
        if key != "__line__" and key not in known_keys():
            return f"unknown key '{key}' of '{name_of(schema)}'{suggestion(str(key), known_keys())}"
    table = item.get("dispatch")
    if table is not None and not isinstance(table, dict):
        return f"'dispatch:' of '{name_of(schema)}' is no table of dispatch keys and kernels"
    for keys, kernel in (table or {}).items():
        if keys == "__line__":
            continue
        if not (isinstance(keys, str) and isinstance(kernel, str)):
            return f"'{keys}: {kernel}' in the dispatch of '{name_of(schema)}' is no dispatch key with a kernel"
        for key in map(str.strip, keys.split(",")):
            if key not in dispatch_keys():
                return f"unknown dispatch key '{key}' of '{name_of(schema)}'{suggestion(key, dispatch_keys(), 0.6)}"
    return None


def suggestion(word: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """What may be meant, as the end of a sentence."""
    close = difflib.get_close_matches(word, known, n=3, cutoff=cutoff)
    return f"; did you mean {' or '.join(repr(one) for one in close)}?" if close else ""


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which entries of files count.

    Attributes:
        chosen: those to be registered, by name.
        listed: names of all entries that there are in the files.
        notes: what was left out, in words.
    """

    chosen: dict[str, Entry]
    listed: frozenset[str]
    notes: tuple[str, ...]


def choose(
    files: Sequence[Sequence[Entry]], operators: Sequence[str] = (), brought: Sequence[str] = ()
) -> Choice:
    """Takes from each file the entries that are asked for; without ``operators`` all of a small file, and of a file that
    is the whole of PyTorch's those that differ from the wheel's, or whose kernels the files beside it bring.

    Raises:
        YamlError: an operator has no entry or no kernel for MPS, or a schema is not that of the wheel.
    """
    operators = [operator.removeprefix("aten::") for operator in operators]
    chosen: dict[str, Entry] = {}
    problems: list[str] = []
    notes: list[str] = []
    for entries in files:
        for entry in _chosen_of(entries, operators, brought, notes):
            earlier = chosen.setdefault(entry.name, entry)
            if earlier is not entry:
                problems.append(f"{entry.place}: '{entry.name}' stands in {earlier.place} already")
    everything = [entry for entries in files for entry in entries]
    for operator in operators:
        problems += _missing(operator, everything)
    if not operators and files and not any(map(_concerns_mps, chosen.values())):
        paths = ", ".join(dict.fromkeys(entry.path for entry in everything)) or "the file"
        problems.append(f"{paths}:1: no entry {'differs from the wheel and ' if notes else ''}names MPS in its dispatch")
    for entry in chosen.values():
        known = wheel_entries().get(entry.name)
        if known is not None and _spaceless(known.schema) != _spaceless(entry.schema):
            problems.append(
                f"{entry.place}: '{entry.name}' has another schema than in the installed PyTorch, which cannot be "
                f"changed from outside:\n    here:      {entry.schema}\n    installed: {known.schema}"
            )
    if problems:
        raise YamlError(problems)
    return Choice(chosen, frozenset(entry.name for entry in everything), tuple(notes))


def _chosen_of(
    entries: Sequence[Entry], operators: Sequence[str], brought: Sequence[str], notes: list[str]
) -> list[Entry]:
    if operators:
        return [entry for entry in entries if not entry.names.isdisjoint(operators)]
    known = wheel_entries()
    if sum(entry.name in known for entry in entries) < WHOLE * len(known):
        return list(entries)
    chosen = []
    for entry in entries:
        before = known.get(entry.name)
        if before is not None and _spaceless(before.schema) != _spaceless(entry.schema):
            notes.append(f"{entry.place}: '{entry.name}' is left out: the installed PyTorch has another schema of it")
        elif "MPS" in entry.dispatch and (
            before is None or entry.name in brought or _registration(before) != _registration(entry)
        ):
            chosen.append(entry)
    return chosen


def _registration(entry: Entry) -> list[object]:
    """What MPS's registration depends on."""
    keys = ("structured", "structured_delegate", "structured_inherits", "precomputed", "device_guard")
    return [entry.dispatch.get("MPS"), *(entry.data.get(key) for key in keys)]


def _concerns_mps(entry: Entry) -> bool:
    return "MPS" in entry.dispatch or entry.name not in wheel_entries()


def _missing(operator: str, entries: Sequence[Entry]) -> list[str]:
    """What is wrong with an operator that was asked for."""
    named = [entry for entry in entries if operator in entry.names]
    if not named:
        paths = ", ".join(dict.fromkeys(entry.path for entry in entries)) or "the files"
        return [f"{paths}:1: no entry for '{operator}'{suggestion(operator, {entry.base_name for entry in entries})}"]
    if any(map(_concerns_mps, named)):
        return []
    problems = []
    for entry in named:
        if entry.data.get("structured_delegate"):
            continue
        table = ", ".join(f"{key}: {kernel}" for key, kernel in entry.dispatch.items())
        problems.append(
            f"{entry.path}:{entry.line_of_dispatch()}: '{entry.name}' has no kernel for MPS: "
            + (f"its dispatch is {table}" if table else "it has no dispatch, so it is made of other operators")
        )
    return problems or [f"{named[0].place}: '{named[0].name}' delegates to an entry that is not in the file"]


def _spaceless(schema: str) -> str:
    return re.sub(r"\s+", "", schema)
