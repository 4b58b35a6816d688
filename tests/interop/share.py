#!/usr/bin/env python3
"""share.py <library>: shares tensors with NumPy and PyTorch, whichever are there; 77 if none is."""

import ctypes
import sys

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}

library = ctypes.CDLL(sys.argv[1])
library.give.restype = ctypes.c_void_p


class Given:
    """A tensor of the library, as Python's protocol has it."""

    def __dlpack__(self, **_):
        return api.PyCapsule_New(library.give(), b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


def double(capsule):
    """Has the library double the elements of a capsule."""
    versioned = api.PyCapsule_IsValid(capsule, b"dltensor_versioned")
    name = b"dltensor_versioned" if versioned else b"dltensor"
    take = library.double_versioned if versioned else library.double_elements
    take.argtypes = [ctypes.c_void_p]
    taken = take(api.PyCapsule_GetPointer(capsule, name))
    if taken:
        api.PyCapsule_SetName(capsule, USED[name])
    return taken


def check(module, arange, max_version):
    expected = [[0, 1, 2], [3, 4, 5]]
    ours = module.from_dlpack(Given())
    assert ours.tolist() == expected, ours

    theirs = arange(6).reshape(2, 3)
    assert double(theirs.__dlpack__()) == 1
    assert theirs.tolist() == [[0, 2, 4], [6, 8, 10]], theirs
    assert double(arange(4).__dlpack__()) == 0  # another shape
    if max_version and hasattr(library, "double_versioned"):
        assert double(theirs.__dlpack__(max_version=(1, 0))) == 1
        assert theirs.tolist() == [[0, 4, 8], [12, 16, 20]], theirs
    print("shares memory with", module.__name__, module.__version__)


found = 0
try:
    import numpy

    found += 1
    newer = int(numpy.__version__.split(".")[0]) >= 2
    check(numpy, lambda n: numpy.arange(n, dtype=numpy.float32), newer)
except ModuleNotFoundError:
    pass
try:
    import torch

    found += 1
    check(torch, lambda n: torch.arange(n, dtype=torch.float32), False)
except ModuleNotFoundError:
    pass
sys.exit(0 if found else 77)
