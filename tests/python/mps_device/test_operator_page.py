"""What scripts/operator_page.py makes of results: the page of docs/, and the table by operator."""

import operator_page
from conftest import root
from expected_failures import Excuse


def result(op, dtype="float32", right=2, **counts):
    return {"op": op, "dtype": dtype, "compared": {"output": 2}, "right": {"output": right}, "problems": {}, **counts}


ABOUT = {"operators": dict.fromkeys(("add", "fft", "mode", "view")), "own": ["aten::add.Tensor"], "torch": "2"}
RESULTS = {
    (one["op"], one["dtype"]): one
    for one in (
        result("add", right=1, metal=2, calls=2, overloads={"aten::add.Tensor": (2, 2)}),
        result("add", "int64", metal=2, calls=2),
        result("fft", mixed=1, fallen=1, calls=2, fallbacks={"aten::_fft_r2c": 2}),
        result("mode", fallen=2, calls=2, fallbacks={"aten::mode": 2}),
        result("view"),
        result("gone", fallen=2, fallbacks={"aten::gone": 2}),  # another release of PyTorch had it
    )
}
EXCUSES = [Excuse(frozenset({"add"}), frozenset({"float32"}), frozenset({"output"}), "rounded twice", False)]


def test_the_page_has_totals_and_what_differs():
    page = operator_page.page(ABOUT, RESULTS, EXCUSES, ["aten::mode"], "make test-operators OPTIONS=--publish")
    assert "| results | 10 | 9 | 1 |" in page
    assert "registered for MPS with Metal kernels (`torch_mps/operators/mps_dispatch.yaml`) | 1 |" in page
    assert "| seen to fall back to the CPU | 2 |" in page
    assert "The CPU computes 1 operators, over the same memory: `mode`." in page
    assert "It computes 1 in part, or for some types or samples: `fft`." in page
    assert page.endswith("| `add` | float32 | output | rounded twice |\n")
    assert "not explained yet" not in page


def test_the_page_counts_what_nobody_explains():
    assert "1 operators and types are wrong and not explained yet" in operator_page.page(ABOUT, RESULTS, [], [], "")


def test_the_table_has_each_operator():
    table = operator_page.table(ABOUT, RESULTS)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    shown = {row[0]: (dict(zip(operator_page.DTYPES.values(), row[1:-1], strict=True)), row[-1]) for row in rows}
    none = dict.fromkeys(operator_page.DTYPES.values(), "")
    assert shown == {
        "`add`": ({**none, "f32": "Mx", "i64": "M"}, ""),
        "`fft`": ({**none, "f32": "m"}, "_fft_r2c"),
        "`mode`": ({**none, "f32": "c"}, "mode"),
        "`view`": ({**none, "f32": "v"}, ""),
    }
    assert table.endswith("- `add`: Tensor\n")


def test_the_published_page_has_this_form():
    page = operator_page.page(ABOUT, RESULTS, EXCUSES, [], "")
    published = (root / "docs" / "operators.md").read_text()
    titles = [[line for line in text.splitlines() if line.startswith("#")] for text in (page, published)]
    assert titles[0] == titles[1]
