"""The examples of docs/coming-from-core-ai.md run as they stand there, each alone."""

import re
import warnings

import pytest
from conftest import root

pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("coreai_torch")

page = root / "docs" / "coming-from-core-ai.md"


PRINTED = ("", "kernel 'sincos': 2 of 2 results differ from torch_defn")


@pytest.mark.parametrize("number", [0, 1])
def test_the_pages_code_runs(tmp_path, capsys, number):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == len(PRINTED)
    # torch reads annotations from the file that defines a function.
    script = tmp_path / "example.py"
    script.write_text(blocks[number])
    exec(compile(script.read_text(), script, "exec"), {"__name__": "example"})
    assert PRINTED[number] in capsys.readouterr().out
