"""What callers may hand to kernels: checked, and made into what the C++ library binds.

``encoding`` is the way of one call's arguments; ``policy`` is where ways of calling differ; ``tensors``,
``element_types`` and ``function_constants`` know one kind each; ``numbers`` checks plain values, for all of the package.
"""
