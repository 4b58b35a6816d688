#!/usr/bin/env python3
"""Writes golden_functions.hpp: what NumPy computes of the numbers of functions.cpp."""

from pathlib import Path

import numpy as np

x = np.sin(np.arange(24.0)).reshape(2, 3, 4)
a = np.cos(np.arange(9.0)).reshape(3, 3)
spd = a @ a.T + np.eye(3)
b = np.arange(1.0, 4.0)
m = np.sin(np.arange(12.0)).reshape(3, 4)
holed = np.where(np.arange(24).reshape(2, 3, 4) % 5 == 3, np.nan, x)
tall = np.sqrt(np.arange(12.0)).reshape(4, 3) + np.eye(4, 3)
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
    "sums_so_far_0": np.cumsum(x, axis=0),
    "sums_so_far_1": np.cumsum(x, axis=1),
    "sorted_0": np.sort(x, axis=0),
    "sorting_1": np.argsort(x, axis=1, kind="stable"),
    "largest_1": -np.sort(-x, axis=1)[:, :2],
    "einsum_product": np.einsum("bij,kj->bik", x, m),
    "einsum_trace": np.einsum("ii->", a),
    "einsum_diagonal": np.einsum("ii->i", a),
    "einsum_weighted": np.einsum("bij,i,j->b", x, b, m[0]),
    "einsum_turned": np.einsum("bij->jbi", x),
    "floors": np.floor(4 * x),
    "ceilings": np.ceil(4 * x),
    "rounded": np.round(4 * x),
    "rounded_halves": np.round(np.arange(-3, 4) / 2),
    "spaced": np.linspace(-0.3, 1.1, 7),
    "log_of_sums": np.logaddexp.reduce(300 * x, axis=1),
    "quantile_all": np.quantile(x, 0.3),
    "quantiles_1": np.quantile(x, 0.3, axis=1),
    "quantiles_02": np.quantile(x, 0.85, axis=(0, 2)),
    "medians_0": np.median(x, axis=0),
    "medians_1": np.median(x, axis=1),
    "covariances": np.cov(m),
    "correlations": np.corrcoef(m),
    "products_so_far": np.cumprod(x, axis=2),
    "products_so_far_0": np.cumprod(x, axis=0),
    "products_so_far_1": np.cumprod(x, axis=1),
    "kron_of_matrices": np.kron(a, m),
    "kron_of_vectors": np.kron(b, a[0]),
    "nansum_1": np.nansum(holed, axis=1),
    "nanmean_02": np.nanmean(holed, axis=(0, 2)),
    "nanmin_0": np.nanmin(holed, axis=0),
    "nanmax_2": np.nanmax(holed, axis=2),
    "qr_q": np.linalg.qr(tall)[0],
    "qr_r": np.linalg.qr(tall)[1],
    "qr_q_wide": np.linalg.qr(tall.T)[0],
    "qr_r_wide": np.linalg.qr(tall.T)[1],
    "least_squares": np.linalg.lstsq(tall, m.T, rcond=None)[0],
    "least_squares_of_vector": np.linalg.lstsq(tall, m[0], rcond=None)[0],
    "eigenvalues": np.linalg.eigh(spd)[0],
    "eigenvector_sizes": np.abs(np.linalg.eigh(spd)[1]),
    "singular_values": np.linalg.svd(tall)[1],
    "left_sizes": np.abs(np.linalg.svd(tall, full_matrices=False)[0]),
    "right_sizes": np.abs(np.linalg.svd(tall, full_matrices=False)[2]),
    "inverted": np.linalg.inv(a + 2 * np.eye(3)),
    "determinants": np.linalg.det(np.stack([a + 2 * np.eye(3), 3 * a - np.eye(3)])),
    "traced": np.trace(a),
    "vector_products": np.cross(x[:, :, :3], b),
    "vector_product": np.cross(a[0], b),
    "lower": np.tril(m),
    "lower_1": np.tril(x, 1),
    "upper": np.triu(x, -1),
    "differences": np.diff(x),
    "differences_0": np.diff(x, axis=0),
    "taken_along": np.take_along_axis(m, np.array([[2, 0, 1, 1], [0, 0, 2, 1]]), 0),
    "any_large": np.any(x > 0.9, axis=2),
    "all_small": np.all(x < 0.95, axis=(0, 2)),
    "flipped": np.flip(x, 1),
    "flipped_rows": np.flip(x, 2),
    "rolled": np.roll(x, 5, 2),
    "rolled_back": np.roll(x, -1, 0),
    "taken": np.take(x, [[2, 0], [1, 2]], 1),
    "taken_last": np.take(x, [3, 3, 0], 2),
    "tiled": np.tile(x, (1, 2, 3)),
    "repeated": np.repeat(x, 2, 1),
    "repeated_last": np.repeat(x, 3, 2),
    "padded": np.pad(x, ((0, 0), (2, 1), (0, 0))),
    "padded_rows": np.pad(x, ((1, 0), (0, 0), (0, 3)), constant_values=-0.5),
}

lines = ["// Results of NumPy, written by golden_functions.py.", "#pragma once", "",
         "#include <vector>", "", "namespace golden {", ""]
for name, values in goldens.items():
    numbers = ", ".join(repr(float(v)) for v in np.ravel(values))
    lines.append(f"inline std::vector<double> const {name}{{{numbers}}};")
lines += ["", "} // namespace golden", ""]
(Path(__file__).parent / "golden_functions.hpp").write_text("\n".join(lines))
