"""TorchMetalKernel: a Metal kernel as a torch custom operator, with the interface of Core AI's class.

Where Core AI's class computes torch_defn in eager mode, this one runs the Metal source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .._arguments.numbers import described, number
from . import checks
from .convert import Convertible
from .run import metal_types, run_source
from .source import MetalParameter, Operand, write_source
from .verify import (
    check_count,
    check_inputs_unchanged,
    check_shapes,
    compare,
    copies_of,
    verify_by_default,
)

__all__ = ["MetalParameter", "TorchMetalKernel"]

# How many calls' result types a kernel remembers.
_RESULT_TYPES_LIMIT = 1024

_scalar_types = {bool: "bool", int: "int", float: "float"}

# As Core AI's messages call the element types that it refuses.
_refused_types = {
    torch.bool: "i1",
    torch.uint64: "ui64",
    torch.complex32: "complex<f16>",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
    torch.float8_e5m2: "f8E5M2",
    torch.float8_e4m3fn: "f8E4M3FN",
}

# A second kernel of the same name is another operator: the first one stays as it is.
_operator_names: Counter[str] = Counter()


def _unpickled(arguments: dict[str, Any]) -> TorchMetalKernel:
    return TorchMetalKernel(**arguments)


def _operator_name(name: str) -> str:
    _operator_names[name] += 1
    count = _operator_names[name]
    return name if count == 1 else f"{name}_{count}"


# Extents may be floats, as in `n / 4`: Core AI's class makes tensors of integers of them.
def _integers(extents: Sequence[Any]) -> list[Any]:
    return [
        extent if isinstance(extent, (int, torch.SymInt, torch.SymFloat)) else int(number(extent) or 0)
        for extent in extents
    ]


def _metal_type(tensor: torch.Tensor, what: str) -> str:
    if tensor.layout != torch.strided:
        raise TypeError(f"{what} has unsupported layout: {tensor.layout}")
    if tensor.dtype not in metal_types:
        refused = _refused_types.get(tensor.dtype, str(tensor.dtype))
        raise TypeError(f"{what} has unsupported dtype: {refused}")
    return metal_types[tensor.dtype]


class TorchMetalKernel(Convertible):
    """A Metal kernel that is called like a function on torch tensors.

    Args:
        name: the kernel's name, an identifier.
        input_names: names of the inputs in the Metal source, one per parameter of ``torch_defn``.
        result_names: names of the results in the Metal source.
        src: the body of the Metal function. Tensors are MSL tensors: ``x[i]``, ``x[column, row]``,
            ``x.get_extent(0)``. Their extents are the torch shape reversed: dimension 0 is the innermost one.
        torch_defn: the same computation in torch. Its parameters are annotated ``torch.Tensor``, ``int``,
            ``float`` or ``bool``, its result ``torch.Tensor``, ``list[torch.Tensor]`` or
            ``tuple[torch.Tensor, torch.Tensor]`` with as many members as there are results.
        metal_params: thread attributes that the body uses.
        helper_src: Metal source before the kernel.
        template_dtypes: placeholder in ``src`` and ``helper_src`` by the name of the input whose element type
            replaces it.
        verify: compare every result of every call with ``torch_defn``. Default: ``$METALLOID_VERIFY`` if it is
            set, else only while a pytest test runs.
        rtol, atol: tolerance of the comparison; default by element type. Integers must be equal.

    Raises:
        ValueError: names that are empty, repeated or of the wrong count, template placeholders that are repeated.
        TypeError: annotations of ``torch_defn`` that are missing or unsupported.
    """

    def __init__(
        self,
        name: str,
        input_names: list[str],
        result_names: list[str],
        src: str,
        torch_defn: Callable[..., Any],
        metal_params: list[MetalParameter] | None = None,
        helper_src: str | None = None,
        template_dtypes: dict[str, str] | None = None,
        *,
        verify: bool | None = None,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        checks.check_names(name, input_names, result_names)
        checks.check_declaration(src, torch_defn, metal_params, helper_src, template_dtypes, verify, rtol, atol)
        signature = checks.signature_of(torch_defn)
        checks.check_inputs(signature, input_names)
        self._return_kind = checks.return_kind(signature.return_annotation, result_names)
        augmented = checks.augmented_signature(signature, result_names)
        checks.check_templates(template_dtypes or {}, input_names)
        self.name = name
        self.input_names = list(input_names)
        self.result_names = list(result_names)
        self.src = src
        self.helpers = helper_src or ""
        self.dtype_templates = dict(template_dtypes or {})
        self.metal_parameters = list(metal_params or [])
        self.verify = verify
        self.rtol = rtol
        self.atol = atol
        self._torch_defn = torch_defn
        self._arguments = {
            "name": name, "input_names": input_names, "result_names": result_names, "src": src,
            "torch_defn": torch_defn, "metal_params": metal_params, "helper_src": helper_src,
            "template_dtypes": template_dtypes, "verify": verify, "rtol": rtol, "atol": atol,
        }  # fmt: skip
        self._annotations = [parameter.annotation for parameter in signature.parameters.values()]
        self._result_types: dict[Any, list[torch.dtype]] = {}
        schema = checks.schema_of(augmented, self._return_kind, len(self.result_names))
        operator = torch.library.custom_op(
            f"metalloid_kernels::{_operator_name(name)}", self._run, mutates_args=(), schema=schema
        )
        operator.register_fake(self._run_fake)
        self.torch_custom_op = operator
        self._make_convertible()

    def __deepcopy__(self, memo: dict[int, Any]) -> TorchMetalKernel:
        return self  # models that hold kernels are copied; an operator is there once

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, (self._arguments,)  # torch_defn must be a function that can be imported

    def __repr__(self) -> str:
        return f"<metalloid TorchMetalKernel {self.name}>"

    def __call__(
        self,
        *args: Any,
        threads_per_grid: tuple[int, int, int],
        threads_per_thread_group: tuple[int, int, int],
        result_shapes: list[list[int]],
    ) -> Any:
        """Runs the Metal source.

        Args:
            args: tensors and numbers, in the order of ``input_names``.
            threads_per_grid: the grid in threads, three extents.
            threads_per_thread_group: threads per threadgroup, three extents with a product of at most 1024.
            result_shapes: the torch shape of every result, in the order of ``result_names``.

        Returns:
            A tensor, list or tuple, as ``torch_defn`` is annotated.

        Raises:
            ValueError: extents that are not three, shapes that are not one per result, numbers out of range.
            TypeError: element types that Metal's tensors do not have.
            SyntaxError: the source does not compile; the text is the compiler's log.
            RuntimeError: inputs that are too few, too many or of the wrong kind, extents beyond 32 bits.
            metalloid.VerificationError: a result differs from ``torch_defn``'s (only if verifying).
            metalloid.Error: the kernel cannot be launched so, crashed, or ran into the timeout.
        """
        checks.check_extents("threads_per_grid", threads_per_grid)
        checks.check_extents("threads_per_thread_group", threads_per_thread_group)
        checks.check_shapes(result_shapes, self.result_names)
        if len(args) != len(self.input_names):  # torch's own error names the wrong argument
            raise RuntimeError(
                f"kernel {self.name!r} takes {len(self.input_names)} inputs {self.input_names}, got {len(args)}"
            )
        args = tuple(checks.plain_inputs(args, self._annotations))
        shapes = [_integers(shape) for shape in result_shapes]
        result = self.torch_custom_op(
            *args, _integers(threads_per_grid), _integers(threads_per_thread_group), *shapes
        )
        if self._return_kind == "tuple" and len(self.result_names) == 1:
            return (result,)
        return result

    def metal_source(self, *args: Any, result_shapes: Sequence[Sequence[int]]) -> tuple[str, str]:
        """The kernel's full name and the whole Metal source that a call with these arguments compiles."""
        checks.check_shapes(result_shapes, self.result_names)
        if len(args) != len(self.input_names):
            raise TypeError(
                f"kernel {self.name!r} takes {len(self.input_names)} inputs {self.input_names}, got {len(args)}"
            )
        args = tuple(checks.plain_inputs(args, self._annotations))
        for name, value, annotation in zip(self.input_names, args, self._annotations, strict=True):
            if isinstance(value, torch.Tensor) != (annotation is torch.Tensor) or (
                annotation is not torch.Tensor and number(value) is None
            ):
                raise TypeError(f"input {name!r} must be a {annotation.__name__}, not {described(value)}")
        return self._source(args, result_shapes, self._dtypes(args))

    def _source(
        self, args: Sequence[Any], shapes: Sequence[Sequence[int]], dtypes: Sequence[torch.dtype]
    ) -> tuple[str, str]:
        operands = []
        for index, (name, value, annotation) in enumerate(zip(self.input_names, args, self._annotations, strict=True)):
            if annotation is torch.Tensor:
                metal_type = _metal_type(value, f"kernel input at index {index}")
                operands.append(Operand(name, metal_type, value.dim()))
            else:
                operands.append(Operand(name, _scalar_types[annotation], 0, scalar=annotation(value)))
        for index, (name, shape, dtype) in enumerate(zip(self.result_names, shapes, dtypes, strict=True)):
            metal_type = _metal_type(torch.empty(0, dtype=dtype), f"Result type at index {index}")
            operands.append(Operand(name, metal_type, len(shape), is_result=True))
        return write_source(self.name, operands, self.metal_parameters, self.src, self.helpers, self.dtype_templates)

    def _defined(self, args: Sequence[Any]) -> list[torch.Tensor]:
        results = self._torch_defn(*args)
        results = [results] if self._return_kind == "tensor" else list(results)
        check_count(self.name, self.result_names, results)
        return results

    # The element types that torch_defn gives for arguments like these, computed without any data.
    def _dtypes(self, args: Sequence[Any]) -> list[torch.dtype]:
        key = tuple(
            (value.dtype, value.shape) if isinstance(value, torch.Tensor) else (type(value), value) for value in args
        )
        dtypes = self._result_types.get(key)
        if dtypes is None:
            with FakeTensorMode(allow_non_fake_inputs=True) as mode:
                fakes = [mode.from_tensor(value) if isinstance(value, torch.Tensor) else value for value in args]
                dtypes = [result.dtype for result in self._defined(fakes)]
            if len(self._result_types) >= _RESULT_TYPES_LIMIT:
                self._result_types.clear()
            self._result_types[key] = dtypes
        return dtypes

    def _run(self, *arguments: Any) -> Any:
        count = len(self.input_names)
        args, (grid, group, *shapes) = arguments[:count], arguments[count:]
        verify = verify_by_default() if self.verify is None else self.verify
        if not verify:
            dtypes = self._dtypes(args)
            name, source = self._source(args, shapes, dtypes)
            return self._pack(self._run_source(source, name, args, shapes, grid, group), dtypes, args)

        expected = self._defined(args)
        check_shapes(self.name, self.result_names, shapes, expected)
        dtypes = [result.dtype for result in expected]
        name, source = self._source(args, shapes, dtypes)
        copies = copies_of(args)
        results = self._run_source(source, name, copies, shapes, grid, group, poison=True)
        check_inputs_unchanged(self.name, self.input_names, args, copies)
        compare(self.name, self.result_names, results, expected, self.rtol, self.atol)
        return self._pack(results, dtypes, args)

    # Compiler messages count the lines of the whole source; authors count those of theirs.
    def _run_source(
        self, source: str, name: str, inputs: Sequence[Any], shapes: Any, grid: Any, group: Any, poison: bool = False
    ) -> list[torch.Tensor]:
        try:
            return run_source(source, name, inputs, shapes, grid, group, poison)
        except SyntaxError as error:
            first = source[: source.index(f"[[kernel]] void {name}(")].count("\n") + 1
            scalars = sum(annotation is not torch.Tensor for annotation in self._annotations)
            error.add_note(
                f"kernel {self.name!r}: src begins in line {first + scalars + 1 if scalars else first} of program_source"
                + (", helper_src in line 6" if self.helpers else "")
            )
            raise

    def _run_fake(self, *arguments: Any) -> Any:
        count = len(self.input_names)
        args, shapes = arguments[:count], arguments[count + 2 :]
        results = [result.new_empty(shape) for result, shape in zip(self._defined(args), shapes, strict=True)]
        return self._structured(results)

    def _pack(self, results: list[torch.Tensor], dtypes: Sequence[torch.dtype], args: Sequence[Any]) -> Any:
        devices = [value.device for value in args if isinstance(value, torch.Tensor)]
        device = devices[0] if devices else torch.device("cpu")
        return self._structured(
            [result.to(device=device, dtype=dtype) for result, dtype in zip(results, dtypes, strict=True)]
        )

    def _structured(self, results: list[torch.Tensor]) -> Any:
        if self._return_kind == "list":
            return results
        return results[0] if len(results) == 1 else tuple(results)
