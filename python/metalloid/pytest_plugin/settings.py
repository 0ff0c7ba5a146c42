"""What the command line and the ini file ask of the plugin."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from .._runners import runners

settings_key: pytest.StashKey[Settings] = pytest.StashKey()


class Settings:
    """What the command line and the ini file ask for.

    Attributes:
        engines: the engines asked for, in order; empty if nobody asked.
        runners: the names of those asked for.
        macos: the version of macOS that torch sees; empty if nobody asked.
        verify_coreai: whether calls of Core AI's own kernels are verified.
        require_kernels: whether a session without any launch fails.
        source_lines: most lines of one source in a report.
        checks: whether each test runs under the checker, without the classes of check_skip; what it finds goes to the
            file check_sarif, if that is not None.
        report: the file for what each test ran; None if nobody asked.
        child_records: where processes that tests start write how many kernels they launched.
    """

    def __init__(self, config: pytest.Config, options: Any) -> None:
        named = ",".join(options.metalloid_engine or config.getini("metalloid_engines"))
        self.engines = [_existing_engine(name.strip()) for name in dict.fromkeys(named.split(",")) if name.strip()]
        self.runners = [
            name
            for name in runners
            if getattr(options, f"metalloid_{name}") or config.getini(f"metalloid_{name}")
        ]
        self.macos = str(options.metalloid_macos or config.getini("metalloid_macos"))
        self.verify_coreai = bool(options.metalloid_verify_coreai or config.getini("metalloid_verify_coreai"))
        wants_kernels = options.metalloid_require_kernels or config.getini("metalloid_require_kernels")
        self.require_kernels = wants_kernels and not options.collectonly
        lines = str(config.getini("metalloid_source_lines"))
        if not lines.isdigit() or int(lines) == 0:
            raise pytest.UsageError(f"metalloid_source_lines must be a number above 0, not {lines!r}")
        self.source_lines = int(lines)
        self.report = pathlib.Path(options.metalloid_report).absolute() if options.metalloid_report else None
        self.checks = bool(options.metalloid_check or config.getini("metalloid_check"))
        self.check_skip = str(options.metalloid_check_skip)
        self.check_sarif: str | None = options.metalloid_check_sarif
        if not self.checks and (self.check_skip or self.check_sarif):
            option = "--metalloid-check-skip" if self.check_skip else "--metalloid-check-sarif"
            raise pytest.UsageError(f"{option} has no effect without --metalloid-check")
        self.child_records: pathlib.Path | None = None

    @property
    def is_used(self) -> bool:
        return bool(self.engines or self.runners or self.verify_coreai or self.require_kernels or self.report)


def _existing_engine(name: str) -> str:
    """The engine of that name; "cpu" is the best one for this processor."""
    from .. import _core

    engines = _core.engines()
    if name == "cpu":
        return engines[0]
    if name not in engines:
        raise pytest.UsageError(
            f"--metalloid-engine {name}: this machine has no such engine; it has {', '.join(engines)}"
        )
    return name


def settings_of(config: pytest.Config) -> Settings:
    return config.stash[settings_key]
