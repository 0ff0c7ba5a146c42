"""The Metal source around a TorchMetalKernel's body, as Core AI's converter writes it."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

#: Inputs, results and thread attributes that one kernel may have.
PARAMETER_LIMIT = 31


@dataclasses.dataclass
class MetalParameter:
    """A thread attribute in a kernel's signature.

    >>> MetalParameter("id", "uint", "thread_position_in_grid")  # uint id [[thread_position_in_grid]]
    MetalParameter(name='id', dtype='uint', attr='thread_position_in_grid')
    """

    name: str
    dtype: str
    attr: str


@dataclasses.dataclass(frozen=True)
class Operand:
    """An input or result as the source declares it."""

    name: str
    metal_type: str
    rank: int
    is_result: bool = False
    scalar: int | float | bool | None = None  # the value of a Python number

    def declare(self, index: int) -> str:
        # An input without dimensions is passed by reference; a result keeps its tensor.
        if self.rank == 0 and not self.is_result:
            return f"constant {self.metal_type}& {self.name} [[buffer({index})]]"
        extents = f"metal::dextents<int, {self.rank}>"
        return f"tensor<device {self.metal_type}, {extents}, tensor_handle> {self.name} [[buffer({index})]]"

    def literal(self) -> str:
        """``float s = 2.5f;``"""
        value: Any = self.scalar
        if self.metal_type == "bool":
            text = "true" if value else "false"
        elif self.metal_type == "int":
            value = int(value)
            if not -(2**31) <= value < 2**31:
                raise ValueError(
                    f"int scalar {self.name!r}={value!r} is outside the 32-bit int range that MSL `int` supports"
                )
            text = str(value)
        else:
            value = float(value)
            if not math.isfinite(value):
                raise ValueError(
                    f"float scalar {self.name!r}={value!r} is not finite; NaN/Inf scalars are not supported"
                )
            text = f"{value!r}f"
        return f"{self.metal_type} {self.name} = {text};"


def write_source(
    name: str,
    operands: Sequence[Operand],
    parameters: Sequence[MetalParameter],
    body: str,
    helpers: str,
    templates: Mapping[str, str],
) -> tuple[str, str]:
    """The kernel's name and the whole source.

    Args:
        name: what the kernel's name begins with. Eight letters follow, which depend on the source alone.
        operands: inputs, then results.
        templates: placeholder in body and helpers by the name of the input whose element type replaces it.

    Raises:
        ValueError: more than 31 parameters, or a scalar that its Metal type cannot hold.
    """
    declarations = [operand.declare(index) for index, operand in enumerate(operands)]
    declarations += [f"{parameter.dtype} {parameter.name} [[{parameter.attr}]]" for parameter in parameters]
    if len(declarations) > PARAMETER_LIMIT:
        raise ValueError(f"metal kernels support {PARAMETER_LIMIT} inputs, got {len(declarations)}")
    for operand in operands:
        if not operand.is_result and operand.name in templates:
            body = body.replace(templates[operand.name], operand.metal_type)
            helpers = helpers.replace(templates[operand.name], operand.metal_type)
    literals = [operand.literal() for operand in operands if operand.scalar is not None]
    if literals:  # a block, so that they may hide the parameters of the same names
        body = "\n".join(["{", *literals, body, "}"])
    before = (
        "\n#include <metal_stdlib>\n"
        "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n"
        "using namespace metal;\n"
        "using namespace mpp::tensor_ops;\n"
        f"{helpers}\n"
    )
    after = f"({', '.join(declarations)}) {{ {body} }}"
    digest = hashlib.sha256((before + after).encode()).digest()
    full_name = name + "_" + "".join(chr(ord("a") + byte % 26) for byte in digest[:8])
    return full_name, f"{before}[[kernel]] void {full_name}{after}"
