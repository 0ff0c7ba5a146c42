"""``python -m metalloid.objc``: Python programs that speak to Metal by ctypes find its libraries."""
