// Initial values of parameters: a function of the seed, the parameter's number and the element, in
// logical order, so that they do not depend on the device.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/graph/parameter.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace castnet::detail {

struct fans {
    double in, out;
};

// Fan-in and fan-out as in Keras and PyTorch.
inline fans fans_of(parameter const& p) {
    if (p.shape.rank < 2) {
        double const n = p.count();
        return {n, n};
    }
    int const out = p.shape.extent[0], in = p.shape.extent[1];
    double const field = double(p.count()) / out / in;
    return {in * field, out * field};
}

// Random words to values of an initializer: uniform in [-limit, limit], normal with this deviation,
// or constant.
struct distribution {
    double limit = 0, deviation = 0, constant = 0;

    [[gnu::noinline]] double operator()(philox_block const& w) const {
        if (limit != 0) {
            double const u = double(w.x0 >> 6) * 134217728.0 + double(w.x1 >> 5);
            return limit * (2 * (u / 9007199254740992.0) - 1);
        }
        if (deviation != 0) { // Box & Muller 1958
            double const u = (double(w.x0) + 1) / 4294967296.0, v = double(w.x1) / 4294967296.0;
            double const z = std::sqrt(-2 * std::log(u)) * std::cos(6.28318530717958647692 * v);
            return deviation * z;
        }
        return constant;
    }
};

[[gnu::noinline]] inline distribution distribution_of(parameter const& p) {
    fans const fan = fans_of(p);
    auto const value = static_cast<double>(p.start.value);
    switch (p.start.kind) {
    case initial::zeros:
        return {};
    case initial::ones:
        return {.constant = 1};
    case initial::constant:
        return {.constant = value};
    case initial::uniform:
        return {.limit = value};
    case initial::normal:
        return {.deviation = value};
    case initial::glorot_uniform:
        return {.limit = std::sqrt(6 / (fan.in + fan.out))};
    case initial::glorot_normal:
        return {.deviation = std::sqrt(2 / (fan.in + fan.out))};
    case initial::he_uniform:
        return {.limit = std::sqrt(6 / fan.in)};
    case initial::he_normal:
        return {.deviation = std::sqrt(2 / fan.in)};
    case initial::lecun_uniform:
        return {.limit = std::sqrt(3 / fan.in)};
    case initial::lecun_normal:
        return {.deviation = std::sqrt(1 / fan.in)};
    case initial::orthogonal:
        return {.deviation = 1};
    case initial::function:
    case initial::norms_of_rows:
    case initial::left_singular_vector:
    case initial::right_singular_vector:
        return {};
    }
    return {};
}

// Rows (or columns, where there are fewer) orthonormal, times the gain: Gram-Schmidt, twice.
[[gnu::noinline]] inline void make_orthogonal(std::vector<double>& w, int rows, double gain) {
    std::size_t const n = w.size() / static_cast<std::size_t>(rows),
                      m = static_cast<std::size_t>(rows);
    bool const wide = n >= m;
    std::size_t const vectors = wide ? m : n, length = wide ? n : m;
    std::vector<double> all(w.size()); // vector after vector
    auto const each = [&](auto const& f) {
        std::size_t const next = wide ? n : 1, step = wide ? 1 : n;
        for (std::size_t v = 0; v < vectors; ++v) {
            for (std::size_t i = 0; i < length; ++i) {
                CASTNET_OPAQUE(i); // not worth a loop of vectors
                f(all[v * length + i], w[v * next + i * step]);
            }
        }
    };
    each([](double& to, double from) { to = from; });
    for (std::size_t v = 0; v < vectors; ++v) {
        double* const mine = all.data() + v * length;
        for (int pass = 0; pass < 2; ++pass) {
            for (std::size_t u = 0; u < v; ++u) {
                double const* const other = all.data() + u * length;
                double const dot = std::inner_product(mine, mine + length, other, 0.0);
                for (std::size_t i = 0; i < length; ++i) {
                    mine[i] -= dot * other[i];
                }
            }
            double const norm = std::sqrt(std::inner_product(mine, mine + length, mine, 0.0));
            for (std::size_t i = 0; i < length; ++i) {
                mine[i] /= norm;
            }
        }
    }
    each([&](double from, double& to) { to = gain * from; });
}

[[gnu::noinline]] inline void norms_of_rows(std::span<double const> matrix,
                                            std::vector<double>& norms) {
    std::size_t const columns = matrix.size() / norms.size();
    for (std::size_t i = 0; i < norms.size(); ++i) {
        auto const row = matrix.subspan(i * columns, columns);
        norms[i] = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    }
}

// A vector of a matrix's largest singular value, on the left or the right, after 15 power
// iterations from a random one. Element (i, j) is that of number (j / n * rows + i) * n + j % n.
[[gnu::noinline]] inline std::vector<double> singular_vector(std::span<double const> matrix,
                                                             std::size_t rows, std::size_t n,
                                                             bool left, philox_key const& key) {
    std::size_t const columns = matrix.size() / rows;
    std::vector<double> u(rows), v(columns);
    for (std::size_t j = 0; j < columns; ++j) {
        v[j] = distribution{.deviation =
                                1}(philox({static_cast<std::uint32_t>(j), 0, 0, 0x73696e67U}, key));
    }
    auto const each = [&](auto const& f) {
        for (std::size_t k = 0; k < matrix.size(); ++k) {
            std::size_t const outer = k / n / rows;
            f(u[k / n % rows], v[outer * n + k % n], matrix[k]);
        }
    };
    auto const normalize = [](std::vector<double>& x) {
        double const norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
        for (double& element : x) {
            element /= norm > 0 ? norm : 1;
        }
    };
    for (int iteration = 0; iteration < 15; ++iteration) {
        std::fill(u.begin(), u.end(), 0.0);
        each([](double& to, double from, double w) { to += w * from; });
        normalize(u);
        std::fill(v.begin(), v.end(), 0.0);
        each([](double from, double& to, double w) { to += w * from; });
        normalize(v);
    }
    return left ? u : v;
}

// The logical values of parameter number `stream`; `weight` are those of the last weight before.
inline std::vector<double> initial_values(parameter const& p, std::uint64_t seed,
                                          std::uint32_t stream, std::span<double const> weight) {
    distribution const random = distribution_of(p);
    philox_key const key = key_of(seed);
    std::vector<double> w(static_cast<std::size_t>(p.count()));
    for (std::size_t i = 0; i < w.size(); ++i) {
        w[i] = random(philox({static_cast<std::uint32_t>(i), stream, 0, 0x696e6974U}, key));
    }
    if (p.start.kind == initial::orthogonal) {
        make_orthogonal(w, p.shape.extent[0], static_cast<double>(p.start.value));
    }
    if (p.start.kind == initial::function) {
        for (std::size_t i = 0; i < w.size(); ++i) {
            w[i] = p.start.elements->number(i);
        }
    }
    if (p.start.kind == initial::norms_of_rows) {
        norms_of_rows(weight, w);
    }
    bool const left = p.start.kind == initial::left_singular_vector;
    if (left || p.start.kind == initial::right_singular_vector) {
        std::size_t const rows = left ? w.size() : weight.size() / w.size();
        w = singular_vector(weight, rows, static_cast<std::size_t>(p.start.value), left, key);
    }
    if (p.zero_row >= 0) {
        auto const row = w.size() / static_cast<std::size_t>(p.shape.extent[0]);
        std::fill_n(w.begin() + p.zero_row * static_cast<std::ptrdiff_t>(row), row, 0.0);
    }
    return w;
}

} // namespace castnet::detail
