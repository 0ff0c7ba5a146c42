"""Where the files are that C++ needs which is compiled on the user's machine: headers, library, PyTorch's device."""

from __future__ import annotations

import pathlib

from . import _core


def include_folder() -> pathlib.Path:
    """The folder of the headers: -I for #include <metalloid/metalloid.h>."""
    return pathlib.Path(__file__).with_name("include")


def torch_mps_folder() -> pathlib.Path:
    """The sources of PyTorch's device mps (torch_mps/): -I for #include <device/...> and <host/...>."""
    return pathlib.Path(__file__).with_name("torch_mps")


def library() -> pathlib.Path:
    """The libmetalloid.so that this process has loaded: what is linked to it uses the very same one."""
    return pathlib.Path(_core.library_path())
