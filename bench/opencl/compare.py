"""Times of the same kernels in Metal on Metalloid's devices and in OpenCL C on this machine's CPU runtimes, as JSON.

Every result is compared with NumPy's before anything is timed. This process loads no Metalloid: its threading library
and that of an OpenCL runtime may have the same name.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from cases import CASES, make_case
from comparison import main
from runtimes import OpenClPlatform, platforms
from workers import Worker


def workers() -> list[Worker]:
    return [Worker(name, OpenClPlatform, own_name) for name, own_name in platforms().items()]


if __name__ == "__main__":
    main(__doc__, CASES, make_case, workers, lambda _, case, __: case.expected())
