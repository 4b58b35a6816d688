# Prints the rows of the tables in resize.cpp, the digest of the grey image, and the rows of the table
# in part.cpp, made by Pillow:
#   pip install pillow==13.0.0 numpy && python3 resize_golden.py
from pathlib import Path

import numpy as np
from PIL import Image

KINDS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "area": Image.Resampling.BOX,
}
# As PIL.ImageOps.exif_transpose does.
ORIENTATIONS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
# width, height, channels, resized width and height, part (left, upper, right, lower)
CASES = [
    (23, 17, 3, 8, 8, None),
    (23, 17, 3, 40, 31, None),
    (23, 17, 1, 23, 9, None),
    (50, 40, 3, 7, 40, None),
    (64, 48, 3, 32, 32, (8, 0, 56, 48)),
    (31, 29, 1, 64, 10, (3, 5, 20, 27)),
    (1, 1, 3, 5, 4, None),
    (500, 333, 3, 224, 224, None),
]


def some_bitmap(width, height, channels):
    """That of bitmaps.hpp."""
    i = np.arange(width * height * channels, dtype=np.uint64)
    pixels = ((i * 37 + i * i * 11) % 251).astype("uint8").reshape(height, width, channels)
    return Image.fromarray(pixels[..., 0] if channels == 1 else pixels)


def digest(image):
    """FNV-1a."""
    h = 0xCBF29CE484222325
    for byte in image.tobytes():
        h = ((h ^ byte) * 0x100000001B3) & (2**64 - 1)
    return f"0x{h:016x}"


for width, height, channels, to_width, to_height, box in CASES:
    image = some_bitmap(width, height, channels)
    left, upper, right, lower = box or (0, 0, width, height)
    part = f"{{{left}, {upper}, {right - left}, {lower - upper}}}"
    for name, kind in KINDS.items():
        result = digest(image.resize((to_width, to_height), kind, box=box))
        print(f"    {{{width}, {height}, {channels}, {to_width}, {to_height}, {part}, {name}, {result}}},")
image = some_bitmap(23, 17, 3)
for number, transposed in ORIENTATIONS.items():
    print(f"    {{{number}, {digest(image.transpose(transposed))}}},")
print(digest(image.convert("L")))
for name in ("baseline", "progressive", "grey", "restart"):
    for size in ((8, 6), (5, 3), (4, 2), (2, 1)):
        image = Image.open(Path(__file__).parent / f"../fuzz/seeds/image/{name}.jpg")
        image.draft(None, size)
        print(f'    {{"{name}", {size[0]}, {size[1]}, {digest(image.convert("RGB"))}}},')
