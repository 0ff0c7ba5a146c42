"""Writes metalloid-VERSION.dist-info into a build folder, from pyproject.toml.

    write_metadata.py FOLDER

By it programs see what the package offers them where nothing was installed: pytest its plugin, pip and importlib.metadata
its version.
"""

import pathlib
import shutil
import sys
import tomllib


def write(folder: pathlib.Path) -> None:
    file = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
    project = tomllib.loads(file.read_text())["project"]
    for before in folder.glob(f"{project['name']}-*.dist-info"):
        shutil.rmtree(before)
    information = folder / f"{project['name']}-{project['version']}.dist-info"
    information.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
    (information / "METADATA").write_text("\n".join([*lines, f"Summary: {project['description']}", ""]))
    (information / "INSTALLER").write_text("build folder\n")
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    sections = ("\n".join([f"[{group}]", *(f"{name} = {place}" for name, place in found.items()), ""]) for group, found in groups.items())
    (information / "entry_points.txt").write_text("\n".join(sections))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
