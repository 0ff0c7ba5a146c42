"""Several sources as one: what they include and instantiate together takes most of a compiler's time.

Which batch a file is in depends on its name alone, so that a new file moves no other, and a change compiles one batch.
Names of anonymous namespaces meet within a batch. ``lib`` does not (shaders.py).
"""

from __future__ import annotations

import pathlib
import zlib
from collections import defaultdict
from collections.abc import Sequence

from .compile import Unit

SIZE = 24_000  # bytes of sources in a batch, about: a few seconds


def in_batches(units: Sequence[Unit]) -> list[Unit]:
    """Files that are compiled in the same way, together."""
    alike: dict[tuple[object, ...], list[Unit]] = defaultdict(list)
    for unit in units:
        alike[unit.include, unit.flags, unit.compiler].append(unit)
    return [batch for members in alike.values() for batch in _batches(members)]


def _batches(units: Sequence[Unit]) -> list[Unit]:
    count = _count(units)
    members: dict[int, list[Unit]] = defaultdict(list)
    for unit in sorted(units):
        members[zlib.crc32(unit.source.name.encode()) % count].append(unit)
    return [_batch(number, members[number]) for number in sorted(members)]


def _count(units: Sequence[Unit]) -> int:
    """A power of two: it stays as sizes change a little."""
    count = 1
    while 2 * count * SIZE <= sum(unit.size for unit in units):
        count *= 2
    return count


def _batch(number: int, units: Sequence[Unit]) -> Unit:
    if len(units) == 1:
        return units[0]
    name = f"Batch_{number}.cpp"
    texts = {path: text for unit in units for path, text in unit.texts}
    texts[name] = "".join(f'#include "{unit.source}"\n#undef lib\n' for unit in units)
    return units[0]._replace(
        source=pathlib.Path(name), texts=tuple(texts.items()), files=tuple(unit.source for unit in units)
    )
