"""Random Metal kernels, compared with an oracle that shares nothing with Metalloid: NumPy over all threads of a grid.

program.py is what a kernel is made of; generate/ makes one for a seed; metal_source.py prints it as Metal;
evaluate.py runs it with NumPy, statement by statement, with a mask of the threads that take part; compare.py runs it
on Metalloid's devices; minimise.py makes what differs small; sweep.py is the command line.
"""
