"""metal_kernel and the callable that it returns, with the call model of mx.fast.metal_kernel."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .. import _core, _device
from .._numbers import flag, number, text
from ._by_name import MetalKernelByName, are_dictionaries, in_order
from ._dtypes import dtype_name
from ._results import runner_for
from ._tune import Tunable
from ._warnings import warn_of_reads_outside_inputs, warn_of_writes_outside_outputs

_math_modes = ("safe", "relaxed", "fast")

Template = Sequence[tuple[str, Any]] | Mapping[str, Any] | None


def metal_kernel(
    name: str,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    source: str | None = None,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
    compile_options: Mapping[str, str] | None = None,
    *,
    device: str | None = None,
) -> Any:
    """A kernel from the body of a Metal function; the signature is generated at each call, from its arrays.

    With ``input_names`` and ``output_names`` the result is a :class:`MetalKernel`. Without both it is a
    :class:`MetalKernelByName`, which takes the names from the dictionaries that it is called with, as MLX's first
    interface did.

    Args:
        name: part of the generated function's name.
        input_names: parameters for the inputs, in order.
        output_names: parameters for the outputs, in order.
        source: the function's body. For an input ``x`` it may use ``x_shape``, ``x_strides`` and ``x_ndim``, and any
            of Metal's attributes by name, such as ``thread_position_in_grid``.
        header: source before the function.
        ensure_row_contiguous: copy inputs that are not row contiguous before the kernel sees them.
        atomic_outputs: outputs are ``device atomic<T>*``.
        compile_options: ``{"math_mode": "safe" | "relaxed" | "fast"}``; default ``"safe"``.
        device: one of the names that ``metalloid.devices()`` lists; default: whatever
            ``metalloid.default_device()`` is when the kernel is called.

    Raises:
        ValueError: no outputs, unknown compile options, or no such device.
        TypeError: no source, names of one kind only, or an argument of another type.
    """
    if isinstance(input_names, str) and source is None and not isinstance(output_names, (list, tuple)):
        # MLX's first interface: name, source, header.
        input_names, output_names, source, header = None, None, input_names, header or output_names or ""
    if source is None or (input_names is None) != (output_names is None):
        missing = [
            what
            for what, value in (("source", source), ("input_names", input_names), ("output_names", output_names))
            if value is None
        ]
        raise TypeError(
            f"metal_kernel() needs {' and '.join(missing)}. With input_names=[...] and output_names=[...] the kernel is "
            "called with lists; without both, with dictionaries."
        )
    for what, names in (("input_names", input_names), ("output_names", output_names)):
        if names is None:
            continue
        if not isinstance(names, (list, tuple)) or not all(isinstance(item, str) for item in names):
            raise TypeError(f"metal_kernel(): {what} must be a list of str, not {names!r}")
        for item in names:
            item.encode()  # UnicodeEncodeError for halves of surrogate pairs
    for what, value in (("name", name), ("source", source), ("header", header)):
        text(f"metal_kernel(): {what}", value)
    math_mode = _math_mode(compile_options)
    if device is not None:
        text("metal_kernel(): device", device)
        _device.check_device(device)

    def declare(
        input_names: Sequence[str], output_names: Sequence[str], ensure_row_contiguous: bool, atomic_outputs: bool
    ) -> MetalKernel:
        return MetalKernel(
            name, input_names, output_names, source, header,
            flag("metal_kernel(): ensure_row_contiguous", ensure_row_contiguous),
            flag("metal_kernel(): atomic_outputs", atomic_outputs), math_mode, device,
        )  # fmt: skip

    if input_names is None or output_names is None:
        declare([], ["out"], ensure_row_contiguous, atomic_outputs)  # what is wrong with the rest is said here
        return MetalKernelByName(
            name, declare, ensure_row_contiguous=ensure_row_contiguous, atomic_outputs=atomic_outputs
        )
    return declare(input_names, output_names, ensure_row_contiguous, atomic_outputs)


def _math_mode(options: Any) -> str:
    mode = "safe"
    if options is None:
        return mode
    if not isinstance(options, dict):
        raise ValueError("[metal_kernel] Expected `compile_options` to be a dict.")
    for key, value in options.items():
        if key != "math_mode":
            raise ValueError(f"[metal_kernel] Unknown compile option `{key}`.")
        if value not in _math_modes:
            raise ValueError("[metal_kernel] Expected math_mode to be 'safe', 'relaxed', or 'fast'.")
        mode = value
    return mode


def _check_count(what: str, expected: Sequence[Any], values: Sequence[Any]) -> None:
    if len(values) != len(expected):
        raise ValueError(
            f"[metal_kernel] Expected `{what}` to have size {len(expected)} but got size {len(values)}.\n"
        )


def _require_lists(**arguments: Any) -> None:
    for what, value in arguments.items():
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"metal_kernel takes a list for `{what}`, not {type(value).__name__}")


def _template(arguments: Template) -> list[tuple[str, Any]]:
    if isinstance(arguments, Mapping):
        arguments = list(arguments.items())
    elif not (arguments is None or isinstance(arguments, (list, tuple))):
        raise TypeError(f"metal_kernel takes a list or a dictionary for `template`, not {type(arguments).__name__}")
    result: list[tuple[str, Any]] = []
    for pair in arguments or ():
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(f"metal_kernel: template must be a list of pairs of a name and a value; {pair!r} is none")
        name, value = pair
        plain = None if isinstance(value, (type, str)) else number(value)
        value = value if plain is None else plain
        if type(value) is int and not -(1 << 31) <= value < 1 << 31:
            value = None
        elif not isinstance(value, (bool, int)):
            value = None if isinstance(value, (str, float)) else dtype_name(value)
        if value is None:
            raise ValueError(
                "[metal_kernel] Invalid template argument. Must be `mlx.core.Dtype`, `int` or `bool`."
            )
        result.append((name, value))
    return result


def _initial(value: Any) -> float | None:
    if value is None or type(value) is float:
        return value
    try:
        if not isinstance(value, str):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"metal_kernel: init_value must be a float, not {value!r}")


def _extents(what: str, value: Sequence[int]) -> tuple[int, int, int]:
    try:
        x, y, z = map(operator.index, value)
    except (TypeError, ValueError):
        raise TypeError(f"metal_kernel: {what} must be three integers, not {value!r}") from None
    if not -(1 << 31) <= min(x, y, z) <= max(x, y, z) < 1 << 31:
        raise ValueError(f"[metal_kernel] `{what}` does not fit 32 bits: {value!r}")
    return x, y, z


def _shapes(value: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    try:
        shapes = [tuple(map(operator.index, shape)) for shape in value]
    except TypeError:
        raise TypeError(
            f"metal_kernel: output_shapes must be a list with the shape of each output, not {value!r}"
        ) from None
    for shape in shapes:
        if any(not 0 <= extent < 1 << 31 for extent in shape) or math.prod(shape) >= 1 << 48:
            wrong = "has negative dimensions" if min(shape) < 0 else "is too large"
            raise ValueError(f"[metal_kernel] An output's shape {wrong}: {shape}")
    return shapes


class MetalKernel(Tunable):
    """A kernel whose signature depends on the call. Made by :func:`metal_kernel`."""

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
        device: str | None,
    ) -> None:
        declaration = dict(
            name=name, input_names=list(input_names), output_names=list(output_names), source=source, header=header,
            ensure_row_contiguous=ensure_row_contiguous, atomic_outputs=atomic_outputs,
        )  # fmt: skip
        self._kernel = _core.MetalKernel(**declaration, math_mode=math_mode)
        # MLX before 0.32 has no compile_options.
        self._declaration = declaration | ({} if math_mode == "safe" else {"compile_options": {"math_mode": math_mode}})
        self._input_names, self._output_names = list(input_names), list(output_names)
        self._device = device
        self._has_warned_of_reads = self._has_warned_of_writes = False

    def __repr__(self) -> str:
        return f"<metalloid metal_kernel {self._kernel.name}({', '.join(self._input_names)})>"

    def _lists(
        self, inputs: Any, output_shapes: Any, output_dtypes: Any
    ) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """What a call was given, checked, in the order of the names."""
        if isinstance(inputs, Mapping):
            inputs = in_order("inputs", self._input_names, inputs)
            output_shapes = in_order("output_shapes", self._output_names, output_shapes)
            output_dtypes = in_order("output_dtypes", self._output_names, output_dtypes)
        _require_lists(inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes)
        _check_count("inputs", self._input_names, inputs)
        _check_count("output_shapes", self._output_names, output_shapes)
        _check_count("output_dtypes", self._output_names, output_dtypes)
        return inputs, output_shapes, output_dtypes

    def generated_source(self, *, inputs: Any, output_dtypes: Any, template: Template = None) -> str:
        """The Metal source that such a call compiles."""
        if are_dictionaries(inputs=inputs, output_dtypes=output_dtypes):
            inputs = in_order("inputs", self._input_names, inputs)
            output_dtypes = in_order("output_dtypes", self._output_names, output_dtypes)
        _require_lists(inputs=inputs, output_dtypes=output_dtypes)
        _check_count("inputs", self._input_names, inputs)
        _check_count("output_dtypes", self._output_names, output_dtypes)
        described = [_described(value) for value in inputs]
        return self._kernel.source(described, _dtype_names(output_dtypes), _template(template))[1]

    def __call__(
        self,
        *,
        inputs: Sequence[Any] | Mapping[str, Any],
        output_shapes: Sequence[Sequence[int]] | Mapping[str, Sequence[int]],
        output_dtypes: Sequence[Any] | Mapping[str, Any],
        grid: Sequence[int],
        threadgroup: Sequence[int],
        template: Template = None,
        init_value: float | None = None,
        verbose: bool = False,
        stream: Any = None,
    ) -> Any:
        """Runs the kernel and returns its outputs, arrays of the kind that the inputs are.

        Args:
            inputs: arrays (``mx.array``, NumPy, PyTorch, DLPack, the buffer protocol) and numbers, one per input name.
                A bool is passed as bool, an int as int32 (int64 if it needs to), a float as float32.
            output_shapes: one per output name.
            output_dtypes: one per output name; dtypes of any array library, or their names.
            grid: threads in x, y, z.
            threadgroup: threads per threadgroup; what reaches over the grid is cut.
            template: pairs of a name and a dtype, int or bool, or a dictionary of them.
            init_value: what the outputs hold before the kernel starts; default 0.
            verbose: print the generated source.
            stream: the stream of MLX whose order the kernel joins; without a meaning for other arrays.

        Inputs, shapes and dtypes may also be dictionaries by name, all three; then the result is a dictionary, too.

        A kernel on ``mx.array`` runs when MLX evaluates one of its outputs, and what is wrong with its source or its
        threadgroup is raised then (see docs/coming-from-mlx.md). On all other arrays it has run when the call returns.

        Raises:
            ValueError: wrong numbers of arrays, shapes or dtypes; an invalid template argument or threadgroup.
            RuntimeError: the source does not compile (the compiler's log follows), the kernel crashed or timed out.
        """
        by_name = are_dictionaries(inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes)
        inputs, output_shapes, output_dtypes = self._lists(inputs, output_shapes, output_dtypes)
        call = Call(
            self, list(inputs), _shapes(output_shapes), _dtype_names(output_dtypes),
            _extents("grid", grid), _extents("threadgroup", threadgroup),
            list(template.items()) if isinstance(template, Mapping) else template, _template(template),
            _initial(init_value), stream,
        )  # fmt: skip
        if flag("metal_kernel: verbose", verbose):
            text = self._kernel.source([_described(value) for value in inputs], call.output_dtypes, call.templates)[1]
            print(f"Generated source code for `{self._kernel.name}`:\n```\n{text}\n```", flush=True)
        outputs = runner_for(inputs, output_dtypes)(call)
        return dict(zip(self._output_names, outputs, strict=True)) if by_name else outputs

    @property
    def device(self) -> str:
        """The name of the device that runs the kernel now."""
        return self._device or _device.chosen

    def run_into(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Runs the kernel to its end. `inputs` stand for the call's; `outputs` are arrays that it may write to."""
        self._kernel.run(inputs, outputs, call.grid, call.threadgroup, call.templates, call.init_value, self.device)
        if not self._has_warned_of_reads and self._kernel.reads_outside_inputs:
            self._has_warned_of_reads = True
            warn_of_reads_outside_inputs(self._kernel.name)
        if not self._has_warned_of_writes and self._kernel.writes_outside_outputs:
            self._has_warned_of_writes = True
            warn_of_writes_outside_outputs(self._kernel.name)

    def add_mlx_node(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Makes the new arrays `outputs` the kernel's outputs in MLX's graph (``_mlx_lazy.py``)."""
        self._kernel.add_mlx_node(
            inputs, outputs, call.output_shapes, call.output_dtypes, call.grid, call.threadgroup, call.templates,
            call.init_value, self.device,
        )  # fmt: skip

    def declared_to(self, other_metal_kernel: Any) -> Any:
        """The kernel that another metal_kernel makes of the same declaration."""
        return other_metal_kernel(**self._declaration)


class Call(NamedTuple):
    """One call of a kernel, checked as far as it can be without looking at the arrays."""

    kernel: MetalKernel
    inputs: list[Any]
    output_shapes: list[tuple[int, ...]]
    output_dtypes: list[str]
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    template: Sequence[tuple[str, Any]] | None  # as the user gave it, as a list
    templates: list[tuple[str, Any]]
    init_value: float | None
    stream: Any


def _described(value: Any) -> Any:
    """Of an mx.array only dtype and shape: its elements may not exist yet."""
    if type(value).__module__.partition(".")[0] == "mlx":
        return dtype_name(value.dtype), tuple(value.shape)
    return value


def _dtype_names(dtypes: Sequence[Any]) -> list[str]:
    result = []
    for dtype in dtypes:
        name = dtype_name(dtype)
        if name is None:
            raise TypeError(f"[metal_kernel] Not an element type that a kernel can have: {dtype!r}")
        result.append(name)
    return result
