// First values of parameters: a function of the seed, the parameter's number and the element, in
// logical order, so that they do not depend on the device.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/philox.hpp>
#include <castnet/graph/parameter.hpp>

#include <cmath>
#include <numeric>
#include <vector>

namespace castnet::detail {

struct fans {
    double in, out;
};

// As Keras and PyTorch count them.
inline fans fans_of(parameter const& p) {
    if (p.rank < 2) {
        double const n = p.count();
        return {n, n};
    }
    double const field = double(p.count()) / p.dims[0] / p.dims[1];
    return {p.dims[1] * field, p.dims[0] * field};
}

class random_numbers {
public:
    random_numbers(std::uint64_t seed, std::uint32_t stream)
        : key_{key_of(seed)}, stream_{stream} {}

    philox_block words(std::uint32_t i) const { return philox({i, stream_, 0, 0x696e6974U}, key_); }

    static double uniform(philox_block const& w) {
        return (double(w.x0 >> 6) * 134217728.0 + double(w.x1 >> 5)) / 9007199254740992.0;
    }
    static double normal(philox_block const& w) { // Box & Muller 1958
        double const u = (double(w.x0) + 1) / 4294967296.0, v = double(w.x1) / 4294967296.0;
        return std::sqrt(-2 * std::log(u)) * std::cos(6.28318530717958647692 * v);
    }

private:
    philox_key key_;
    std::uint32_t stream_;
};

// Rows (or columns, where there are fewer) orthonormal, times the gain: Gram-Schmidt, twice.
inline void make_orthogonal(std::vector<double>& w, int rows, double gain) {
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

// The logical values of parameter number `stream`.
inline std::vector<double> initial_values(parameter const& p, std::uint64_t seed,
                                          std::uint32_t stream) {
    random_numbers const random{seed, stream};
    fans const fan = fans_of(p);
    double const value = p.start.value;
    std::vector<double> w(static_cast<std::size_t>(p.count()));
    double limit = 0, deviation = 0, constant = 0; // of the distribution
    switch (p.start.kind) {
    case initial::zeros:
        break;
    case initial::ones:
        constant = 1;
        break;
    case initial::constant:
        constant = value;
        break;
    case initial::uniform:
        limit = value;
        break;
    case initial::normal:
        deviation = value;
        break;
    case initial::glorot_uniform:
        limit = std::sqrt(6 / (fan.in + fan.out));
        break;
    case initial::glorot_normal:
        deviation = std::sqrt(2 / (fan.in + fan.out));
        break;
    case initial::he_uniform:
        limit = std::sqrt(6 / fan.in);
        break;
    case initial::he_normal:
        deviation = std::sqrt(2 / fan.in);
        break;
    case initial::lecun_uniform:
        limit = std::sqrt(3 / fan.in);
        break;
    case initial::lecun_normal:
        deviation = std::sqrt(1 / fan.in);
        break;
    case initial::orthogonal:
        deviation = 1;
        break;
    }
    for (std::size_t i = 0; i < w.size(); ++i) {
        philox_block const words = random.words(static_cast<std::uint32_t>(i));
        w[i] = limit != 0       ? limit * (2 * random.uniform(words) - 1)
               : deviation != 0 ? deviation * random.normal(words)
                                : constant;
    }
    if (p.start.kind == initial::orthogonal) {
        make_orthogonal(w, p.dims[0], value);
    }
    return w;
}

} // namespace castnet::detail
