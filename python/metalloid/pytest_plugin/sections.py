"""The text that the pytest plugin adds to the report of a failed test.

A failure that Metalloid itself reported (a source that does not compile, a crash, a launch that is refused, a wrong
result) is shown with the kernel and its source around the lines in question. For every other failure the kernels that
the test launched are listed, with their sources.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

Event = dict[str, Any]  # of metalloid._core.take_events()
Section = tuple[str, str]  # title, text

_most_marks = 10
_most_launches = 30
_most_sources = 6
_width = 150  # of a row of source
_most_rows = 20  # for one line of source

_diagnostic = re.compile(
    r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.*)$", re.MULTILINE
)
_crash = re.compile(r" (?:crashed|outside of [^\n]*?\)) at (?P<file>.*?):(?P<line>\d+)(?:: |, )")
_reported = re.compile(r"reported by (?P<function>\w+) at (?P<file>.*):(?P<line>\d+), the first of \d+")  # _errors.py
_line_directive = re.compile(r"\s*#\s*line\s+(\d+)\b")
_kernel = re.compile(r"(?:\bkernel\b|\[\[\s*kernel\s*\]\])\s+void\s+(?P<name>\w+)")


class Mark(NamedTuple):
    """A line of a source to point at."""

    line: int  # from 1
    column: int = 0  # from 1; 0: the whole line
    text: str = ""
    is_underlined: bool = True


def explain(error: BaseException | None, events: list[Event], most_lines: int) -> list[Section]:
    """The sections for a test that failed with this error after these events, oldest first.

    Args:
        error: None if it is not known (a module that could not be imported); then the last failure is meant.
        most_lines: of each source.
    """
    failures = [event for event in events if event["error"] is not None]
    chain = list(_chain(error))
    if error is None:
        meant = failures[-1:]
    else:
        texts = "\n".join(map(str, chain))
        meant = [event for event in failures if event["message"].strip() in texts][-1:]
    if meant:
        return [_failure(meant[0], most_lines)]
    for link in chain:
        is_ours = type(link).__module__.startswith("metalloid.")
        kernel = getattr(link, "kernel", None) if is_ours else None  # of a VerificationError
        wrong = [event for event in events if kernel and event["kernel"].startswith(kernel)][-1:]
        if wrong:
            return [_wrong_result(wrong[0], most_lines)]
        for note in getattr(link, "__notes__", ()):
            if found := _reported.match(note):
                return _reported_error(found, events, most_lines)
    launches = [event for event in events if event["kind"] == "dispatch"]
    return [_launches(launches, most_lines)] if launches else []


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _failure(event: Event, most_lines: int) -> Section:
    if event["kind"] == "library":
        return _compile_error(event, most_lines)
    title = f"Metal kernel {event['kernel']!r}"
    lines = [event["message"]]
    if event["kind"] == "dispatch":
        lines.append(_describe_launch(event))
    found = _crash.search(event["message"])
    file = found["file"] if found else event["source_name"]
    marks = [Mark(int(found["line"]))] if found else _declaration(event)
    lines += ["", *_listing(file, _text_of(file, event), marks, most_lines)]
    return title, "\n".join(lines)


def _compile_error(event: Event, most_lines: int) -> Section:
    found = [
        (match["file"], Mark(int(match["line"]), int(match["column"]), match["text"]))
        for match in _diagnostic.finditer(event["message"])
    ][:_most_marks]
    lines = []
    for file, group in itertools.groupby(found, key=lambda pair: pair[0]):
        marks = [mark for _, mark in group]
        text = _text_of(file, event)
        names = dict.fromkeys(filter(None, (_kernel_around(text, mark.line) for mark in marks)))
        if names:
            lines.append(f"in kernel {', '.join(map(repr, names))}")
        lines += _listing(file, text, marks, most_lines)
    if not found:
        lines = [event["message"].rstrip(), "", *_listing(event["source_name"], event["source"], [], most_lines)]
    return f"Metal source {event['source_name']} does not compile", "\n".join(lines)


def _wrong_result(event: Event, most_lines: int) -> Section:
    lines = [_describe_launch(event), ""]
    lines += _listing(event["source_name"], event["source"], _declaration(event), most_lines)
    return f"Metal kernel {event['kernel']!r}, whose results are wrong", "\n".join(lines)


def _reported_error(found: re.Match[str], events: list[Event], most_lines: int) -> list[Section]:
    """Of an AcceleratorError: a kernel said so itself, some time before the host saw it."""
    launches = [event for event in events if event["kind"] == "dispatch" and event["source_name"] == found["file"]]
    event = next((event for event in reversed(launches) if event["kernel"] == found["function"]), None)
    if event is None:
        return [_launches(launches, most_lines)] if launches else []
    lines = [found[0], _describe_launch(event), ""]
    lines += _listing(found["file"], event["source"], [Mark(int(found["line"]))], most_lines)
    return [(f"Metal kernel {event['kernel']!r} reported an error", "\n".join(lines))]


def _launches(events: list[Event], most_lines: int) -> Section:
    lines = []
    sources: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        sources.setdefault((event["source_name"], event["source"]), []).append(event)
    numbers = {key: number for number, key in enumerate(sources, 1)}

    def describe(event: Event) -> str:
        number = numbers[event["source_name"], event["source"]]
        result = f": {event['message']}" if event["error"] else ""
        return f"{event['kernel']}  {_describe_launch(event)}  source {number}{result}"

    groups = [(text, len(list(group))) for text, group in itertools.groupby(map(describe, events))]
    # The last ones: most tests fail because of what they have just done.
    if len(groups) > _most_launches:
        lines.append(f"{sum(count for _, count in groups[:-_most_launches])} launches before, and")
    lines += [f"{count} x {text}" if count > 1 else text for text, count in groups[-_most_launches:]]
    last_used = list(dict.fromkeys((event["source_name"], event["source"]) for event in reversed(events)))
    for key in sorted(last_used[:_most_sources], key=numbers.__getitem__):
        (name, text), users = key, sources[key]
        marks = {mark.line: mark for event in users for mark in _declaration(event)}
        lines += ["", *_listing(f"source {numbers[key]}: {name}", text, list(marks.values()), most_lines)]
    if len(sources) > _most_sources:
        lines += ["", f"... and {len(sources) - _most_sources} more sources"]
    return "Metal kernels launched", "\n".join(lines)


def _describe_launch(event: Event) -> str:
    unit = "threads" if event["grid_counts_threads"] else "threadgroups"
    grid, group = (" x ".join(map(str, event[key])) for key in ("grid", "group"))
    return f"grid of {grid} {unit}, threadgroups of {group}, on {event['device']}"


def _text_of(file: str, event: Event) -> str:
    """The source itself, or a file that it includes."""
    if file == event["source_name"] or not os.path.isfile(file):
        return event["source"] if file == event["source_name"] else ""
    with open(file, encoding="utf-8", errors="replace") as opened:
        return opened.read()


def _declaration(event: Event) -> list[Mark]:
    """Where the launched kernel begins; host_name and macros can hide that."""
    for match in _kernel.finditer(event["source"]):
        if match["name"] == event["kernel"]:
            line = event["source"].count("\n", 0, match.end())
            return [Mark(_numbers(event["source"].split("\n"))[line], is_underlined=False)]
    return []


def _kernel_around(text: str, line: int) -> str | None:
    """The kernel whose body has this line, by counting braces."""
    for match in _kernel.finditer(text):
        depth = 0
        end = len(text)
        for brace in re.finditer(r"[{}]", text[match.end() :]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                end = match.end() + brace.end()
                break
        numbers = _numbers(text.split("\n"))
        if numbers[text.count("\n", 0, match.start())] <= line <= numbers[text.count("\n", 0, end)]:
            return match["name"]
    return None


def _numbers(lines: list[str]) -> list[int]:
    """The numbers that the compiler gives to lines: generated source may set them with #line."""
    numbers = []
    following = 1
    for line in lines:
        numbers.append(following)
        directive = _line_directive.match(line)
        following = int(directive[1]) if directive else following + 1
    return numbers


def _listing(title: str, text: str, marks: list[Mark], most_lines: int) -> list[str]:
    """Numbered lines, those with marks first of all, with the marks under them."""
    source = text.split("\n")
    while source and not source[-1].strip():
        source.pop()
    if not source:
        return [title, "  (its text is not known)"] + [f"  line {mark.line}: {mark.text}" for mark in marks]
    numbers = _numbers(source)
    # A number that occurs twice, because of #line, means the later line.
    places = {number: place for place, number in enumerate(numbers)}
    marked: dict[int, list[Mark]] = {}
    for mark in marks:
        if mark.line in places:
            marked.setdefault(places[mark.line], []).append(mark)
    shown = _shown_lines(len(source), list(marked), most_lines)
    lines = [title]
    for place, before in zip(shown, [-1, *shown], strict=False):
        if place != before + 1:
            lines.append("       ...")
        lines += _wrapped(numbers[place], source[place].expandtabs(1), marked.get(place, []))
    if shown[-1] != len(source) - 1:
        lines.append("       ...")
    return lines


def _wrapped(number: int, content: str, marks: list[Mark]) -> list[str]:
    """One line of source, over several if it is long, each followed by the marks below it."""
    rows = [content[start : start + _width] for start in range(0, len(content), _width)] or [""]
    lines = []
    for index, row in enumerate(rows[:_most_rows]):
        lines.append(f"{'>' if marks else ' '}{number:5} | {row}" if index == 0 else f"{'|':>8} {row}")
        for mark in marks:
            row_of_mark, place = divmod(max(mark.column, 1) - 1, _width)
            if mark.column and min(row_of_mark, len(rows) - 1, _most_rows - 1) == index:
                lines.append(f"{'|':>8} {' ' * place}^ {mark.text}")
            elif not mark.column and mark.is_underlined and len(rows) == 1:
                start = len(row) - len(row.lstrip())
                lines.append(f"{'|':>8} {' ' * start}^{'~' * (len(row.rstrip()) - start - 1)}")
    if len(rows) > _most_rows:
        lines.append(f"{'|':>8} ...")
    return lines


def _shown_lines(count: int, marked: list[int], most_lines: int) -> list[int]:
    """All lines, from 0, if there is room, else as many as there is room for around each marked one."""
    if count <= most_lines:
        return list(range(count))
    near = sorted(range(count), key=lambda line: min(abs(line - each) for each in marked or [0]))
    return sorted(near[:most_lines])
