"""Libraries in files: what `metal` and `metallib` of the SDK have made (docs/mac-programs.md)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core, _device
from ._arguments.policy import ArgumentPolicy, arrays_in_place
from ._shader import ShaderLibrary


class _Sources:
    """The sources of one packed library on a device, as one library. Each is compiled when a kernel of it is asked for."""

    def __init__(self, packed: Sequence[_core.PackedLibrary], device: str) -> None:
        self._packed = packed
        self._device = device
        self._loaded: dict[int, _core.Library] = {}

    def _part(self, number: int) -> _core.Library:
        if number not in self._loaded:
            self._loaded[number] = self._packed[number].load(self._device)
        return self._loaded[number]

    def kernel_names(self) -> list[str]:
        return [name for one in self._packed for name in one.kernel_names()]

    def function_constants(self) -> list[dict[str, Any]]:
        return [constant for number in range(len(self._packed)) for constant in self._part(number).function_constants()]

    def kernel(self, name: str, constants: Sequence[tuple[int | str, Any]]) -> _core.Kernel:
        number = next((i for i, one in enumerate(self._packed) if name in one.kernel_names()), 0)
        return self._part(number).kernel(name, constants)


def load_metallib(
    source: bytes | str | os.PathLike[str], *, device: str | None = None, policy: ArgumentPolicy = arrays_in_place
) -> ShaderLibrary:
    """Loads a library that the SDK's `metal` or `metallib` has made, as ``torch.mps.load_metallib`` does on a Mac.

    Args:
        source: the file, or its contents.
        device: one of ``metalloid.devices()``; None: the arguments', else ``metalloid.default_device()``.
        policy: what its kernels take, as in ``compile_shader``.

    Raises:
        OSError: the file cannot be read.
        metalloid.Error: it is no such library; the text says what it is instead.
        TypeError, ValueError: an argument of another type, a device that is not there.
    """
    if device is not None:
        _device.check_device(device)
    if isinstance(source, bytes):
        contents = source
    elif isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            contents = file.read()
    else:
        raise TypeError(f"expected bytes or path, got {type(source).__name__}")
    packed = _core.unpack(contents)
    if not packed:
        raise ValueError("the library is empty")
    return ShaderLibrary(lambda name: _Sources(packed, name), device, policy)  # type: ignore[arg-type, return-value]
