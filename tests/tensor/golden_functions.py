#!/usr/bin/env python3
"""Writes golden_functions.hpp: what NumPy computes of the numbers of functions.cpp."""

from pathlib import Path

import numpy as np

x = np.sin(np.arange(24.0)).reshape(2, 3, 4)
a = np.cos(np.arange(9.0)).reshape(3, 3)
spd = a @ a.T + np.eye(3)
b = np.arange(1.0, 4.0)
m = np.sin(np.arange(12.0)).reshape(3, 4)
goldens = {
    "clipped": np.clip(x, -0.5, 0.25),
    "variance_all": np.var(x),
    "variance_1": np.var(x, axis=1),
    "deviation_02": np.std(x, axis=(0, 2)),
    "norm_all": np.linalg.norm(x.ravel()),
    "norm_2": np.linalg.norm(x, axis=2),
    "outer_product": np.outer(b, a[0]),
    "factor": np.linalg.cholesky(spd),
    "solution": np.linalg.solve(a + 2 * np.eye(3), b),
    "solutions": np.linalg.solve(a + 2 * np.eye(3), m),
    "sorted_rows": np.sort(x),
    "sorting": np.argsort(x, kind="stable"),
    "largest": -np.sort(-x)[..., :2],
    "sums_so_far": np.cumsum(x, axis=2),
    "einsum_product": np.einsum("bij,kj->bik", x, m),
    "einsum_trace": np.einsum("ii->", a),
    "einsum_diagonal": np.einsum("ii->i", a),
    "einsum_weighted": np.einsum("bij,i,j->b", x, b, m[0]),
    "einsum_turned": np.einsum("bij->jbi", x),
}

lines = ["// Results of NumPy, written by golden_functions.py.", "#pragma once", "",
         "#include <vector>", "", "namespace golden {", ""]
for name, values in goldens.items():
    numbers = ", ".join(repr(float(v)) for v in np.ravel(values))
    lines.append(f"inline std::vector<double> const {name}{{{numbers}}};")
lines += ["", "} // namespace golden", ""]
(Path(__file__).parent / "golden_functions.hpp").write_text("\n".join(lines))
