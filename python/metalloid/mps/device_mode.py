"""The torch function mode that makes tensors behave as if they were on "mps".

It sees every call of a torch function. A device argument "mps" becomes "cpu", and what comes out is tagged; results
computed from tagged tensors are tagged; the device getters answer for tagged tensors.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device as default_device
from torch.utils.dlpack import DLDeviceType

from .. import _errors
from .._draining import OperatorWatch, gives_memory
from .._draining import tensors_in as tensors_anywhere_in
from .tags import is_tagged, share_memory, tag, tensors_in

mps = torch.device("mps", 0)
_cpu = torch.device("cpu")

# Functions that take tensors of both devices: copies, accessors, indices on the CPU. The first one's is the result's.
_takes_both = {
    "__get__", "__set__", "copy_", "to", "__getitem__", "__setitem__", "_has_compatible_shallow_copy_type",
    "index_put_", "index_put", "set_", "assert_close", "is_same_size", "equal", "register_hook", "_parse_to",
    "lstm", "gru", "rnn_tanh", "rnn_relu", "tensor_split", "_nested_view_from_jagged",
}  # fmt: skip
# Of these: what a tensor on the CPU receives is copied from the device.
_fills_the_first = {"copy_", "__setitem__", "index_put_", "index_put", "equal"}


def is_mps(device: Any) -> bool:
    """Whether this device argument, of any type, means it.

    Raises:
        RuntimeError: it has an index other than 0.
    """
    if isinstance(device, str) and device.startswith("mps"):
        device = torch.device(device)
    elif type(device) is int:  # of the accelerator
        device = torch.device("mps", device)
    if not isinstance(device, torch.device) or device.type != "mps":
        return False
    if device.index:
        raise RuntimeError(f"device '{device}' is out of range: there is one MPS device, mps:0")
    return True


def _is_device(value: Any) -> bool:
    return isinstance(value, (torch.device, str)) or type(value) is int


def _reject_float64(tensors: list[torch.Tensor]) -> None:
    for tensor in tensors:
        if tensor.dtype in (torch.float64, torch.complex128):
            raise TypeError(
                "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
                "Please use float32 instead."
            )


def _tagged(result: Any) -> Any:
    tensors = tensors_in(result)
    _reject_float64(tensors)
    for tensor in tensors:
        tag(tensor)
    return result


def _copied_to(func: Any, tensor: torch.Tensor, target: bool, args: tuple, kwargs: dict) -> torch.Tensor:
    """`to` and `cpu` between devices make a copy, as between two memories; on the same device they may not."""
    source = is_tagged(tensor)
    if source and not target:
        _errors.raise_reported()
    if target:
        dtype = kwargs.get("dtype") or next((a for a in args if isinstance(a, torch.dtype)), tensor.dtype)
        if dtype in (torch.float64, torch.complex128):
            raise TypeError(
                "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
                "Please use float32 instead."
            )
    result = func(tensor, *args, **kwargs)
    if source != target and share_memory(result, tensor) and not torch.nn.parameter.is_lazy(result):
        result = result.clone()
    if target:
        tag(result)
    return result


def _to(func: Any, args: tuple, kwargs: dict) -> torch.Tensor:
    tensor, *rest = args
    kwargs = dict(kwargs)
    target = is_tagged(tensor)
    if "other" in kwargs or (rest and isinstance(rest[0], torch.Tensor)):
        target = is_tagged(kwargs.get("other", rest[0] if rest else None))
    elif kwargs.get("device") is not None:
        target = is_mps(kwargs["device"])
        if target:
            kwargs["device"] = _cpu
    elif rest and _is_device(rest[0]):
        target = is_mps(rest[0])
        if target:
            rest[0] = _cpu
    return _copied_to(func, tensor, target, tuple(rest), kwargs)


def _to_cpu(func: Any, args: tuple, kwargs: dict) -> torch.Tensor:
    return _copied_to(func, args[0], False, args[1:], kwargs)


def _device(func: Any, args: tuple, kwargs: dict) -> torch.device:
    return mps if is_tagged(args[0]) else func(*args, **kwargs)


def _is_mps(func: Any, args: tuple, kwargs: dict) -> bool:
    return is_tagged(args[0])


def _is_cpu(func: Any, args: tuple, kwargs: dict) -> bool:
    return func(*args, **kwargs) and not is_tagged(args[0])


def _get_device(func: Any, args: tuple, kwargs: dict) -> int:
    return 0 if is_tagged(args[0]) else func(*args, **kwargs)


def _numpy(func: Any, args: tuple, kwargs: dict) -> Any:
    if is_tagged(args[0]):
        if kwargs.get("force"):
            return func(*args, **kwargs).copy()
        raise TypeError(
            "can't convert mps:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return func(*args, **kwargs)


def _repr(func: Any, args: tuple, kwargs: dict) -> str:
    text = func(*args, **kwargs)
    if not is_tagged(args[0]) or not text.endswith(")"):
        return text
    for mark in (", grad_fn=", ", requires_grad="):  # which come last
        head, found, tail = text.rpartition(mark)
        if found:
            return f"{head}, device='mps:0'{found}{tail}"
    return f"{text[:-1]}, device='mps:0')"


def _type(func: Any, args: tuple, kwargs: dict) -> Any:
    """A dtype leaves a tensor where it is; "torch.mps.FloatTensor" and "torch.FloatTensor" say where it goes."""
    tensor, *rest = args
    if rest and isinstance(rest[0], type(torch.FloatTensor)):  # torch.FloatTensor, which is on the CPU
        return _copied_to(func, tensor, False, tuple(rest), kwargs)
    if rest and isinstance(rest[0], str):
        target, rest[0] = rest[0].startswith("torch.mps."), rest[0].replace("torch.mps.", "torch.", 1)
        return _copied_to(func, tensor, target, tuple(rest), kwargs)
    result = func(*args, **kwargs)
    if isinstance(result, str):
        return result.replace("torch.", "torch.mps.", 1) if is_tagged(tensor) else result
    return _tagged(result) if is_tagged(tensor) else result


def _type_as(func: Any, args: tuple, kwargs: dict) -> torch.Tensor:
    return _to(torch.Tensor.to, (*args, *kwargs.values()), {})


def _parse_to(func: Any, args: tuple, kwargs: dict) -> tuple:
    """What Module.to asks; it hands the device on to Tensor.to."""
    if args and type(args[0]) is int:
        args = (torch.device("mps", args[0]), *args[1:])
    device, *rest = func(*args, **kwargs)
    return (mps if any(is_tagged(tensor) for tensor in tensors_in((args, kwargs))) else device, *rest)


def _dlpack_device(func: Any, args: tuple, kwargs: dict) -> tuple:
    return (DLDeviceType.kDLMetal, 0) if is_tagged(args[0]) else func(*args, **kwargs)


def _pin_memory(func: Any, args: tuple, kwargs: dict) -> torch.Tensor:
    """All memory is as good as pinned."""
    if is_tagged(args[0]):
        kind = _type(torch.Tensor.type, args[:1], {})
        raise RuntimeError(f"cannot pin '{kind}' only dense CPU tensors can be pinned")
    return args[0].clone()


def _set_data(func: Any, args: tuple, kwargs: dict) -> None:
    """The new data brings its storage, and with it the mark."""
    return func(*args, **kwargs)


def _register_hook(func: Any, args: tuple, kwargs: dict) -> Any:
    """Autograd calls hooks outside of all modes, and makes the gradients that it hands them itself."""
    tensor, hook = (*args, *kwargs.values())
    if not is_tagged(tensor):
        return func(tensor, hook)

    @functools.wraps(hook, updated=())
    def hook_on_mps(gradient: torch.Tensor) -> Any:
        tag(gradient)
        with MpsMode():
            return hook(gradient)

    return func(tensor, hook_on_mps)


def _pack_padded_sequence(func: Any, args: tuple, kwargs: dict) -> Any:
    """Lengths and batch sizes are on the CPU."""
    data, batch_sizes = func(*args, **kwargs)
    return (_tagged(data) if is_tagged(args[0]) else data), batch_sizes


def _pad_packed_sequence(func: Any, args: tuple, kwargs: dict) -> Any:
    data, lengths = func(*args, **kwargs)
    return (_tagged(data) if is_tagged(args[0]) else data), lengths


def _unchanged(func: Any, args: tuple, kwargs: dict) -> Any:
    return func(*args, **kwargs)


_handlers = {
    torch.Tensor.device.__get__: _device,
    torch.Tensor.is_mps.__get__: _is_mps,
    torch.Tensor.is_cpu.__get__: _is_cpu,
    torch.Tensor.get_device: _get_device,
    torch.Tensor.to: _to,
    torch.Tensor.cpu: _to_cpu,
    torch.Tensor.numpy: _numpy,
    torch.Tensor.__array__: _numpy,
    torch.Tensor.__repr__: _repr,
    torch.Tensor.type: _type,
    torch.Tensor.data.__set__: _set_data,
    torch.Tensor.register_hook: _register_hook,
    torch.Tensor.register_post_accumulate_grad_hook: _register_hook,
    torch.Tensor.untyped_storage: _unchanged,
    torch._VF._pack_padded_sequence: _pack_padded_sequence,
    torch._VF._pad_packed_sequence: _pad_packed_sequence,
    torch._C._nn._parse_to: _parse_to,
    torch.Tensor.type_as: _type_as,
    torch.Tensor.__dlpack_device__: _dlpack_device,
    torch.Tensor.pin_memory: _pin_memory,
}


def _not_shared(result: Any, args: tuple) -> Any:
    """`as_tensor` and its like copy a tensor on "mps" when the CPU is asked for, as it is another memory there."""
    source = args[0] if args else None
    if not (isinstance(source, torch.Tensor) and isinstance(result, torch.Tensor) and is_tagged(source)):
        return result
    return result.clone() if share_memory(result, source) else result


def _reject_two_devices(tensors: list[torch.Tensor], are_tagged: list[bool]) -> None:
    for tensor, is_on_mps in zip(tensors, are_tagged, strict=True):
        if tensor.dim() != 0 and not is_on_mps:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, mps:0 and cpu!")


def _reject_generator(generator: Any, device: str) -> None:
    if generator is not None and generator.device.type != device:
        raise RuntimeError(f"Expected a '{device}' device type for generator but found '{generator.device.type}'")


def _reject_indices(func: Any, indices: Any) -> None:
    if func is torch.Tensor.__getitem__ and any(is_tagged(index) and index.dim() for index in tensors_in([indices])):
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")


# torch's own methods: it calls a mode with whatever stands under the method's name by then.
_methods = {name: getattr(torch.Tensor, name) for name in dir(torch.Tensor)}


@functools.lru_cache(maxsize=1024)
def _replaced_by(func: FunctionType) -> Any:
    """The method of torch.Tensor that a script put this function in place of, if it did; else the function."""
    for name, method in _methods.items():
        if func is not method and getattr(torch.Tensor, name, None) is func:
            return method
    return func


def call(func: Any, args: tuple, kwargs: dict) -> Any:
    """One call of a torch function, as a build with MPS would answer it."""
    if type(func) is FunctionType:
        func = _replaced_by(func)
    if not _errors.is_reported() or not any(map(is_tagged, tensors_anywhere_in((args, kwargs)))):
        return _answer(func, args, kwargs)
    if gives_memory(func, args, is_tagged):
        _errors.synchronize()
    with OperatorWatch(is_tagged):
        return _answer(func, args, kwargs)


def _answer(func: Any, args: tuple, kwargs: dict) -> Any:
    handler = _handlers.get(func)
    if handler is not None:
        return handler(func, args, kwargs)
    tensors = tensors_in(args)
    if kwargs:
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        device = kwargs.get("device")
        if device is not None and _is_device(device):
            if not is_mps(device):
                if any(map(is_tagged, tensors)):
                    _errors.raise_reported()
                return _not_shared(func(*args, **kwargs), args)
            _reject_generator(kwargs.get("generator"), "mps")
            return _tagged(func(*args, **{**kwargs, "device": _cpu}))
        tensors += tensors_in(kwargs)
    are_tagged = [is_tagged(tensor) for tensor in tensors]
    if "generator" in kwargs:
        _reject_generator(kwargs["generator"], "mps" if any(are_tagged) else "cpu")
    if not any(are_tagged):
        return func(*args, **kwargs)
    if not all(are_tagged):
        if getattr(func, "__name__", "") not in _takes_both:
            _reject_two_devices(tensors, are_tagged)
        elif args and isinstance(args[0], torch.Tensor) and not is_tagged(args[0]):
            _reject_indices(func, args[1:])
            if func.__name__ in _fills_the_first:
                _errors.raise_reported()
            return func(*args, **kwargs)
    return _tagged(func(*args, **kwargs))


class MpsMode(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return call(func, args, kwargs or {})


def _default_device_function(self: Any, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
    """torch's mode for default devices lies below all others: "mps" that it fills in must be answered there."""
    kwargs = kwargs or {}
    if func in default_device._device_constructors() and kwargs.get("device") is None:
        kwargs["device"] = self.device
        if is_mps(self.device):
            return call(func, args, kwargs)
    return func(*args, **kwargs)


def _describe_real_tensors() -> None:
    """Fake tensors, which torch.export and torch.compile trace with, are on the CPU: autograd has no device mps."""
    from torch._subclasses import meta_utils

    describe = meta_utils.MetaTensorDescriber.describe_tensor

    @functools.wraps(describe)
    def described(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return describe(*args, **kwargs)

    meta_utils.MetaTensorDescriber.describe_tensor = described


def _make_wrappers_on_cpu() -> None:
    """Wrapper subclasses name the device that they report; what they are made of has the mark."""
    make = torch.Tensor._make_wrapper_subclass

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        if is_mps(kwargs.get("device")):
            kwargs["device"] = _cpu
        return make(*args, **kwargs)

    torch.Tensor._make_wrapper_subclass = staticmethod(made)


def install() -> MpsMode:
    _make_wrappers_on_cpu()
    _describe_real_tensors()
    default_device.DeviceContext.__torch_function__ = _default_device_function
    mode = MpsMode()
    mode.__enter__()
    return mode
