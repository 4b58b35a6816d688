// Diagonals of matrices: diagonal, diag, trace.
#pragma once

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

} // namespace castnet
