"""Which macOS the machine pretends to be: what scripts ask torch for, and the Metal that goes with it.

``python -m metalloid.mps --macos 26``, ``pytest --metalloid-macos 26`` and ``METALLOID_MACOS=26`` choose it.
"""

from __future__ import annotations

import os
import platform
import re

variable = "METALLOID_MACOS"

Version = tuple[int, int]

default: Version = (15, 0)
# The newest Metal language of each (MSL spec, preface); torch compiles kernels with it.
_languages = {13: "metal3.0", 14: "metal3.1", 15: "metal3.2", 26: "metal4.0"}


def parse(text: str) -> Version:
    """Raises ValueError for what is no version of macOS that has a Metal of its own here."""
    found = re.fullmatch(r"(\d{1,3})(?:\.(\d{1,3}))?(?:\.\d{1,3})?", text.strip())
    if found is None or int(found[1]) not in _languages:
        known = ", ".join(map(str, _languages))
        raise ValueError(f"macOS must be one of {known}, with a minor version or without (26.1), not {text!r}")
    return int(found[1]), int(found[2] or 0)


def version() -> Version:
    """Raises ValueError for a METALLOID_MACOS that names none."""
    text = os.environ.get(variable)
    if not text:
        return default
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"{variable}: {error}") from None


def is_or_newer(major: int, minor: int = 0) -> bool:
    return (major, minor) <= version()


def language() -> str:
    return _languages[version()[0]]


def install() -> None:
    """Answers ``platform.mac_ver``, too, where a macOS was asked for: torch's own tests look there."""
    if os.environ.get(variable):
        major, minor = version()
        platform.mac_ver = lambda *arguments, **keywords: (f"{major}.{minor}", ("", "", ""), "arm64")
