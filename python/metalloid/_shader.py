"""compile_shader and the objects it returns, with the call model of torch.mps.compile_shader."""

from __future__ import annotations

import functools
import importlib.util
import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _core, _device
from ._arguments import device_arrays
from ._arguments.encoding import encode
from ._arguments.function_constants import checked_constants
from ._arguments.numbers import described, flag, integer, number, real, text
from ._arguments.on_device import Known, bind_on_device
from ._arguments.policy import ArgumentPolicy, arrays_in_place
from ._arguments.tensors import is_tensor
from ._errors import error_buffer, error_memory, is_reported


def compile_shader(
    source: str,
    *,
    device: str | None = None,
    language: str = "metal3.2",
    math_mode: str = "safe",
    definitions: Mapping[str, Any] | None = None,
    include_directories: Sequence[str | os.PathLike[str]] = (),
    headers: Mapping[str, str] | None = None,
    torch_headers: bool = False,
    source_name: str = "program_source",
    source_file: str | os.PathLike[str] | None = None,
    function_constants: Mapping[int | str, Any] | None = None,
    policy: ArgumentPolicy = arrays_in_place,
) -> ShaderLibrary:
    """Compiles Metal source and returns its kernels as attributes.

    Args:
        source: Metal Shading Language.
        device: one of the names that ``metalloid.devices()`` lists; default: whatever
            ``metalloid.default_device()`` is when a kernel is called.
        language: ``"metal2.0"`` to ``"metal4.0"``.
        math_mode: ``"safe"``, ``"relaxed"`` or ``"fast"``, as Metal's ``-fmetal-math-mode``.
        definitions: macros, name to value.
        include_directories: searched for ``#include``.
        headers: headers that exist only in memory, name as in ``#include`` to text.
        torch_headers: ``#include <c10/metal/...>`` means the installed PyTorch's own headers instead of those that
            come with Metalloid (which need no PyTorch and compute the same).
        source_name: what diagnostics call the source.
        source_file: the file that the source was read from, if any: its folder is searched first, and the files of its
            project (the nearest folder above it under version control) can be included by paths like ``"../x.h"``. A
            source without one includes from the folders and headers above and from the standard library only.
        function_constants: values for function constants, by name or index: a bool, an int, a float, or as many of one
            of them as a vector has. They hold for every kernel; ``get_kernel`` can add others.
        policy: what host values stand for when kernels are called; see ``ArgumentPolicy``.

    Raises:
        SyntaxError: the source does not compile; the text is the compiler's log.
        ModuleNotFoundError: torch_headers without an installed PyTorch.
        TypeError, ValueError: an argument of another type, a device that is not there, a function constant that the
            source does not declare or whose type does not have the value.
        UnicodeEncodeError: the source holds halves of surrogate pairs.
        metalloid.Error: anything else that the library reports.
    """
    text("source", source)
    text("source_name", source_name)
    if device is not None:
        _device.check_device(text("device", device))
    if not isinstance(policy, ArgumentPolicy):
        raise TypeError(f"policy must be a metalloid.ArgumentPolicy, not {described(policy)}")
    macros = _mapping("definitions", definitions)
    in_memory = _mapping("headers", headers)
    if not all(isinstance(contents, str) for contents in in_memory.values()):
        raise TypeError("headers must map str to str")
    if isinstance(include_directories, (str, bytes, os.PathLike)):
        raise TypeError(f"include_directories is a sequence of folders, not {described(include_directories)}")
    try:
        folders = [os.fspath(folder) for folder in include_directories]
    except TypeError:
        raise TypeError(f"include_directories is a sequence of folders, not {described(include_directories)}") from None
    if flag("torch_headers", torch_headers):
        folders.append(torch_include_directory())
    options = (
        _parse_language(language),
        text("math_mode", math_mode),
        [(text("definitions: a name", name), str(value)) for name, value in macros.items()],
        folders,
        {text("headers: a name", name): text(f"headers: {name}", contents) for name, contents in in_memory.items()},
        source_name,
        os.fspath(source_file) if source_file is not None else "",
    )
    if function_constants is not None and not isinstance(function_constants, Mapping):
        raise TypeError(f"function_constants maps names or indices to values, not {described(function_constants)}")
    library = ShaderLibrary(
        lambda name: _core.compile(source, name, *options), device, policy, function_constants=function_constants
    )
    dir(library)  # compiles
    library.check_function_constants(function_constants or {})
    return library


def _mapping(what: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"{what} maps str to {'str' if what == 'headers' else 'values'}, not {described(value)}")
    return value


def torch_include_directory() -> str:
    """Found without importing torch, which takes seconds."""
    found = importlib.util.find_spec("torch")
    for folder in (found.submodule_search_locations or ()) if found else ():
        include = os.path.join(folder, "include")
        if os.path.isdir(os.path.join(include, "c10", "metal")):
            return include
    raise ModuleNotFoundError("torch_headers=True needs an installed PyTorch with c10/metal headers", name="torch")


def _parse_language(name: str) -> tuple[int, int]:
    version = str(name).removeprefix("metal")
    major, dot, minor = version.partition(".")
    if not (dot and major.isdigit() and minor.isdigit() and (2, 0) <= (int(major), int(minor)) <= (4, 0)):
        raise ValueError(f"language must be 'metal2.0' to 'metal4.0', not {name!r}")
    return int(major), int(minor)


class ShaderLibrary:
    """Compiled Metal source. Every kernel is an attribute; ``dir()`` lists them."""

    def __init__(
        self,
        compile_for: Callable[[str], _core.Library],
        device: str | None = None,
        policy: ArgumentPolicy = arrays_in_place,
        *,
        function_constants: Mapping[int | str, Any] | None = None,
    ) -> None:
        self._constants = dict(function_constants or {})
        self._compile_for = compile_for
        self._device = device
        self._policy = policy
        self._libraries: dict[str, _core.Library] = {}  # by device
        self._kernels: dict[Any, _core.Kernel] = {}

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # Python's own protocols ask for these
        kernel = self.__dict__[name] = self.get_kernel(name)  # not asked for again
        return kernel

    def __dir__(self) -> list[str]:
        return self._library_on(self._device or _device.chosen).kernel_names()

    def _library_on(self, device: str) -> _core.Library:
        if device not in self._libraries:
            self._libraries[device] = self._compile_for(device)
        return self._libraries[device]

    def get_kernel(self, name: str, constants: Mapping[int | str, Any] | None = None) -> Kernel:
        """The kernel of that name, specialised with values for function constants by name or index.

        Args:
            constants: added to those of ``compile_shader``, which they replace.

        Raises:
            RuntimeError: there is no such kernel, or a function constant that it needs has no value.
            TypeError, ValueError: no such function constant, or not a value of its type.
        """
        if constants is not None and not isinstance(constants, Mapping):
            raise TypeError(f"constants maps names or indices to values, not {described(constants)}")
        values = self.check_function_constants(self._constants, constants or {})
        return Kernel(lambda device: self._kernel_on(device, text("name", name), values), self._device, self._policy)

    def check_function_constants(self, *values: Mapping[int | str, Any]) -> list[tuple[int | str, Any]]:
        """The values as the library takes them; later ones replace those before.

        Raises:
            TypeError, ValueError: no such function constant, two values for one, or not a value of its type.
        """
        if not any(values):
            return []
        declared = self._library_on(self._device or _device.chosen).function_constants()
        by_index = {}
        for some in values:
            by_index.update(checked_constants(some, declared))
        return list(by_index.items())

    def _kernel_on(self, device: str, name: str, values: list[tuple[int | str, Any]]) -> _core.Kernel:
        key = (device, name, repr(values))
        if key not in self._kernels:
            try:
                self._kernels[key] = self._library_on(device).kernel(name, values)
            except _core.Error as error:
                if error.code == "unknown_function":
                    raise RuntimeError(f"Failed to create function state object for: {name}\n{error}") from None
                raise
        return self._kernels[key]


class Kernel:
    """A kernel that can be called."""

    def __init__(
        self,
        kernel_on: Callable[[str], _core.Kernel],
        device: str | None = None,
        policy: ArgumentPolicy = arrays_in_place,
    ) -> None:
        self._kernel_on = kernel_on
        self._device = device
        self._policy = policy
        self._kernels: dict[str, _core.Kernel] = {}  # by device
        self._known: Known = set()
        self._quick: _core.QuickCalls | None = None  # of the device that had the arguments of the last long call
        self._quick_place: device_arrays.Place | None = None
        self._learned = 0  # how much of what is known it knows
        self._arguments = {
            argument["index"]: argument for argument in self._kernel.arguments() if argument["kind"] == "buffer"
        }

    @property
    def _kernel(self) -> _core.Kernel:
        return self._compiled_for(self._device or _device.chosen)

    def _compiled_for(self, device: str) -> _core.Kernel:
        kernel = self._kernels.get(device)
        if kernel is None:
            kernel = self._kernels[device] = self._kernel_on(device)
        return kernel

    @property
    def max_threads_per_threadgroup(self) -> int:
        return self._kernel.max_threads_per_threadgroup

    @property
    def thread_execution_width(self) -> int:
        return self._kernel.thread_execution_width

    @property
    def engine(self) -> str:
        """The name of the engine that runs the kernel: the device's first, or one behind it that took the kernel."""
        return self._kernel.engine

    @property
    def remarks(self) -> list[tuple[str, str, str, int]]:
        """What the device's engines said of the kernel: engine, reason, source file ("" if unknown), line (0).

        An engine that did not take it says why, one that did what costs speed; then for which threadgroups dispatches had
        slower code than others, and why."""
        return self._kernel.remarks

    @property
    def static_thread_group_memory_length(self) -> int:
        """Bytes of threadgroup memory that the kernel declares itself."""
        return self._kernel.static_thread_group_memory_length

    @property
    def arguments(self) -> list[dict[str, Any]]:
        """What the kernel takes: name, index, type, element type, and whether it writes there."""
        return self._kernel.arguments()

    def __repr__(self) -> str:
        return f"<metalloid kernel {self._kernel.name}>"

    def _casts(
        self, args: Sequence[Any], arg_casts: str | Mapping[int, str] | None
    ) -> str | Mapping[int, str] | None:
        if not (arg_casts is None or isinstance(arg_casts, (str, Mapping))):
            raise RuntimeError(f"Unexpected caster arg type {type(arg_casts).__name__}")
        if isinstance(arg_casts, Mapping):
            arg_casts = {integer("arg_casts: an argument", place, 0, 30): cast for place, cast in arg_casts.items()}
            if self._policy.checks_types and (places := sorted(place for place in arg_casts if place >= len(args))):
                raise ValueError(f"arg_casts names argument {places[0]}, and there are {len(args)}")
        return arg_casts

    def _bind(
        self, args: Sequence[Any], arg_casts: str | Mapping[int, str] | None, error_buf_idx: int | None
    ) -> tuple[list[tuple[int, Any]], int | None]:
        """What is bound at each index, and the number of elements of the first array or tensor."""
        arg_casts = self._casts(args, arg_casts)
        bindings: list[tuple[int, Any]] = []
        elements: int | None = None  # of the first array or tensor
        for index, value in enumerate(args):
            cast = arg_casts if arg_casts is None or isinstance(arg_casts, str) else arg_casts.get(index)
            argument = self._arguments.get(index)
            binding = encode(value, cast, argument, self._policy)
            if elements is None:
                if is_tensor(value):
                    elements = value.numel()
                elif isinstance(binding, _core.HostArray):
                    elements = binding.count
            if argument is not None or self._policy.checks_types:
                bindings.append((index, binding))
        if error_buf_idx is not None:
            bindings.append((_error_index(error_buf_idx), error_buffer))
        return bindings, elements

    def _learn(self, kernel: _core.Kernel, place: device_arrays.Place, args: Sequence[Any]) -> None:
        """Calls like this one go the quick way from now on, if they can."""
        quick = self._quick
        if quick is None or place != self._quick_place:
            quick = _core.QuickCalls(kernel, *place, functools.partial(device_arrays.stream_at, place))
        for index, value in enumerate(args):
            if (index, type(value)) in self._known or (is_tensor(value) and (index, value.dtype) in self._known):
                quick.learn(index, value)
        self._quick, self._quick_place, self._learned = quick, place, len(self._known)

    def __call__(
        self,
        *args: Any,
        threads: int | Sequence[int] | None = None,
        group_size: int | Sequence[int] | None = None,
        arg_casts: str | Mapping[int, str] | None = None,
        error_buf_idx: int | None = None,
        threadgroup_memory: Mapping[int, int] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Runs the kernel and returns when it has finished.

        With tensors or arrays in the memory of a GPU it runs there, on the stream that their library uses at this moment
        (``torch.cuda.current_stream()``), and returns once it is launched, as PyTorch's own operators do. What goes
        wrong there a later call raises, or ``metalloid.synchronize()``. NumPy arrays and numbers beside them are copied;
        where the kernel writes to a NumPy array the call waits.

        Args:
            args: argument i is bound at ``buffer(i)``. Arrays (NumPy, the buffer protocol, DLPack) are bound in
                place, without a copy, and must be C-contiguous. A torch tensor is bound as its memory from its first
                element on: a view is base plus offset, and strides, shape and dtype are the kernel's business. Metal
                has no float64: a float64 tensor without dimensions goes by value as float32, others are refused. An
                int is bound as int64, a float as float32, a list or tuple as an array of one of them. A list or
                tuple of tensors is an array of their addresses (``struct { metal::array<device float*, N> x; }``).
            threads: the grid in threads, one to three extents; default: the first array's or tensor's number of
                elements. A grid without threads runs nothing.
            group_size: threads per threadgroup, as many extents as ``threads``.
            arg_casts: ``"fp16"``, ``"bf16"``, ``"int32"``, ``"int16"``, ``"int8"`` or ``"uint8"`` for all numbers,
                or a dictionary of them by argument.
            error_buf_idx: the buffer index of a ``device c10::metal::ErrorMessages*`` argument. What the kernel
                reports there with ``TORCH_REPORT_ERROR``, ``metalloid.synchronize()`` raises.
            threadgroup_memory: bytes for each ``[[threadgroup(n)]]`` argument.
            timeout: seconds after which the kernel is stopped; 0 means never.

        Raises:
            TypeError: an argument's element type is not the kernel's.
            ValueError: an array is read-only or not contiguous, the threadgroup is too large, or the arguments are in
                the memory of two devices.
            RuntimeError: an argument is missing, too small or of an unsupported kind, the grid is undefined, or
                the kernel crashed or ran into its timeout (then a ``metalloid.Error``).
        """
        if (
            self._quick is not None
            and arg_casts is None
            and error_buf_idx is None
            and threadgroup_memory is None
            and timeout is None
            and self._quick(args, threads, group_size)
        ):
            return
        place = device_arrays.first_place(args) if self._policy.accepts_arrays else None
        stream = None
        with self._policy.while_binding():
            if place is None:
                kernel = self._kernel
                bindings, elements = self._bind(args, arg_casts, error_buf_idx)
            else:
                kernel = self._compiled_for(device_arrays.require_device(place, self._device))
                casts = None if arg_casts is None else self._casts(args, arg_casts)
                stream, bindings, elements = bind_on_device(
                    place, args, casts, self._arguments, self._known, self._policy
                )
                if error_buf_idx is not None:
                    bindings.append((_error_index(error_buf_idx), _core.HostArray(error_memory)))
                if place != self._quick_place or len(self._known) != self._learned:
                    self._learn(kernel, place, args)
        if threads is None:
            if elements is None:
                raise RuntimeError("Number of threads is undefined or has wrong dimension")
            if stream is not None and group_size is None and error_buf_idx is None and 0 < elements < 1 << 32:
                grid_of_elements = (elements, 1, 1)
                memory = memory_by_index("threadgroup_memory", threadgroup_memory)
                seconds = seconds_of("timeout", timeout)
                group_of_elements = kernel.default_group(grid_of_elements, 1)
                kernel.run_on(stream, bindings, grid_of_elements, group_of_elements, memory, seconds)
                return
            threads = elements
        grid = _extents(threads)
        limit = kernel.max_threads_per_threadgroup
        if group_size is None:
            group = list(kernel.default_group(_padded(grid), len(grid)))[: len(grid)]
        else:
            group = _extents(group_size)
        if len(group) != len(grid):
            raise RuntimeError("size and group_size must have same number of dimensions")
        volume = 1
        for extent in group:
            volume *= extent
        if volume > limit:
            raise ValueError(f"Threadgroup size exceeds {limit} limit")
        if 0 in grid and 0 not in group:
            return
        memory = memory_by_index("threadgroup_memory", threadgroup_memory)
        seconds = seconds_of("timeout", timeout)
        if stream is not None:
            kernel.run_on(stream, bindings, _padded(grid), _padded(group), memory, seconds)
        else:
            kernel.run(bindings, _padded(grid), _padded(group), memory, seconds, self._policy.is_on_stream(args))
        if error_buf_idx is not None and is_reported() and any(map(is_tensor, args)):
            self._policy.after_report()


def _error_index(given: Any) -> int:
    place = number(given)
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place <= 30:
        raise ValueError(f"error_buf_idx must be a buffer index, 0 to 30, not {described(given)}")
    return place


def memory_by_index(what: str, memory: Mapping[int, int] | None) -> dict[int, int]:
    """Bytes for threadgroup arguments, checked."""
    if memory is None:
        return {}
    if not isinstance(memory, Mapping):
        raise TypeError(f"{what} maps indices to bytes, not {described(memory)}")
    return {
        integer(f"{what}: an index", index, 0, 30): integer(f"{what}[{index}]", size, 0, (1 << 32) - 1)
        for index, size in memory.items()
    }


def seconds_of(what: str, value: float | None) -> float | None:
    """A time limit, checked; None is the default one."""
    if value is None:
        return None
    seconds = real(what, value)
    if not (math.isfinite(seconds) and 0 <= seconds < 1 << 53):
        raise ValueError(f"{what} must be seconds, 0 or more, not {value}")
    return seconds


def _extents(value: Any) -> list[int]:
    try:
        extents = [operator.index(value)]
    except TypeError:
        try:
            extents = [operator.index(item) for item in value]
        except TypeError:
            raise TypeError(f"threads and group_size are ints or sequences of ints, not {value!r}") from None
    if not 1 <= len(extents) <= 3:
        raise RuntimeError("Number of threads is undefined or has wrong dimension")
    for extent in extents:
        if not 0 <= extent < 1 << 32:
            raise ValueError(f"grid and threadgroup extents lie between 0 and 2^32 - 1, not {extent}")
    return extents


def _padded(extents: list[int]) -> tuple[int, int, int]:
    x, y, z = (extents + [1, 1])[:3]
    return x, y, z
