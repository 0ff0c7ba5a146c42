"""Compiles the device mps and its operators for the installed torch, and writes them as an unpacked wheel.

    torch_mps_wheel.py FOLDER

Python needs Metalloid, as the wheel of dist/ brings it, PyTorch, and PyYAML. `wheel pack` makes the wheel (scripts/wheel.sh).
"""

from __future__ import annotations

import pathlib
import re
import shutil
import sys

import torch

import metalloid
from metalloid import _cpp_files
from metalloid.mps._plugin import building, prebuilt
from metalloid.mps._plugin.compile import Unit, Workshop
from metalloid.mps._plugin.wheel import installed

NAME = prebuilt.PACKAGE.replace("_", "-")
DESCRIPTION = "Metalloid's device mps for PyTorch, compiled"


def without_places(unit: Unit) -> Unit:
    """Messages name files as they lie in the packages, rather than where they are here."""
    home = _cpp_files.torch_mps_folder()
    places = {home: home.name, home.resolve(): home.name, installed().libraries.parent: "torch"}
    texts = dict(unit.texts)
    for place, name in places.items():
        line = re.compile(rf'(#line \d+ "){re.escape(str(place))}(?=/)')
        texts = {path: line.sub(rf"\g<1>{name}", text) for path, text in texts.items()}
    flags = (*unit.flags, *(f"-ffile-prefix-map={place}={name}" for place, name in places.items()))
    return unit._replace(flags=flags, texts=tuple(texts.items()))


def write(folder: pathlib.Path) -> pathlib.Path:
    """The unpacked wheel, below a folder."""
    release = torch.__version__.partition("+")[0]
    version = f"{metalloid.__version__}+torch{release}"
    units = {prebuilt.DEVICE: building.device_units(), prebuilt.OPERATORS: building.operator_units()}
    with Workshop() as workshop:
        libraries = {name: workshop.build(name, list(map(without_places, some))) for name, some in units.items()}

    wheel = folder / f"{prebuilt.PACKAGE}-{version}"
    package, information = wheel / prebuilt.PACKAGE, wheel / f"{prebuilt.PACKAGE}-{version}.dist-info"
    package.mkdir(parents=True)
    (information / "licenses").mkdir(parents=True)
    shutil.copy(pathlib.Path(__file__).parent.parent / "LICENSE", information / "licenses")
    (package / "__init__.py").write_text(f'"""{DESCRIPTION} for torch {release}: metalloid.mps finds it by itself."""\n')
    prebuilt.write(package, libraries)
    metadata = {
        "Metadata-Version": "2.1", "Name": NAME, "Version": version, "Summary": f"{DESCRIPTION} for torch {release}",
        "License": "Apache-2.0", "License-File": "LICENSE", "Requires-Python": ">=3.11",
    }  # fmt: skip
    requires = [f"metalloid=={metalloid.__version__}", f"torch=={release}"]
    lines = [f"{key}: {value}" for key, value in metadata.items()] + [f"Requires-Dist: {one}" for one in requires]
    (information / "METADATA").write_text("\n".join([*lines, ""]))
    tag = f"py3-none-linux_{prebuilt.identity()['the processor']}"
    lines = ["Wheel-Version: 1.0", "Generator: metalloid", "Root-Is-Purelib: false", f"Tag: {tag}"]
    (information / "WHEEL").write_text("\n".join([*lines, ""]))
    return wheel


if __name__ == "__main__":
    print(write(pathlib.Path(sys.argv[1])))
