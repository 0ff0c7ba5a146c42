"""Operators of PyTorch with Metal kernels, written, built and tested on Linux with the files of a pull request.

    metalloid aten new NAME [--unary|--binary|--ternary] [--cpp] [FOLDER]    a folder to start from
    metalloid aten build FOLDER [--op NAME]...      registrations, Metal sources and host files into one library
    metalloid aten test [FOLDER] [--op NAME]...     PyTorch's own tests and more, on Metal kernels, type by type
    metalloid aten lint [FILE_OR_FOLDER]            a native_functions.yaml by PyTorch's rules for kernels of MPS

``python -m metalloid.aten`` is the same. Folders have PyTorch's layout: a checkout, or just the files that change.
docs/adding-an-operator.md is the tutorial.
"""
