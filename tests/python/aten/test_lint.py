"""metalloid aten lint: PyTorch's rules on small folders, and on PyTorch's own file."""

import pytest

pytest.importorskip("torch")

from metalloid.aten import lint, new
from metalloid.aten.__main__ import main
from metalloid.mps._plugin import entries

OUT = "- func: {name}(Tensor self, {other}, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n{dispatch}\n"


@pytest.fixture
def found(tmp_path):
    def lint_text(text):
        file = tmp_path / "native_functions.yaml"
        file.write_text(text)
        return [(int(finding.place.rpartition(":")[2]), finding.rule) for finding in lint.lint(file)]

    return lint_text


def entry(name, dispatch, other="Tensor other"):
    return OUT.format(name=name, other=other, dispatch="\n".join(f"    {line}" for line in dispatch))


def test_overloads_that_were_left_behind(found):
    moved = entry("eq.Tensor_out", ["CPU, CUDA, MPS: eq_Tensor_out"])
    assert found(moved + entry("eq.Scalar_out", ["CPU, CUDA, MPS: eq_Scalar_out"], "Scalar other")) == []
    left = entry("eq.Scalar_out", ["CPU, CUDA: eq_Scalar_out", "MPS: eq_scalar_out_mps"], "Scalar other")
    assert found(moved + left) == [(8, "leftover")]
    none = entry("eq.Scalar_out", ["CPU, CUDA: eq_Scalar_out"], "Scalar other")
    assert found(moved + none) == [(8, "family")]


def test_a_schema_that_cannot_be_read(found):
    good = entry("eq.Tensor_out", ["CPU, CUDA, MPS: eq_Tensor_out"])
    assert found(good + entry("mine", ["CPU, MPS: mine"], "Scalr other")) == [(5, "entry")]
    assert found(good + "- func: theirs::mine(Tensor x) -> Tensor\n  dispatch:\n    CPU: mine\n") == []
    assert found(good + entry("mine", ["CPU, MPS: mine"], "Scalar other").replace("-> Tensor(a!)", "")) != []


def test_a_function_that_nobody_declares(found):
    assert found(entry("eq.Tensor_out", ["CPU, CUDA, MPS: eq_Tensor_outt"])) == [(4, "no-kernel")]


def test_an_entry_that_cannot_be_read(found):
    assert found("- func: f(Tensor self) -> Tensor\n  dispach: {}\n") == [(1, "entry")]


def test_a_wrong_dispatch_key(tmp_path, capsys):
    (tmp_path / "native_functions.yaml").write_text(entry("eq.Tensor_out", ["CPU, CUDA, MSP: eq_Tensor_out"]))
    assert main(["lint", str(tmp_path)]) == 1
    words = "native_functions.yaml:1: entry: unknown dispatch key 'MSP' of 'eq.Tensor_out'; did you mean 'MPS'?"
    assert words in capsys.readouterr().out


def test_what_it_finds_in_pytorchs_own_file_is_so():
    findings = lint.lint(None)
    assert {finding.rule for finding in findings} <= {"family", "leftover"}
    by_line = {entry.line_of_dispatch(): entry for entry in entries.wheel_entries().values()}
    for finding in findings:
        entry = by_line[int(finding.place.rpartition(":")[2])]
        if finding.rule == "family":
            assert "CPU" in entry.dispatch and "MPS" not in entry.dispatch
        else:
            assert entry.dispatch["MPS"] not in [kernel for key, kernel in entry.dispatch.items() if key != "MPS"]


@pytest.fixture
def folder(tmp_path):
    new.write("my_op", 1, tmp_path, cpp=True)
    return tmp_path


def change(folder, name, old, new_text):
    (file,) = folder.rglob(name)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new_text))


def rules(folder):
    return {finding.rule for finding in lint.lint(folder)}


def test_a_complete_folder_has_nothing(folder, capsys):
    assert main(["lint", str(folder)]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "file, old, text, rule",
    [
        ("my_op.cpp", "TORCH_IMPL_FUNC(my_op_out)", "TORCH_IMPL_FUNC(my_op_other)", "no-kernel"),
        ("my_op.cpp", "REGISTER_MPS_DISPATCH(my_op_stub", "REGISTER_MPS_DISPATCH(my_opp_stub", "no-stub"),
        ("my_op.cpp", "REGISTER_MPS_DISPATCH(my_op_stub", "REGISTER_MPS_DISPATCH(my_opp_stub", "idle-stub"),
        ("my_op.cpp", 'exec_unary_kernel(iter, "my_op")', 'exec_unary_kernel(iter, "my_opp")', "no-metal"),
    ],
)
def test_parts_that_do_not_meet(folder, capsys, file, old, text, rule):
    for candidate in folder.rglob(file):
        if old in candidate.read_text():
            candidate.write_text(candidate.read_text().replace(old, text))
    assert rule in rules(folder)
    assert main(["lint", str(folder)]) == 1
    assert f": {rule}: " in capsys.readouterr().out


COMMENTS = """\
// REGISTER_MPS_DISPATCH(of_nobody_stub, &nothing) \\
   REGISTER_MPS_DISPATCH(of_the_next_line_stub, &nothing)
/* lib.exec_unary_kernel(iter, "nothing");
   REGISTER_MPS_DISPATCH(of_no_file_stub, &nothing) */
static const char* text = "/* no comment"; // "
static const char* raw = R"x(// no comment ")x"; static const char quote = '"'; static const int number = 1'000'000; // '
"""


def test_comments_are_not_read(folder):
    (host,) = folder.rglob("operations/my_op.cpp")
    code = host.read_text()
    host.write_text(COMMENTS + code)
    assert rules(folder) == set()
    # Nor is a registration that is a comment one.
    host.write_text(COMMENTS + code.replace("REGISTER_MPS_DISPATCH", "// REGISTER_MPS_DISPATCH"))
    assert rules(folder) == {"no-stub"}
    # What stands behind strings that look like comments is found, with its line.
    host.write_text(COMMENTS + 'REGISTER_MPS_DISPATCH(other_stub, &nothing)\n' + code)
    (finding,) = lint.lint(folder)
    assert finding.rule == "idle-stub" and finding.place == f"{host}:{COMMENTS.count(chr(10)) + 1}"


def test_metal_in_comments_is_not_read(folder):
    change(folder, "my_op.metal", "REGISTER_UNARY_OP", "// REGISTER_UNARY_OP")
    change(folder, "my_op.metal", "struct my_op_functor", "// my_op_functor\nstruct other_functor")
    assert rules(folder) == {"no-metal"}
