"""Results on MPS and on the CPU that differ by rounding alone."""

import pytest

torch = pytest.importorskip("torch")


def test_results_as_exact_as_those_of_the_cpu():
    from metalloid.aten import comparison

    x = torch.tensor([1e8, 1.0, -1e8, 1.0])
    exact = 2.0

    def difference(x):
        return (x[0] + x[1]) + (x[2] + x[3])

    theirs = difference(x)  # the ones are lost
    assert theirs != exact
    for ours, agrees in ((exact, True), (theirs.item() - 1, True), (exact + 2.1 * abs(theirs.item() - exact), False)):
        result = torch.tensor(ours)
        assert comparison.is_as_exact(difference, x, result, theirs) == agrees
    assert not comparison.is_as_exact(difference, x, torch.tensor(float("nan")), theirs)
    assert not comparison.is_as_exact(difference, x.half(), torch.tensor(0.0).half(), theirs.half())
