// Batched matrix product as a value: how the matrices of a batch lie in their arrays.
#pragma once

#include <castnet/graph/extents.hpp>

namespace castnet::ir {

// c = a b for each matrix of a sample's batch, of heads for example. In an array of pixels x
// channels matrices lie one below the other or, where it is `beside`, next to each other: (heads *
// time, features) or (time, heads * features).
struct product_form {
    int batch = 1;
    bool transposed_a = false, transposed_b = false; // the array holds the transposed factor
    bool beside_a = false, beside_b = false, beside_c = false;

    // As a node's attribute.
    constexpr int packed() const {
        return batch << 5 | (transposed_a ? 1 : 0) | (transposed_b ? 2 : 0) | (beside_a ? 4 : 0) |
               (beside_b ? 8 : 0) | (beside_c ? 16 : 0);
    }
    static constexpr product_form unpacked(int x) {
        return {x >> 5, (x & 1) != 0, (x & 2) != 0, (x & 4) != 0, (x & 8) != 0, (x & 16) != 0};
    }
};

// Matrices of a batch in their array: element (i, j) of number k lies at
// k * next + i * row + j * column.
struct batched_matrix {
    int rows = 0, columns = 0;
    std::ptrdiff_t next = 0, row = 0, column = 1;
};

CASTNET_HD constexpr batched_matrix matrix_of(extents const& array, int batch, bool transposed,
                                              bool beside) {
    int const lines = beside ? array.pixels : array.pixels / batch;
    int const length = beside ? array.channels / batch : array.channels;
    std::ptrdiff_t const step = array.channels,
                         next = beside ? std::ptrdiff_t{length} : lines * step;
    return transposed ? batched_matrix{length, lines, next, 1, step}
                      : batched_matrix{lines, length, next, step, 1};
}

// The three of them.
struct batched_product {
    batched_matrix a, b, c;
};

CASTNET_HD constexpr batched_product batched_product_of(product_form const& f, extents const& a,
                                                        extents const& b, extents const& c) {
    return {matrix_of(a, f.batch, f.transposed_a, f.beside_a),
            matrix_of(b, f.batch, f.transposed_b, f.beside_b),
            matrix_of(c, f.batch, false, f.beside_c)};
}

} // namespace castnet::ir
