"""For tests that load the device without the runner: PyTorch's OpInfo asks for parts of "mps" that the runner makes, so
it is imported while there is no such device yet."""

import contextlib

with contextlib.suppress(ImportError):
    import torch.testing._internal.common_methods_invocations  # noqa: F401
