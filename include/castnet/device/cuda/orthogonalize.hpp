// Orthogonal directions of weights on a GPU: three products of the library for each step of Newton
// and Schulz (optim/optimizer.hpp), on the stream of the update, which waits for nothing.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/optimize_parameter.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/penalties.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace castnet::cuda {

// d = of_product a b + of_addend addend, of matrices that lie row by row; a and b as they are or
// transposed. For a context c there are
//   multiply_matrices(product, a, b, addend, d, c)   which puts it on the context's stream
//   prepare_product(product, c)                      for the library to choose how; once, before
struct matrix_product {
    std::ptrdiff_t rows, columns, depth;
    bool transposed_a = false, transposed_b = false;
    double of_product = 1, of_addend = 0;
};

// A weight as it lies in memory, row by row (layout.hpp).
struct weight_matrix {
    std::ptrdiff_t rows, columns;

    constexpr bool is_wide() const { return rows < columns; }
    constexpr std::ptrdiff_t smaller() const { return is_wide() ? rows : columns; }
    constexpr std::ptrdiff_t count() const { return rows * columns; }
};
constexpr weight_matrix matrix_of(parameter const& p) {
    std::ptrdiff_t const outputs = p.shape.extent[0], others = p.count() / outputs;
    return p.kind == role::dense_weight ? weight_matrix{others, outputs}
                                        : weight_matrix{outputs, others};
}

// The products of a step: X X^T or, of a matrix with more rows than columns, X^T X; what multiplies
// X; the next X.
constexpr std::array<matrix_product, 3> products_of_step(weight_matrix const& w) {
    using how = orthogonalization;
    std::ptrdiff_t const n = w.smaller();
    return {{{n, n, std::max(w.rows, w.columns), !w.is_wide(), w.is_wide()},
             {n, n, n, false, false, how::quintic, how::cubic},
             {w.rows, w.columns, n, false, false, 1, how::linear}}};
}

// Elements of memory that a plan's weights need besides their directions, one after the other: the
// next X, and two square matrices.
template <class T>
constexpr std::ptrdiff_t elements_beside(weight_matrix const& w) {
    constexpr auto unit = static_cast<std::ptrdiff_t>(alignment_bytes / sizeof(T));
    return aligned(w.count(), unit) + 2 * aligned(w.smaller() * w.smaller(), unit);
}
template <class T, class Plan>
constexpr std::ptrdiff_t orthogonalization_scratch(Plan const& plan) {
    std::ptrdiff_t most = 0;
    for (placed_parameter const& p : plan.parameters) {
        if (p.trainable && is_weight(p.kind)) {
            most = std::max(most, elements_beside<T>(matrix_of(p)));
        }
    }
    return most;
}

// Divides a direction by its norm, of which `squares` are parts.
template <class T>
struct normalize_body {
    T const* direction;
    T* to;
    std::ptrdiff_t count;
    double const* squares;
    unsigned parts;
    double least; // norm

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        double sum = 0;
        for (unsigned k = 0; k < parts; ++k) {
            sum += squares[k];
        }
        double const norm = square_root(sum);
        T const factor = T(1 / (norm > least ? norm : least));
        std::ptrdiff_t const step = std::ptrdiff_t{block.threads()} * block.blocks();
        for (std::ptrdiff_t i = std::ptrdiff_t{block.index()} * block.threads() + block.thread();
             i < count; i += step) {
            to[i] = factor * direction[i];
        }
    }
};

// Makes a weight's direction orthogonal; `squares` are those of its pieces.
template <class T, class Context>
void orthogonalize(orthogonalization const& how, weight_matrix const& w, T* direction,
                   double const* squares, unsigned pieces, T* scratch, Context const& c) {
    constexpr auto unit = static_cast<std::ptrdiff_t>(alignment_bytes / sizeof(T));
    T* const gram = scratch + aligned(w.count(), unit);
    T* const factor = gram + aligned(w.smaller() * w.smaller(), unit);
    auto const products = products_of_step(w);
    T *x = direction, *next = scratch;
    if (how.steps % 2 != 0) { // the last one ends in `direction`
        std::swap(x, next);
    }
    c.launch({pieces, block_threads},
             normalize_body<T>{direction, x, w.count(), squares, pieces, how.epsilon});
    for (int step = 0; step < how.steps; ++step) {
        multiply_matrices(products[0], x, x, x, gram, c);
        multiply_matrices(products[1], gram, gram, gram, factor, c);
        multiply_matrices(products[2], w.is_wide() ? factor : x, w.is_wide() ? x : factor, x, next,
                          c);
        std::swap(x, next);
    }
}

// Orthogonalization by a rule of the direction of each of a plan's parameters.
template <class Plan, class Rule>
std::vector<orthogonalization> orthogonalizations_of(Plan const& plan, Rule const& rule,
                                                     std::span<update_group const> groups) {
    std::vector<orthogonalization> all(std::size(plan.parameters));
    for (std::size_t i = 0; i < all.size(); ++i) {
        placed_parameter const& p = plan.parameter(i);
        update_group const group = ir::group_at(groups, i);
        if (p.trainable && is_weight(p.kind) && group != no_group) {
            auto one = rule_of_group(rule, group);
            if constexpr (requires { one.begin(p.count(), p.count()); }) {
                one.begin(p.shape.extent[0], p.count() / p.shape.extent[0]);
            }
            all[i] = one.between();
        }
    }
    return all;
}

// Does so to all directions, which lie at the begin of the workspace.
template <class Context, class Plan>
void orthogonalize_all(Plan const& plan, std::span<orthogonalization const> each,
                       double const* squares, Context const& c) {
    using T = typename Context::value_type;
    T* const directions = c.region[int(region::workspace)];
    for_each_piece<T>(plan, [&](std::size_t i, std::ptrdiff_t first, std::ptrdiff_t,
                                unsigned first_piece, unsigned pieces) {
        placed_parameter const& p = plan.parameter(i);
        if (first == p.offset && each[i].steps > 0) {
            orthogonalize(each[i], matrix_of(p), directions + first, squares + first_piece, pieces,
                          directions + plan.trainable, c);
        }
    });
}

// Lets the library choose how it computes these products.
template <class Context, class Plan>
void prepare_orthogonalization(Plan const& plan, Context const& c) {
    for (placed_parameter const& p : plan.parameters) {
        if (p.trainable && is_weight(p.kind)) {
            for (matrix_product const& m : products_of_step(matrix_of(p))) {
                prepare_product(m, c);
            }
        }
    }
}

} // namespace castnet::cuda
