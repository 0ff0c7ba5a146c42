"""Times of PyTorch's CPU operators and of Metal kernels that do the same on Metalloid's devices, as JSON.

The kernels' results are compared with PyTorch's before anything is timed. Where an operator has a form that writes to
memory of the caller's, that one is timed, so that neither has to get memory from the system each time.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from cases import CASES, TorchOperators, make_case
from comparison import main
from workers import Worker


def torch_results(name, case, workers):
    (torch,) = workers
    torch.seconds(1)
    return torch.results()


if __name__ == "__main__":
    main(__doc__, CASES, make_case, lambda: [Worker("torch", TorchOperators)], torch_results)
