"""docs/checker.md shows the kernels of tests/checker, what the checker says of them, and their repairs."""

import checker_page
import pytest


def test_every_class_has_its_kernel():
    shown = {(kind, file) for _, kind, file in checker_page.block.findall(checker_page.page.read_text())}
    assert {file for kind, file in shown if kind == "kernel"} == {file for kind, file in shown if kind == "report"}
    classes = {folder.name for folder in (checker_page.root / "tests/checker").iterdir() if folder.is_dir()}
    assert {file.split("/")[2] for _, file in shown} == classes - {"several", "fine"} - {"__pycache__"}


@pytest.mark.parametrize(
    "found", list(checker_page.block.finditer(checker_page.page.read_text())), ids=lambda found: f"{found[2]}-{found[3]}"
)
def test_page_is_up_to_date(found):
    """Else `python scripts/checker_page.py` writes it anew."""
    assert found[0] == found[1] + checker_page.content_of(found[2], checker_page.root / found[3])
