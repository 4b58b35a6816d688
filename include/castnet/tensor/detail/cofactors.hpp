// Determinants and adjugates of the smallest matrices: sums of products, where rounding spoils them
// no more than elimination with pivots.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/tensor/detail/lanes.hpp>

#include <limits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// The most rows of matrices that have these sums.
inline constexpr size_t most_cofactor_rows = 4;

// The sums of a matrix, or of one in each lane of vectors.
template <class V>
struct cofactor_sums {
    V determinant;
    V terms;     // the sum of its products' magnitudes
    V expansion; // that of a row's numbers times their cofactors

    // Whether rounding, which changes the determinant and cofactors as `terms` says, changes the
    // inverse matrix not much more than it does by elimination: with the determinant if that is
    // small, since the equations are ill-conditioned then, but the cofactors have to be large. Not
    // for products near the limits of the type. Of a vector, a mask.
    template <class T>
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS auto are_exact() const {
        using limits = std::numeric_limits<T>;
        constexpr T cancelled = 16, least = limits::min() / limits::epsilon() * cancelled;
        V const size = magnitude(determinant);
        if constexpr (std::is_same_v<V, T>) {
            return terms >= least && terms <= 1 / least && terms <= cancelled * expansion &&
                   size >= 8 * limits::epsilon() * terms;
        } else {
            return (terms >= V{} + least) & (terms <= V{} + T(1) / least) &
                   (terms <= cancelled * expansion) & (size >= 8 * limits::epsilon() * terms);
        }
    }
};

// p - q, and |p| + |q| for p = a b and q = c d: a minor of two rows
template <class V>
struct small_minor {
    V value, terms;

    [[gnu::always_inline]] CASTNET_WIDE_VECTORS small_minor(V const& a, V const& b, V const& c,
                                                            V const& d)
        : value{a * b - c * d}, terms{magnitude(V(a * b)) + magnitude(V(c * d))} {}
};

// The columns of two rows that make each of their minors.
inline constexpr size_t columns_of_minor[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

template <class V>
struct small_minors {
    small_minor<V> of[6];

    [[gnu::always_inline]] CASTNET_WIDE_VECTORS small_minors(V const* upper, V const* lower)
        : of{at<0>(upper, lower), at<1>(upper, lower), at<2>(upper, lower),
             at<3>(upper, lower), at<4>(upper, lower), at<5>(upper, lower)} {}

    // A column of the adjugate of a 4 x 4 matrix, for the minors of two rows, and another row.
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void make_column(V const* row, V* to,
                                                                 size_t step) const {
        to[0] = row[1] * of[5].value - row[2] * of[4].value + row[3] * of[3].value;
        to[step] = row[2] * of[2].value - row[0] * of[5].value - row[3] * of[1].value;
        to[2 * step] = row[0] * of[4].value - row[1] * of[2].value + row[3] * of[0].value;
        to[3 * step] = row[1] * of[1].value - row[0] * of[3].value - row[2] * of[0].value;
    }

private:
    template <size_t I>
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS static small_minor<V> at(V const* upper,
                                                                         V const* lower) {
        constexpr size_t j = columns_of_minor[I][0], k = columns_of_minor[I][1];
        return {upper[j], lower[k], lower[j], upper[k]};
    }
};

// The adjugate of a (N x N), the transposed matrix of its cofactors, which is its inverse times its
// determinant; V is a number or a vector with a matrix in each lane.
template <size_t N, class V>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE cofactor_sums<V> take_adjugate(V const* a, V* to) {
    cofactor_sums<V> sums;
    if constexpr (N == 2) {
        to[0] = a[3];
        to[1] = -a[1];
        to[2] = -a[2];
        to[3] = a[0];
        small_minor<V> const all{a[0], a[3], a[1], a[2]};
        return {all.value, all.terms, all.terms};
    } else if constexpr (N == 3) {
        small_minor<V> const first[3] = {
            {a[4], a[8], a[5], a[7]}, {a[5], a[6], a[3], a[8]}, {a[3], a[7], a[4], a[6]}};
        CASTNET_UNROLL
        for (size_t j = 0; j < 3; ++j) {
            size_t const right = (j + 1) % 3, left = (j + 2) % 3;
            to[3 * j] = first[j].value;
            to[3 * j + 1] = a[left] * a[6 + right] - a[right] * a[6 + left];
            to[3 * j + 2] = a[right] * a[3 + left] - a[left] * a[3 + right];
        }
        sums.terms = magnitude(a[0]) * first[0].terms + magnitude(a[1]) * first[1].terms +
                     magnitude(a[2]) * first[2].terms;
    } else {
        static_assert(N == 4);
        small_minors<V> const upper{a, a + 4}, lower{a + 8, a + 12};
        CASTNET_UNROLL
        for (size_t j = 0; j < 4; ++j) {
            V const* const row = a + 4 * (j ^ 1);
            V const turned[4] = {-row[0], -row[1], -row[2], -row[3]};
            (j < 2 ? lower : upper).make_column(j % 2 == 0 ? row : turned, to + j, 4);
        }
        sums.terms = upper.of[0].terms * lower.of[5].terms;
        CASTNET_UNROLL
        for (size_t i = 1; i < 6; ++i) {
            sums.terms += upper.of[i].terms * lower.of[5 - i].terms;
        }
    }
    sums.determinant = a[0] * to[0];
    sums.expansion = magnitude(sums.determinant);
    CASTNET_UNROLL
    for (size_t j = 1; j < N; ++j) {
        V const product = a[j] * to[N * j];
        sums.determinant += product;
        sums.expansion += magnitude(product);
    }
    return sums;
}

// Whether four numbers fit a vector register: a matrix or its rows lie in one.
template <class T>
inline constexpr bool fits_four = 4 * sizeof(T) <= cpu::vector_bytes;

// The same of one 4 x 4 matrix, the rows of which are vectors; lane 0 has its sums.
template <class T>
CASTNET_ALWAYS_INLINE auto take_adjugate_of_rows(T const* a, T* to) {
    using vector = typename lanes<T, 4>::type;
    using stored = typename cpu::vector_of<T, 4>::type;
    stored columns[4];
    CASTNET_UNROLL
    for (size_t i = 0; i < 4; ++i) {
        columns[i] = reinterpret_cast<stored const*>(a)[i];
    }
    cpu::turn_lanes<1, T, 4>(columns);
    // lanes 0 and 1 have the minors of the lower two rows, lanes 2 and 3 those of the upper two
    vector upper[4], lower[4], others[4], rows[4];
    CASTNET_UNROLL
    for (size_t j = 0; j < 4; ++j) {
        vector const x = columns[j];
        upper[j] = __builtin_shufflevector(x, x, 2, 2, 0, 0);
        lower[j] = __builtin_shufflevector(x, x, 3, 3, 1, 1);
        others[j] = __builtin_shufflevector(x, x, 1, 0, 3, 2) * vector{T(1), T(-1), T(1), T(-1)};
    }
    small_minors<vector> const minors{upper, lower};
    minors.make_column(others, rows, 1);
    vector terms = {};
    CASTNET_UNROLL
    for (size_t i = 0; i < 3; ++i) {
        vector const x = minors.of[5 - i].terms;
        terms += minors.of[i].terms * __builtin_shufflevector(x, x, 2, 3, 0, 1);
    }
    vector determinant = {}, expansion = {};
    CASTNET_UNROLL
    for (size_t j = 0; j < 4; ++j) {
        reinterpret_cast<stored*>(to)[j] = rows[j];
        vector const product = columns[j] * rows[j];
        determinant += product;
        expansion += magnitude(product);
    }
    terms += __builtin_shufflevector(terms, terms, 2, 3, 0, 1);
    return cofactor_sums<vector>{determinant, terms, expansion};
}

// Inverts 2 x 2 matrices, each in four neighbouring lanes; the result is a mask of those for which
// that is as exact as elimination. (No lambda with these lanes: nvcc 13.0 crashes.)
template <class T, class Vector, int... Lane>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline auto
invert_pairs(Vector const& a, Vector& to, std::integer_sequence<int, Lane...>) {
    Vector const products = a * Vector{a[Lane ^ 3]...}; // ad, bc, cb, da
    Vector const others{products[Lane ^ 1]...};
    Vector const determinants = products - others; // of alternating signs, as the adjugate has them
    to = Vector{a[Lane % 4 % 3 == 0 ? Lane ^ 3 : Lane]...} / determinants;
    Vector const terms = magnitude(products) + magnitude(others);
    return cofactor_sums<Vector>{determinants, terms, terms}.template are_exact<T>();
}

} // namespace castnet::detail::inline CASTNET_VECTORS
