"""The example of docs/coming-from-core-ai.md runs as it stands there."""

import re
import warnings

import pytest
from conftest import root

pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("coreai_torch")

page = root / "docs" / "coming-from-core-ai.md"


def test_the_pages_code_runs(tmp_path, capsys):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == 2
    # torch reads annotations from the file that defines a function.
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks))
    exec(compile(script.read_text(), script, "exec"), {"__name__": "example"})
    assert "kernel 'sincos': 2 of 2 results differ from torch_defn" in capsys.readouterr().out
