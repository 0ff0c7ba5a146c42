"""What the host values of a call stand for: the one place where ways of calling a kernel differ."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

from .._errors import is_reported

_nothing = contextlib.nullcontext()


@dataclasses.dataclass(frozen=True)
class ArgumentPolicy:
    """The rules for arguments that ``encode`` asks about.

    ``metalloid.compile_shader`` runs kernels on the CPU, where torch's CPU tensors and NumPy arrays *are* device
    memory, as tensors of Metalloid's device "mps" are: a tensor is bound in place whatever its rank. torch.mps knows two
    memories; a script that runs under ``python -m metalloid.mps`` gets its rules from a subclass, in which only tensors
    that report device "mps" are device memory and 0-dimensional CPU tensors go by value.

    Attributes:
        accepts_arrays: NumPy arrays and whatever has the buffer protocol or DLPack may be arguments.
        checks_types: an argument whose element type is not the kernel's, or that the kernel does not take, is an
            error. torch.mps checks neither and hands the bits over. Tensors may be reinterpreted whatever the policy, as
            torch's own kernels do, but not one floating-point format as another.
    """

    accepts_arrays: bool = True
    checks_types: bool = True

    def is_device_memory(self, tensor: Any) -> bool:
        """Whether this torch tensor is bound in place. False makes it a host tensor, legal only without dimensions."""
        if tensor.device.type != "cpu" and not tensor.is_mps:
            raise RuntimeError(f"Passed {tensor.device.type.upper()} tensor to a kernel that runs on the CPU")
        return True

    def is_on_stream(self, values: Sequence[Any]) -> bool:
        """Whether a kernel on these arguments runs on PyTorch's current stream of "mps", with all else on its tensors."""
        return any(
            getattr(value, "is_mps", False) or (isinstance(value, (list, tuple)) and self.is_on_stream(value))
            for value in values
        )

    def while_binding(self) -> contextlib.AbstractContextManager[Any]:
        """Entered while the arguments of a call are bound, which is no look into a tensor."""
        return sys.modules["torch"]._C.DisableTorchFunction() if is_reported() and "torch" in sys.modules else _nothing

    def after_report(self) -> None:
        """Called when a kernel on torch tensors has reported an error: the first look into a tensor shall raise it."""
        from .._draining import watch

        watch()


arrays_in_place = ArgumentPolicy()
