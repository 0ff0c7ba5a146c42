"""What tests of the device mps share."""

import pytest


@pytest.fixture(scope="module")
def device():
    """The device's module in C++, with Metalloid's own operators."""
    pytest.importorskip("torch")
    from metalloid.mps import _plugin

    try:
        module = _plugin.device()
        _plugin.own_operators()
    except _plugin.CannotBuild as error:
        pytest.skip(str(error))
    return module
