#!/usr/bin/env python3
"""torch_loader.py FOLDER

The input of bench_loader's training_input by PyTorch's DataLoader and torchvision: a random part of
224 x 224, flip, normalisation, batches of 64, with 1 and 2 workers, from the files that bench_loader
made in FOLDER. Prints images per second, and the milliseconds of all processes for an image; Pillow
decodes, and again torchvision itself ("io").
"""
import resource
import sys
import time

import torch
from torch.utils.data import DataLoader
from torchvision import io
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
FROM_PILLOW = v2.Compose([
    v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(), v2.PILToTensor(),
    v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)])
FROM_TENSOR = v2.Compose([
    v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip(),
    v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)])


def processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def measure(name, data, workers, epochs=6):
    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=workers)
    sum(len(labels) for _, labels in loader)  # the files are in memory from here on
    begin, used = time.perf_counter(), processor_seconds()
    images = sum(len(labels) for _ in range(epochs) for _, labels in loader)
    seconds, used = time.perf_counter() - begin, processor_seconds() - used
    print(f"{name:8} workers:{workers} {images / seconds:8.0f} images/s "
          f"{1e3 * used / images:6.2f} ms of processors for each")


def main(folder):
    torch.set_num_threads(1)
    for workers in (1, 2):
        measure("pillow", ImageFolder(folder, FROM_PILLOW), workers)
        try:
            by_io = ImageFolder(folder, FROM_TENSOR, loader=lambda file: io.decode_jpeg(
                io.read_file(file)))
            measure("io", by_io, workers)
        except RuntimeError as e:  # torchvision without its own decoder
            print("io: skipped:", str(e).splitlines()[0])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
