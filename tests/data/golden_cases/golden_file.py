"""A file of golden values: named tensors, and a note per case that says what was computed."""

import json
import zlib

import torch
from safetensors import safe_open
from safetensors.torch import save_file


class GoldenFile:
    def __init__(self):
        self.tensors = {}
        self.notes = {}

    def begin(self, case, note=""):
        """Seeds by the case's name, so that a new case leaves the random numbers of the others."""
        self.notes[case] = note
        torch.manual_seed(zlib.crc32(case.encode()))

    def put(self, case, **tensors):
        for name, tensor in tensors.items():
            self.put_named(f"{case}/{name}", tensor)

    def put_named(self, name, tensor):
        """Copies, as later steps may write to the same memory. Scalars become shape (1)."""
        assert name not in self.tensors, name
        shape = tensor.shape or (1,)
        self.tensors[name] = tensor.detach().clone().reshape(shape).contiguous()

    def put_gradients(self, case, output, inputs):
        """Records inputs, output and the gradients of sum(output * grad_output)."""
        grad_output = torch.randn_like(output)
        gradients = torch.autograd.grad(output, list(inputs.values()), grad_output)
        self.put(case, **inputs, output=output, grad_output=grad_output)
        self.put(case, **{f"grad_{name}": g for name, g in zip(inputs, gradients)})

    def save(self, path):
        # One metadata entry: the writer orders several at random.
        notes = json.dumps({"torch": torch.__version__, "cases": self.notes}, sort_keys=True)
        save_file(self.tensors, path, metadata={"golden": notes})

    def differences(self, path):
        """Lines that say where the file at path differs by more than rounding."""
        lines = []
        with safe_open(path, framework="pt") as file:
            stored = {name: file.get_tensor(name) for name in file.keys()}
        for name in sorted(stored.keys() ^ self.tensors.keys()):
            lines.append(f"{name}: only in {'the file' if name in stored else 'the script'}")
        for name in sorted(stored.keys() & self.tensors.keys()):
            old, new = stored[name], self.tensors[name]
            # Over the steps of a training curve rounding grows 100 000-fold.
            rtol, atol = (5e-2, 1e-6) if old.dtype == torch.float32 else (1e-8, 1e-11)
            if old.shape != new.shape or old.dtype != new.dtype:
                lines.append(f"{name}: {old.dtype} {tuple(old.shape)} in the file, "
                             f"{new.dtype} {tuple(new.shape)} regenerated")
            elif not torch.allclose(old, new, rtol=rtol, atol=atol, equal_nan=True):
                worst = (old.double() - new.double()).abs().max().item()
                lines.append(f"{name}: differs by up to {worst:g}")
        return lines
