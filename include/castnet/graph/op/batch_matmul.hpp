// Products of two activations.
#pragma once

#include <castnet/graph/batched_product.hpp>
#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/emit.hpp>
#include <castnet/graph/symbol_operators.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet {

namespace detail {

// The shapes of a product, of tensors with these leading axes and matrices of the last two.
template <Shape S, size_t Rows, size_t Columns, size_t... Axis>
constexpr auto replace_matrix(std::index_sequence<Axis...>) {
    return row_major_shape<S::extent[Axis]..., Rows, Columns>{};
}
// S with such matrices in its last two axes.
template <Shape S, size_t Rows, size_t Columns>
using with_matrix = decltype(replace_matrix<S, Rows, Columns>(
    std::make_index_sequence<(S::rank >= 2 ? S::rank - 2 : 0)>{}));

template <Shape S>
inline constexpr bool has_matrices = S::rank >= 2 && !channels_first<S>;
template <Shape S>
inline constexpr size_t matrix_rows = S::extent[S::rank >= 2 ? S::rank - 2 : 0];
template <Shape S>
inline constexpr size_t matrix_columns = S::extent[S::rank - 1];

template <Shape A, Shape B>
inline constexpr bool same_leading_axes =
    has_matrices<A> && has_matrices<B> &&
    std::is_same_v<with_matrix<A, 1, 1>, with_matrix<B, 1, 1>>;

// Whether all samples share the right factor of a product, but not the left one: it is a weight,
// with a row of memory for each feature.
constexpr bool is_weight_of(ir::graph const& g, int left, int right) {
    return g.nodes[left].size.sample && !g.nodes[right].size.sample;
}
// The product of a's last axis and such a weight, or the transposed one.
template <Shape Result, class A, class B>
constexpr symbol<Result> times_weight(symbol<A> a, symbol<B> b, bool transposed) {
    ir::node n = ir::graph::shaped<Result>(transposed ? op::matmul_data : op::matmul, true);
    n.operands = 2;
    n.in[0] = array_id(a);
    n.in[1] = array_id(b);
    return emit<Result>(*a.g, n);
}

// c = a b, with matrices that lie as the form says.
template <Shape Result, class A, class B>
constexpr symbol<Result> batch_matmul(symbol<A> a, symbol<B> b, ir::product_form const& form) {
    ir::graph const& g = *a.g;
    if (is_weight_of(g, a.id, b.id) && form.batch == 1 && !form.transposed_a) {
        return times_weight<Result>(a, b, form.transposed_b);
    }
    return emit_operation<op::batch_matmul, Result>(*a.g, form.packed(),
                                                    {array_id(a), array_id(b)});
}

} // namespace detail

// Whether the matrices of the last two axes can be multiplied: equal leading axes, as many columns
// on the left as rows on the right.
template <Shape A, Shape B>
inline constexpr bool matrices_agree =
    detail::same_leading_axes<A, B> && detail::matrix_columns<A> == detail::matrix_rows<B>;
template <Shape A, Shape B>
inline constexpr bool transposed_matrices_agree =
    detail::same_leading_axes<A, B> && detail::matrix_columns<A> == detail::matrix_columns<B>;

// (…, n, k) times (…, k, m) is (…, n, m): the product of the last two axes for every index of the
// others, which are equal (torch.matmul, keras.ops.matmul). With a weight: graph/op/product.hpp.
template <Shape A, Shape B>
constexpr auto matmul(symbol<A> a, symbol<B> b) {
    static_assert(matrices_agree<A, B>,
                  "castnet: matmul: of two activations, neither an image, the left one needs as "
                  "many columns as the right one has rows, (..., n, k) and (..., k, m), and both "
                  "need the same axes before these; for a transposed right factor write "
                  "matmul_transposed; see "
                  "matrices_agree<left, right>");
    if constexpr (matrices_agree<A, B>) {
        using result = detail::with_matrix<A, detail::matrix_rows<A>, detail::matrix_columns<B>>;
        int const batch =
            static_cast<int>(A::count / (detail::matrix_rows<A> * detail::matrix_columns<A>));
        return detail::batch_matmul<result>(a, b, {.batch = batch});
    } else {
        return a;
    }
}

template <class A, class B>
    requires SymbolsAndElements<A, B>
constexpr auto matmul(A const& a, B const& b) {
    static_assert(operands_are_traced<A, B>::checked);
    if constexpr (Symbol<A>) {
        return a;
    } else {
        return b;
    }
}

// (…, n, k) times the transposed (…, m, k) is (…, n, m).
template <Shape A, Shape B>
constexpr auto matmul_transposed(symbol<A> a, symbol<B> b) {
    static_assert(transposed_matrices_agree<A, B>,
                  "castnet: matmul_transposed: two activations, neither an image, need the same "
                  "number of columns, (..., n, k) and (..., m, k), and the same axes before; see "
                  "transposed_matrices_agree<left, right>");
    if constexpr (transposed_matrices_agree<A, B>) {
        using result = detail::with_matrix<A, detail::matrix_rows<A>, detail::matrix_rows<B>>;
        int const batch =
            static_cast<int>(A::count / (detail::matrix_rows<A> * detail::matrix_columns<A>));
        return detail::batch_matmul<result>(a, b, {.batch = batch, .transposed_b = true});
    } else {
        return a;
    }
}

template <>
struct operation<op::batch_matmul> {
    static constexpr char const* name = "batch_matmul";
    static constexpr operation_traits traits{.product = true, .reads_attribute = true};

    // With A = op(a), B = op(b): dA = dC B', dB = A' dC, each transposed as its array lies.
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        ir::product_form const f = ir::product_form::unpacked(n.attribute);
        int const a = n.in[0], b = n.in[1];
        if (d.wanted(a)) {
            ir::product_form by{f.batch,    false,      !f.transposed_b,
                                f.beside_c, f.beside_b, f.beside_a};
            if (f.transposed_a) {
                by = {f.batch, f.transposed_b, true, f.beside_b, f.beside_c, f.beside_a};
            }
            d.accumulate(a,
                         f.transposed_a ? of_factors(d, a, by, b, g) : of_factors(d, a, by, g, b));
        }
        if (d.wanted(b)) {
            ir::product_form by{f.batch,    !f.transposed_a, false,
                                f.beside_a, f.beside_c,      f.beside_b};
            if (f.transposed_b) {
                by = {f.batch, true, f.transposed_a, f.beside_c, f.beside_a, f.beside_b};
            }
            d.accumulate(b,
                         f.transposed_b ? of_factors(d, b, by, g, a) : of_factors(d, b, by, a, g));
        }
    }
    // A product of each sample, shaped as node `like`: accumulate() adds them up where samples
    // share that.
    static constexpr int of_factors(ir::differentiation& d, int like, ir::product_form const& form,
                                    int a, int b) {
        ir::node shaped = d.at(like);
        shaped.size.sample = d.at(a).size.sample || d.at(b).size.sample;
        return d.emit<op::batch_matmul>(shaped, form.packed(), a, b);
    }
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const& g) {
        ir::product_form const f = ir::product_form::unpacked(n.attribute);
        ir::batched_matrix const a =
            ir::matrix_of(g.nodes[n.in[0]].size, f.batch, f.transposed_a, f.beside_a);
        return 2 * n.size.count() * a.columns;
    }
};

} // namespace castnet
