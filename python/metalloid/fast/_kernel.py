"""The callable that metal_kernel returns, with the call model of mx.fast.metal_kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import _core, _device
from .._arguments import device_arrays
from .._arguments.numbers import flag
from .._arguments.tensors import is_tensor
from ._call import (
    Call,
    Template,
    are_dictionaries,
    check_count,
    dtype_names,
    extents_of,
    in_order,
    initial_value,
    is_mapping,
    require_lists,
    shapes_of,
    template_of,
)
from ._dtypes import dtype_name
from ._results import runner_for
from ._tune import Tunable


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
        declaration: dict[str, Any] = dict(
            name=name, input_names=list(input_names), output_names=list(output_names), source=source, header=header,
            ensure_row_contiguous=ensure_row_contiguous, atomic_outputs=atomic_outputs,
        )  # fmt: skip
        self._kernel = _core.MetalKernel(**declaration, math_mode=math_mode)
        # MLX before 0.32 has no compile_options.
        self._declaration = declaration | ({} if math_mode == "safe" else {"compile_options": {"math_mode": math_mode}})
        self._input_names, self._output_names = list(input_names), list(output_names)
        self._device = device

    def __repr__(self) -> str:
        return f"<metalloid metal_kernel {self._kernel.name}({', '.join(self._input_names)})>"

    def _lists(
        self, inputs: Any, output_shapes: Any, output_dtypes: Any
    ) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """What a call was given, checked, in the order of the names."""
        if is_mapping(inputs):
            inputs = in_order("inputs", self._input_names, inputs)
            output_shapes = in_order("output_shapes", self._output_names, output_shapes)
            output_dtypes = in_order("output_dtypes", self._output_names, output_dtypes)
        require_lists(inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes)
        check_count("inputs", self._input_names, inputs)
        check_count("output_shapes", self._output_names, output_shapes)
        check_count("output_dtypes", self._output_names, output_dtypes)
        return inputs, output_shapes, output_dtypes

    def generated_source(self, *, inputs: Any, output_dtypes: Any, template: Template = None) -> str:
        """The Metal source that such a call compiles."""
        if are_dictionaries(inputs=inputs, output_dtypes=output_dtypes):
            inputs = in_order("inputs", self._input_names, inputs)
            output_dtypes = in_order("output_dtypes", self._output_names, output_dtypes)
        require_lists(inputs=inputs, output_dtypes=output_dtypes)
        check_count("inputs", self._input_names, inputs)
        check_count("output_dtypes", self._output_names, output_dtypes)
        described = [_described(value) for value in inputs]
        return self._kernel.source(described, dtype_names(output_dtypes), template_of(template))[1]

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
        threadgroup is raised then (see docs/coming-from-mlx.md). With inputs in a GPU's memory it runs there, on the stream
        that their library uses, outputs are there, and the call returns once the kernel is launched. On all other arrays
        it has run when the call returns.

        Raises:
            ValueError: wrong numbers of arrays, shapes or dtypes; an invalid template argument or threadgroup.
            RuntimeError: the source does not compile (the compiler's log follows), the kernel crashed or timed out.
        """
        by_name = are_dictionaries(inputs=inputs, output_shapes=output_shapes, output_dtypes=output_dtypes)
        inputs, output_shapes, output_dtypes = self._lists(inputs, output_shapes, output_dtypes)
        call = Call(
            self, list(inputs), shapes_of(output_shapes), dtype_names(output_dtypes),
            extents_of("grid", grid), extents_of("threadgroup", threadgroup),
            list(template.items()) if template is not None and isinstance(template, Mapping) else template,
            template_of(template),
            initial_value(init_value), stream,
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

    def launch_into(self, call: Call, place: device_arrays.Place, outputs: Sequence[Any]) -> None:
        """Launches the kernel where its arrays are. Numbers and arrays of the host go along."""
        device_arrays.require_device(place, self._device)
        inputs, arrays, has_tensor = [], [], False
        for value in call.inputs:
            there = device_arrays.place_of(value)
            if there is None and not (is_tensor(value) and value.dim() != 0):
                inputs.append(value)
                continue
            if there != place:
                device_arrays.check_places(place, call.inputs, lambda i: f"[metal_kernel] Input `{self._input_names[i]}`")
            if is_tensor(value):
                has_tensor = True
                inputs.append(self._tensor_memory(value))
            else:
                arrays.append(array := device_arrays.device_array(value))
                if self._declaration["ensure_row_contiguous"] and not device_arrays.is_contiguous(array):
                    raise ValueError(
                        "[metal_kernel] An input on a GPU that is not row contiguous must be a torch tensor, which is "
                        "copied, or the kernel made with ensure_row_contiguous=False."
                    )
                inputs.append(_array_memory(array))
        stream = device_arrays.stream_for(place, has_tensor, arrays)
        results = [
            self._tensor_memory(output) if is_tensor(output) else _array_memory(device_arrays.device_array(output))
            for output in outputs
        ]
        self._kernel.run_on(stream, inputs, results, call.grid, call.threadgroup, call.templates)

    def _tensor_memory(self, tensor: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], str]:
        tensor = tensor.detach().resolve_conj().resolve_neg()
        if self._declaration["ensure_row_contiguous"]:
            tensor = tensor.contiguous()  # a copy, where it is one, is used by the kernel before its memory is used again
        return tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), dtype_name(tensor.dtype) or str(tensor.dtype)

    def add_mlx_node(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Makes the new arrays `outputs` the kernel's outputs in MLX's graph (``_mlx/lazy.py``)."""
        self._kernel.add_mlx_node(
            inputs, outputs, call.output_shapes, call.output_dtypes, call.grid, call.threadgroup, call.templates,
            call.init_value, self.device,
        )  # fmt: skip

    def declared_to(self, other_metal_kernel: Any) -> Any:
        """The kernel that another metal_kernel makes of the same declaration."""
        return other_metal_kernel(**self._declaration)


def _array_memory(array: device_arrays.DeviceArray) -> tuple[int, tuple[int, ...], tuple[int, ...], str]:
    return array.address, array.shape, array.strides, array.dtype


def _described(value: Any) -> Any:
    """Of an mx.array or an array on a GPU only dtype and shape: its elements may not exist yet."""
    if type(value).__module__.partition(".")[0] == "mlx" or device_arrays.place_of(value) is not None:
        return dtype_name(value.dtype), tuple(value.shape)
    return value
