"""Registrations and headers from native_functions.yaml."""

import re
import textwrap

import pytest

pytest.importorskip("torch")

from metalloid import _cpp_files
from metalloid.mps._plugin import entries, generate

ATAN2 = """
    - func: atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
      structured: True
      structured_inherits: TensorIteratorBase
      dispatch:
        CPU, CUDA, MPS: {kernel}
    """
NEW = """
    - func: tanh_shrink(Tensor self) -> Tensor
      structured_delegate: tanh_shrink.out

    - func: tanh_shrink.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
      structured: True
      structured_inherits: TensorIteratorBase
      dispatch:
        CPU, MPS: tanh_shrink_out

    - func: halve(Tensor self, int times=1) -> Tensor
      dispatch:
        MPS: halve_mps
      autogen: halve.out
    """


@pytest.fixture
def make(tmp_path):
    """Generates from the text of a file."""

    def make_from(text, *operators):
        file = tmp_path / "native_functions.yaml"
        file.write_text(textwrap.dedent(text))
        return generate.generate([file], operators)

    return make_from


def registered(made, key="MPS"):
    text = "".join(made.sources.values())
    blocks = re.findall(r"Registrations \w+\([^\n]*DispatchKey::(\w+),[^\n]*\{(.*?)\n\}\);", text, re.S)
    return {name for of, body in blocks if of == key for name in re.findall(r'm\.impl\("([^"]+)"', body)}


def header(made, name):
    return made.headers[f"ATen/ops/{name}"]


def test_a_structured_entry_brings_the_functional_and_the_in_place_function(make):
    made = make(ATAN2.format(kernel="atan2_out"))
    assert registered(made) == {"atan2", "atan2_", "atan2.out"}
    assert not made.headers, "the wheel declares the function that MPS shares with the CPU"
    (function,) = made.functions
    assert function.kernel == "at::native::structured_atan2_out" and not function.own
    assert function.place.endswith("native_functions.yaml:2")


def test_a_kernel_of_its_own_is_declared_in_a_header_around_the_wheels(make):
    made = make(ATAN2.format(kernel="atan2_out_mps"))
    text = header(made, "atan2_native.h")
    assert "#include_next <ATen/ops/atan2_native.h>" in text
    assert "struct TORCH_API structured_atan2_out_mps : public at::meta::structured_atan2 {" in text
    assert "structured_atan2_out :" not in text
    assert made.functions[0].own


def test_an_operator_that_the_wheel_does_not_know(make):
    made = make(NEW)
    assert made.new_operators == ["halve", "halve.out", "tanh_shrink", "tanh_shrink.out"]
    assert registered(made) == {"halve", "tanh_shrink", "tanh_shrink.out"}
    assert registered(made, "CPU") == registered(made, "Meta") == {"tanh_shrink", "tanh_shrink.out"}
    assert registered(made, "CompositeExplicitAutograd") == {"halve.out"}
    text = "".join(made.sources.values())
    assert 'm.def("halve(Tensor self, int times=1) -> Tensor"' in text
    assert "struct TORCH_API structured_tanh_shrink : public TensorIteratorBase {" in header(made, "tanh_shrink_meta.h")
    assert "TORCH_API at::Tensor halve_mps(const at::Tensor & self, int64_t times=1);" in header(made, "halve_native.h")
    assert "inline at::Tensor halve(const at::Tensor & self, int64_t times=1)" in header(made, "halve.h")


def test_a_new_overload_of_an_operator_that_the_wheel_knows(make):
    made = make("""
        - func: atan2.Scalar(Tensor self, Scalar other) -> Tensor
          dispatch:
            MPS: atan2_scalar_mps
        """)
    assert registered(made) == {"atan2.Scalar"} and made.new_operators == ["atan2.Scalar"]
    assert "#include_next <ATen/ops/atan2_ops.h>" in header(made, "atan2_ops.h")
    assert "atan2_scalar_mps" in header(made, "atan2_native.h")
    assert "ATen/ops/atan2_meta.h" not in made.headers


@pytest.fixture
def table(tmp_path):
    """Writes a table of kernels."""

    def write(text):
        (tmp_path / entries.TABLE).write_text(text)
        return tmp_path / entries.TABLE

    return write


def test_a_line_of_a_table_is_pytorchs_entry_with_another_kernel(make, table):
    made = generate.generate([table("# Two numbers.\natan2.out: atan2_out_mps\n")])
    whole = make(ATAN2.format(kernel="atan2_out_mps"))
    assert (made.sources, made.headers) == (whole.sources, whole.headers) and not made.notes
    assert made.functions[0].place.endswith(f"{entries.TABLE}:2")


def test_a_table_may_name_what_the_installed_pytorch_lacks(table):
    made = generate.generate([table("atan2.out: atan2_out\ntanh_shrink.out: tanh_shrink_out\n")])
    assert registered(made) == {"atan2", "atan2_", "atan2.out"} and not made.new_operators
    assert len(made.notes) == 1 and f"{entries.TABLE}:2: 'tanh_shrink.out' is left out" in made.notes[0]


def test_a_table_names_a_function_once(table):
    with pytest.raises(generate.YamlError, match=r"yaml:2: 'atan2.out' stands in .*yaml:1 already"):
        generate.generate([table("atan2.out: atan2_out\natan2.out: atan2_out_mps\n")])


def test_all_that_metalloids_table_names_is_the_installed_pytorchs():
    file, notes = _cpp_files.torch_mps_folder() / "operators" / entries.TABLE, []
    assert len(entries.read(file.read_text(), str(file), notes)) > 400 and not notes


def wheels_text():
    return (entries.wheel_folder() / "packaged/ATen/native/native_functions.yaml").read_text()


def test_all_that_pytorch_has_for_mps(tmp_path):
    text = wheels_text()
    (tmp_path / "native_functions.yaml").write_text(text)
    known = entries.wheel_entries().values()
    operators = {entry.base_name for entry in known if "MPS" in entry.dispatch}
    made = generate.generate([tmp_path / "native_functions.yaml"], sorted(operators))
    assert {function.name for function in made.functions} == {entry.name for entry in known if "MPS" in entry.dispatch}
    delegates = {
        entry.name for entry in known
        if "MPS" in getattr(entries.wheel_entries().get(entry.data.get("structured_delegate")), "dispatch", ())
    }  # fmt: skip
    assert registered(made) == {function.name for function in made.functions} | delegates
    assert not made.new_operators and len(made.sources) > 4


def test_of_pytorchs_whole_file_what_differs_counts(make):
    text = wheels_text()
    assert text.count("MPS: cumsum_out_mps") == 1
    made = make(text.replace("MPS: cumsum_out_mps", "MPS: cumsum_out_new_mps"))
    assert registered(made) == {"cumsum", "cumsum_", "cumsum.out"}
    assert {function.name for function in make(text, "atan2", "aten::cumsum.out").functions} == {
        "atan2.out", "cumsum.out",
    }  # fmt: skip


def test_of_another_versions_file_other_schemas_are_left_out(make):
    text = wheels_text().replace("MPS: cumsum_out_mps", "MPS: cumsum_out_new_mps")
    made = make(text.replace("- func: exp.out(Tensor self,", "- func: exp.out(Tensor self, int times,"))
    assert registered(made) == {"cumsum", "cumsum_", "cumsum.out"}
    assert len(made.notes) == 1 and "'exp.out' is left out" in made.notes[0]


def test_the_result_is_kept_by_content(make, monkeypatch):
    made = make(NEW)
    monkeypatch.setattr(entries, "choose", lambda *_: pytest.fail("it was made already"))
    assert make(NEW) == made
    with pytest.raises(pytest.fail.Exception):
        make(NEW.replace("halve", "third"))


def test_a_unit_has_the_headers_that_it_includes_and_no_others(make):
    made = make(NEW + ATAN2.format(kernel="atan2_out_mps"))
    (unit,) = (unit for unit in made.units() if unit.source.name == "RegisterNew_0.cpp")
    names = dict(unit.texts)
    assert {"RegisterNew_0.cpp", "ATen/ops/tanh_shrink_native.h", "ATen/ops/tanh_shrink_meta.h"} <= set(names)
    assert "ATen/ops/atan2_native.h" not in names


@pytest.mark.parametrize(
    "text, line, words",
    [
        ("- func: [", 2, "this is not YAML"),
        ("func: atan2", 1, "a list of entries is expected"),
        ("- dispatch:\n    MPS: x\n", 1, "no 'func:'"),
        ("- func: f(Tensor self) -> Tensor\n  dispach:\n    MPS: f_mps\n", 1,
         "unknown key 'dispach' of 'f'; did you mean 'dispatch'?"),
        ("\n- func: f(Tensor self) -> Tensor\n  dispatch: MPS\n", 2, "is no table of dispatch keys and kernels"),
        ("- func: f(Tensor self -> Tensor\n  dispatch:\n    MPS: f_mps\n", 1, "does not accept it"),
        ("- func: f(Tensr self) -> Tensor\n  dispatch:\n    MPS: f_mps\n", 1, "unrecognized type Tensr"),
        ("- func: f(Tensor self) -> Tensor\n  dispatch:\n    MSP: f_mps\n", 1, "unknown dispatch key 'MSP' of 'f'; did you mean 'MPS'?"),
        ("- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n  dispatch:\n    SparseMPS: g\n", 1, "f.out is missing"),
        ("- func: exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU, CUDA: exp_out\n", 1,
         "no entry names MPS"),
        ("- func: exp.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    MPS: exp_out\n", 1,
         "another schema than in the installed PyTorch"),
        ("- func: f(Tensor self) -> Tensor\n  dispatch:\n    MPS: g\n- func: f(Tensor x) -> Tensor\n", 4, "stands in line 1 already"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(make, tmp_path, text, line, words):
    with pytest.raises(generate.YamlError) as error:
        make(text)
    assert f"{tmp_path / 'native_functions.yaml'}:{line}: " in str(error.value) and words in str(error.value)


def test_an_operator_without_a_kernel_for_mps(make):
    text = ATAN2.replace(", MPS", "").format(kernel="atan2_out")
    with pytest.raises(generate.YamlError, match=r"yaml:6: 'atan2.out' has no kernel for MPS: its dispatch is CPU: atan2_out"):
        make(text, "atan2")
    with pytest.raises(generate.YamlError, match="no entry for 'atan3'; did you mean 'atan2'"):
        make(text, "atan3")


def test_all_problems_are_told_at_once(make):
    with pytest.raises(generate.YamlError) as error:
        make("- func: f(Tensr self) -> Tensor\n- func: g(Tensr self) -> Tensor\n  dispatch:\n    MPS: h\n")
    assert len(error.value.problems) == 2
