"""Where the files are that C++ needs which is compiled on the user's machine: headers, libraries, PyTorch's device."""

from __future__ import annotations

import pathlib

from . import _core


def include_folder() -> pathlib.Path:
    """The folder of the headers: -I for #include <metalloid/metalloid.h>."""
    return pathlib.Path(__file__).with_name("include")


def torch_mps_folder() -> pathlib.Path:
    """The sources of PyTorch's device mps (torch_mps/): -I for #include <device/...> and <host/...>."""
    return pathlib.Path(__file__).with_name("torch_mps")


def sdk_include_folder() -> pathlib.Path:
    """The headers of Metal's host API: -I for #import <Metal/Metal.h>, <Foundation/Foundation.h>, <dispatch/dispatch.h>."""
    return pathlib.Path(__file__).with_name("sdk") / "include"


def library() -> pathlib.Path:
    """The libmetalloid.so that this process has loaded: what is linked to it uses the very same one."""
    return pathlib.Path(_core.library_path())


def metal_library() -> pathlib.Path:
    """The libmetalloid_metal.so beside it: Metal's host API and Objective-C's runtime."""
    return library().with_name("libmetalloid_metal.so")
