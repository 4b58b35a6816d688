// Inverse matrices and determinants in memory: of the smallest matrices by cofactors, batches of
// them side by side; else by elimination.
#pragma once

#include <castnet/tensor/detail/buffer.hpp>
#include <castnet/tensor/detail/cofactors.hpp>
#include <castnet/tensor/detail/factorize.hpp>
#include <castnet/tensor/detail/run.hpp>

#include <algorithm>
#include <cstring>

namespace castnet::detail::inline CASTNET_VECTORS {

template <class T, size_t N>
inline constexpr bool has_cofactors = InVectors<T> && N > 1 && N <= most_cofactor_rows;

template <size_t N, class T>
[[gnu::noinline]] void invert_by_elimination(T const* a, T* to) {
    T left[N * N];
    std::copy_n(a, N * N, left);
    for (size_t i = 0; i != N * N; ++i) {
        to[i] = i % (N + 1) == 0 ? T(1) : T(0);
    }
    solve_in_place<N, N>(left, to);
}

// The adjugate and the determinant of one matrix. Whether they are exact.
template <size_t N, class T>
CASTNET_ALWAYS_INLINE bool take_adjugate_of_one(T const* a, T* to, T& determinant) {
    if constexpr (N == 4 && fits_four<T>) {
        auto const sums = take_adjugate_of_rows(a, to);
        determinant = sums.determinant[0];
        return sums.template are_exact<T>()[0] != 0;
    } else {
        auto const sums = take_adjugate<N>(a, to);
        determinant = sums.determinant;
        return sums.template are_exact<T>();
    }
}

// How many matrices are inverted at once.
template <class T, size_t N>
inline constexpr size_t inverted_at_once =
    side_by_side<T, N * N>::lanes / (N == 2 && fits_four<T> ? 4 : 1);

// Inverts so many matrices: in neighbouring lanes if they are 2 x 2, else side by side. The result
// is a mask of those for which that is as exact as elimination.
template <size_t N, size_t Matrices, class T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE auto invert_at_once(T const* a, T* to) {
    if constexpr (N == 2 && fits_four<T>) {
        constexpr size_t numbers = 4 * Matrices;
        using stored = typename lanes<T, numbers>::stored;
        typename lanes<T, numbers>::type const matrices = *reinterpret_cast<stored const*>(a);
        typename lanes<T, numbers>::type inverses;
        auto const exact = invert_pairs<T>(
            matrices, inverses, std::make_integer_sequence<int, static_cast<int>(numbers)>{});
        *reinterpret_cast<stored*>(to) = inverses;
        return exact;
    } else {
        side_by_side<T, N * N> matrices, inverses;
        matrices.load(a);
        auto const sums = take_adjugate<N>(matrices.of, inverses.of);
        auto const factor = T(1) / sums.determinant;
        CASTNET_UNROLL
        for (size_t i = 0; i < N * N; ++i) {
            inverses.of[i] *= factor;
        }
        inverses.store(to);
        return sums.template are_exact<T>();
    }
}

// to = the inverse of a (N x N)
template <size_t N, class T>
CASTNET_ALWAYS_INLINE void invert(T const* a, T* to) {
    if constexpr (N == 2 && fits_four<T>) {
        if (invert_at_once<N, 1>(a, to)[0] != 0) [[likely]] {
            return;
        }
    } else {
        T adjugate[N * N], determinant;
        if (take_adjugate_of_one<N>(a, adjugate, determinant)) [[likely]] {
            T const factor = 1 / determinant;
            CASTNET_UNROLL
            for (size_t i = 0; i < N * N; ++i) {
                to[i] = adjugate[i] * factor;
            }
            return;
        }
    }
    invert_by_elimination<N>(a, to);
}

// Calls f(i) for each of the matrices to which a mask says no; seldom.
template <size_t Matrices, class Mask, class F>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void for_each_inexact(Mask const& exact, F const& f) {
    if (any_lane(~exact)) [[unlikely]] {
        constexpr size_t step = sizeof(Mask) / sizeof(exact[0]) / Matrices;
        for (size_t i = 0; i != Matrices; ++i) {
            if (exact[i * step] == 0) {
                f(i);
            }
        }
    }
}

// The same of a batch of matrices. (The last ones may be inverted twice.)
template <size_t N, class T>
CASTNET_WIDE_VECTORS void invert_all(size_t batch, T const* a, T* to) {
    constexpr size_t several = inverted_at_once<T, N>, size = N * N;
    if (batch < several) {
        for (size_t i = 0; i != batch; ++i) {
            invert<N>(a + i * size, to + i * size);
        }
        return;
    }
    for (size_t next = 0; next < batch; next += several) {
        size_t const first = std::min(next, batch - several) * size;
        auto const exact = invert_at_once<N, several>(a + first, to + first);
        for_each_inexact<several>(exact, [&](size_t i) {
            invert_by_elimination<N>(a + first + i * size, to + first + i * size);
        });
    }
}

template <size_t N, class T>
[[gnu::noinline]] T determinant_by_elimination(T const* a) {
    buffer<T, N * N> room;
    T* const left = room.data();
    std::copy_n(a, N * N, left);
    auto const found = eliminate<N, 0>(left, left);
    T product = found.exchanges % 2 == 0 ? T(1) : T(-1);
    for (size_t k = 0; k != std::min(N, found.columns + 1); ++k) { // a dependent one has 0, or NaN
        product *= left[k * N + k];
    }
    return product;
}

template <size_t N, class T>
CASTNET_ALWAYS_INLINE T determinant_of(T const* a) {
    if constexpr (N == 2) {
        return a[0] * a[3] - a[1] * a[2];
    } else {
        if constexpr (has_cofactors<T, N>) {
            T adjugate[N * N], determinant;
            if (take_adjugate_of_one<N>(a, adjugate, determinant)) [[likely]] {
                return determinant;
            }
        }
        return determinant_by_elimination<N>(a);
    }
}

// The determinants of a batch of matrices.
template <size_t N, class T>
CASTNET_WIDE_VECTORS void determinants_of(size_t batch, T const* a, T* to) {
    constexpr size_t size = N * N;
    if constexpr (has_cofactors<T, N> && N > 2) {
        constexpr size_t several = side_by_side<T, size>::lanes;
        if (batch >= several) {
            for (size_t next = 0; next < batch; next += several) {
                size_t const first = std::min(next, batch - several);
                side_by_side<T, size> matrices, adjugates;
                matrices.load(a + first * size);
                auto const sums = take_adjugate<N>(matrices.of, adjugates.of);
                std::memcpy(to + first, &sums.determinant, sizeof sums.determinant);
                for_each_inexact<several>(sums.template are_exact<T>(), [&](size_t i) {
                    to[first + i] = determinant_by_elimination<N>(a + (first + i) * size);
                });
            }
            return;
        }
    }
    for (size_t i = 0; i != batch; ++i) {
        to[i] = determinant_of<N>(a + i * size);
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
