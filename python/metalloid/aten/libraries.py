"""What ``aten build`` makes, in a process: loaded into the device mps, with new operators where PyTorch's Python has them.

A library says what it is in a text of its own, so that one file is all there is to keep.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Callable
from typing import Any

import torch

from ..mps import _plugin
from ..mps._plugin import CannotBuild
from ..mps._plugin.compile import Unit
from ..mps._plugin.generate import Generated

_MARK = b"metalloid aten library {"
_loaded: set[bytes] = set()


def described(generated: Generated) -> Unit:
    """A source that makes a library say what it has, and for which PyTorch."""
    content = {
        "torch": _torch(),
        "new_operators": generated.new_operators,
        "python_names": generated.python_names,
    }
    text = _MARK.decode()[:-1] + json.dumps(content)
    name = "Description.cpp"
    source = f'extern "C" __attribute__((used)) const char metalloid_aten_library[] = R"METALLOID({text})METALLOID";\n'
    return Unit(pathlib.Path(name), texts=((name, source),))


def _torch() -> str:
    return f"{torch.__version__} ({torch.version.git_version})"


def put(name: str, binary: bytes) -> None:
    """Loads a library, once; then its operators are in ``torch.ops.aten``, and in Python where their entries say.

    Raises:
        CannotBuild: it is no such library, is one for another PyTorch, or its operators are there with other code.
    """
    if (digest := hashlib.sha256(binary).digest()) in _loaded:
        return
    start = binary.find(_MARK)
    if start < 0:
        raise CannotBuild(f"{name} is no library that 'metalloid aten build' made")
    content = json.loads(binary[start + len(_MARK) - 1 : binary.index(b"\0", start)])
    if content["torch"] != _torch():
        raise CannotBuild(f"{name} was built for PyTorch {content['torch']}, and {_torch()} is installed: build it again")
    for operator in content["new_operators"]:
        if _is_there(operator):
            raise CannotBuild(f"'{operator}' is in this process already: what was built anew is for a new process")
    _plugin.load_library(name, binary)
    _loaded.add(digest)
    for place, operator in content["python_names"]:
        _bind(place, operator)


def _is_there(function: str) -> bool:
    name, _, overload = function.partition(".")
    schemas = torch._C._jit_get_schemas_for_operator(name if "::" in name else f"aten::{name}")
    return any(schema.overload_name == overload for schema in schemas)


def _bind(place: str, name: str) -> None:
    """As the Python bindings of PyTorch's build; what is there already stays."""
    owners = {"torch": torch, "Tensor": torch.Tensor}
    owner = owners.get(place) or getattr(torch._C, f"_{place}", None)
    if owner is not None and not hasattr(owner, name):
        setattr(owner, name, _function(getattr(torch.ops.aten, name), place))


def _function(packet: Any, place: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return packet(*args, **kwargs)

    call.__name__ = packet.__name__
    call.__qualname__ = f"{place}.{packet.__name__}" if place == "Tensor" else packet.__name__
    call.__module__ = "torch"
    call.__doc__ = "\n".join(str(getattr(packet, overload)._schema) for overload in packet.overloads())
    return call
