"""The device that kernels run on when nobody names one."""

from __future__ import annotations

import os

_first = os.environ.get("METALLOID_DEVICE") or "cpu"

# Read at every launch.
chosen = _first


def default_device() -> str:
    """The name of the device for kernels that were made without one: what ``set_default_device`` set, else
    ``$METALLOID_DEVICE``, else ``"cpu"``, the fastest engine for this machine's processor."""
    return chosen


def set_default_device(name: str | None) -> None:
    """Sets the device for kernels that were made without one, in all threads, and also for those made before.

    Args:
        name: one of the names that ``metalloid.devices()`` lists; None goes back to ``$METALLOID_DEVICE``, else
            ``"cpu"``.

    Raises:
        ValueError: there is no such device.
    """
    global chosen
    if name is not None:
        check_device(name)
    chosen = _first if name is None else name


def check_device(name: str) -> None:
    from . import _core

    known = [device for device, _ in _core.devices()]
    if name not in known:
        raise ValueError(f"no device is named {name!r}; there are: {', '.join(known)}")
