// Diagonals and triangles of matrices: diagonal, diag, trace, tril, triu.
#pragma once

#include <castnet/graph/row_index.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/axis_changes.hpp>
#include <castnet/nn/reshape.hpp>

#include <algorithm>

namespace castnet {

// The main diagonal of a matrix, whose elements lie one more than a row apart: as rows longer by
// one, after zeros fill the last of them, the matrix has its diagonal in the first column.
template <class S>
constexpr auto diagonal(symbol<S> x) {
    static_assert(S::rank == 2, "castnet: diagonal takes a matrix: a tensor of two axes");
    if constexpr (S::rank == 2) {
        constexpr size_t columns = S::extent[1], length = std::min(S::extent[0], columns);
        auto const elements = reshaped(slice<0, 0, length>(x), shape<length * columns>{});
        return select<1>(reshaped(pad<0, 0, length>(elements), shape<length, columns + 1>{}), 0);
    } else {
        return x;
    }
}

// The square matrix with a vector on its main diagonal and 0 elsewhere.
template <class S>
constexpr auto diag(symbol<S> x) {
    static_assert(S::rank == 1,
                  "castnet: diag takes a vector; the diagonal of a matrix is diagonal(x)");
    if constexpr (S::rank == 1) {
        constexpr size_t n = S::count;
        auto const rows = pad<1, 0, n>(reshaped(x, shape<n, 1>{}));
        return reshaped(slice<0, 0, n * n>(reshaped(rows, shape<n*(n + 1)>{})), shape<n, n>{});
    } else {
        return x;
    }
}

template <class S>
constexpr auto trace(symbol<S> x) {
    return sum(diagonal(x));
}

template <class S>
inline constexpr bool has_triangles = S::rank >= 2 && !channels_first<S>;

namespace detail {

// The matrices in the last two axes of x with 0 right of the diagonal that is so many columns to
// the right of the main one, or left of it.
template <bool OnRight, int Right, class S>
constexpr symbol<S> without_triangles(symbol<S> x) {
    static_assert(has_triangles<S>, "castnet: tril and triu take matrices in the last two axes of "
                                    "a tensor that is no image; see has_triangles<shape>");
    if constexpr (has_triangles<S>) {
        auto const diagonal = row_index<S>(*x.g) + Right;
        auto const column = channel_index<shape<channels_of<S>>>(*x.g);
        auto const cleared = [&] {
            if constexpr (OnRight) {
                return less(diagonal, column);
            } else {
                return less(column, diagonal);
            }
        }();
        return where(cleared, 0, x);
    } else {
        return x;
    }
}

} // namespace detail

// The elements on and below a diagonal of each matrix, and 0 elsewhere; or on and above it.
template <int Right = 0, class S>
constexpr symbol<S> tril(symbol<S> x) {
    return detail::without_triangles<true, Right>(x);
}
template <int Right = 0, class S>
constexpr symbol<S> triu(symbol<S> x) {
    return detail::without_triangles<false, Right>(x);
}

} // namespace castnet
