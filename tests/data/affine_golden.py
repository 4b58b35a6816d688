# Prints the cases of augment.cpp, made by SciPy as Keras's apply_affine_transform calls it:
#   python3 affine_golden.py
import numpy as np
from scipy.ndimage import affine_transform

HEIGHT, WIDTH = 5, 7
IMAGE = np.array([(i * 37 + i * i * 11) % 251 for i in range(HEIGHT * WIDTH)], float).reshape(HEIGHT, WIDTH)


# (Keras takes the middle of a square, whatever the image.)
def keras(theta, down, right, shear, rows, columns, mode, value):
    t, s = np.deg2rad(theta), np.deg2rad(shear)
    m = np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])
    m = m @ np.array([[1, 0, right], [0, 1, down], [0, 0, 1]])
    m = m @ np.array([[1, -np.sin(s), 0], [0, np.cos(s), 0], [0, 0, 1]])
    m = m @ np.diag([columns, rows, 1])
    m = m[[1, 0, 2]][:, [1, 0, 2]]  # Keras's coordinates are x and y
    y, x = HEIGHT / 2 - 0.5, WIDTH / 2 - 0.5
    m = np.array([[1, 0, y], [0, 1, x], [0, 0, 1]]) @ m @ np.array([[1, 0, -y], [0, 1, -x], [0, 0, 1]])
    return affine_transform(IMAGE, m[:2, :2], m[:2, 2], order=1, mode=mode, cval=value)


for case in [
    (30, 0, 0, 0, 1, 1, "nearest", 0),
    (0, 1.25, -2.5, 0, 1, 1, "reflect", 0),
    (-20, 0.5, 1, 15, 0.8, 1.3, "nearest", 0),
    (10, -1, 0.25, -10, 1.2, 0.7, "grid-constant", 9),
    (45, 2, 3, 20, 1.5, 1.5, "grid-wrap", 0),
]:
    image = keras(*case)
    name = case[6].removeprefix("grid-")
    print(f"    {{{{{', '.join(str(n) for n in case[:6])}, fill_mode::{name}, {case[7]}}},")
    print("     {" + ", ".join(f"{v:.4f}" for v in image.flatten()) + "}},")
