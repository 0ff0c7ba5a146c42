"""The C++ library. Use the package's own functions instead."""

import builtins
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

version: str

class Error(RuntimeError):
    code: str

class HostArray:
    def __init__(self, object: Any, /) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def item_bytes(self) -> int: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def writable(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    def contents(self) -> builtins.bytes: ...

class Kernel:
    @property
    def name(self) -> str: ...
    @property
    def max_threads_per_threadgroup(self) -> int: ...
    @property
    def thread_execution_width(self) -> int: ...
    @property
    def static_thread_group_memory_length(self) -> int: ...
    def arguments(self) -> list[dict[str, Any]]: ...
    def run(
        self,
        bindings: Sequence[tuple[int, HostArray | bytes | tuple[int, int] | tuple[int, int, Sequence[int]]]],
        threads: tuple[int, int, int],
        group: tuple[int, int, int],
        threadgroup_memory: Mapping[int, int],
        timeout: float | None,
    ) -> None: ...

class Library:
    def kernel_names(self) -> list[str]: ...
    @property
    def warnings(self) -> str: ...
    def function_constants(self) -> list[dict[str, Any]]: ...
    def kernel(self, name: str, constants: Sequence[tuple[int | str, Any]]) -> Kernel: ...

class MetalKernel:
    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        source: str,
        header: str,
        ensure_row_contiguous: bool,
        atomic_outputs: bool,
        math_mode: str,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def reads_outside_inputs(self) -> bool: ...
    @property
    def writes_outside_outputs(self) -> bool: ...
    @property
    def input_names(self) -> list[str]: ...
    @property
    def output_names(self) -> list[str]: ...
    def run(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        grid: tuple[int, int, int],
        threadgroup: tuple[int, int, int],
        template: Sequence[tuple[str, Any]],
        init_value: float | None,
        device: str,
    ) -> None: ...
    def tune(
        self,
        inputs: Sequence[Any],
        output_shapes: Sequence[Sequence[int]],
        output_dtypes: Sequence[str],
        grid: tuple[int, int, int],
        grid_counts_threads: bool,
        threadgroup: tuple[int, int, int],
        template: Sequence[tuple[str, Any]],
        init_value: float | None,
        device: str,
        options: TuneOptions,
    ) -> TuneResult: ...
    def source(
        self, inputs: Sequence[Any], output_dtypes: Sequence[str], template: Sequence[tuple[str, Any]]
    ) -> tuple[str, str]: ...
    def add_mlx_node(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        output_shapes: Sequence[Sequence[int]],
        output_dtypes: Sequence[str],
        grid: tuple[int, int, int],
        threadgroup: tuple[int, int, int],
        template: Sequence[tuple[str, Any]],
        init_value: float | None,
        device: str,
    ) -> None: ...

def standard_headers() -> list[str]: ...
def load_mlx_extension(path: str, probe: Any) -> None: ...
def mlx_is_traced(arrays: Sequence[Any]) -> bool: ...
def finish_mlx_kernels() -> None: ...

class TuneOptions:
    def __init__(
        self,
        candidates: Sequence[tuple[int, int, int]],
        margin: float,
        seconds: float,
        rounds: int | None,
        compare: bool,
        tolerance: float | None,
        force: bool,
        threadgroup_memory_per_thread: Mapping[int, int],
    ) -> None: ...

class TuneTrial:
    @property
    def group(self) -> tuple[int, int, int]: ...
    @property
    def outcome(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def spread(self) -> float: ...
    @property
    def runs(self) -> int: ...
    @property
    def note(self) -> str: ...

class TuneResult:
    @property
    def kernel(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def trials(self) -> list[TuneTrial]: ...
    @property
    def results_vary(self) -> bool: ...
    @property
    def from_cache(self) -> bool: ...
    @property
    def best(self) -> tuple[int, int, int]: ...
    @property
    def table(self) -> str: ...
    @property
    def summary(self) -> str: ...

def compile(
    source: str,
    device: str,
    language: tuple[int, int],
    math_mode: str,
    definitions: Sequence[tuple[str, str]],
    include_directories: Sequence[str | PathLike[str]],
    headers: Mapping[str, str],
    source_name: str = "program_source",
    source_file: str | PathLike[str] = "",
) -> Library: ...
def devices() -> list[tuple[str, str]]: ...
def engines() -> list[str]: ...
def record(on: bool) -> None: ...
def use_standard_error_for_logs() -> None: ...
def start_trace(file: str | PathLike[str]) -> None: ...
def stop_trace() -> None: ...
def trace_file() -> Path | None: ...
def error_buffer() -> tuple[int, int]: ...
def take_reported_error() -> tuple[str, str, int] | None: ...
def tune(
    kernel: Kernel,
    bindings: Sequence[tuple[int, HostArray | bytes | tuple[int, int] | tuple[int, int, Sequence[int]]]],
    grid: tuple[int, int, int],
    grid_counts_threads: bool,
    group: tuple[int, int, int],
    options: TuneOptions,
    threadgroup_memory: Mapping[int, int],
    contents: Mapping[int, tuple[str, Sequence[int]]],
    reached: Sequence[tuple[int, int, str]],
    timeout: float | None,
) -> TuneResult: ...
def take_events() -> tuple[list[dict[str, Any]], int]: ...
