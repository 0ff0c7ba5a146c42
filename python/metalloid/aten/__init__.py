"""Operators of PyTorch with Metal kernels, written, built, tested and used on Linux with the files of a pull request.

    metalloid aten new NAME [--unary|--binary|--ternary] [--cpp] [FOLDER]    a folder to start from
    metalloid aten build FOLDER [--op NAME]... [-o LIBRARY]    registrations, Metal sources and host files into one library
    metalloid aten test [FOLDER] [--op NAME]... [--opinfo FILE]    PyTorch's own tests and more, on Metal kernels
    metalloid aten lint [FILE_OR_FOLDER]            a native_functions.yaml by PyTorch's rules for kernels of MPS

``python -m metalloid.aten`` is the same. Folders have PyTorch's layout: a checkout, or just the files that change. Programs
use such a folder, or its library, by ``metalloid.aten.load`` or by $METALLOID_ATEN under ``python -m metalloid.mps`` and
``pytest --metalloid-mps``. docs/adding-an-operator.md is the tutorial.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

__all__ = ["load"]


def load(path: str | os.PathLike[str], operators: Sequence[str] = ()) -> None:
    """Makes "mps" a device of this process, as ``python -m metalloid.mps`` does, and puts operators into it.

    New ones are ``torch.ops.aten.NAME`` then, and ``torch.NAME`` and ``Tensor.NAME`` where ``variants`` of their entries
    says so; those that PyTorch has run these kernels on "mps".

    Args:
        path: a folder of operators, which is built if that was not done before, or a library that
            ``metalloid aten build -o`` wrote.
        operators: of a folder these alone, as in "atan2" or "atan2.out"; none: all.

    Raises:
        ValueError: the folder's files are wrong; the text has file and line.
        RuntimeError: they do not compile, or the library is for another PyTorch.
        ImportError: the device mps cannot be made here.
    """
    from ..mps import install_on_import

    install_on_import()
    import torch  # noqa: F401 - the device is made as soon as it is there, and the modules below count on it

    from . import loading

    loading.load(path, operators)
