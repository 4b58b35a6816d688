// Description of an attention for its kernels: heads, causality and random numbers.
#pragma once

#include <castnet/graph/extents.hpp>

namespace castnet::ir {

// softmax(q k' * scale) v for each head, of arrays (time, heads * features). The features of a head
// lie next to each other. Where it is `causal`, a query sees no key after its own position.
struct attention_form {
    static constexpr int most_heads = 4095;

    int heads = 1;
    bool causal = false;
    int stream = -1; // of the random numbers that drop weights; -1 for none

    // As a node's attribute.
    constexpr int packed() const { return (stream + 1) << 13 | heads << 1 | (causal ? 1 : 0); }
    CASTNET_HD static constexpr attention_form unpacked(int x) {
        return {x >> 1 & most_heads, (x & 1) != 0, (x >> 13) - 1};
    }
};

// How many keys there are for a query of the sample: those before its length, if it has one (a
// number that need not be whole).
template <class T>
CASTNET_HD constexpr int keys_before(T length, int keys) {
    int count = length > T(0) ? (length < T(keys) ? static_cast<int>(length) : keys) : 0;
    return count + (T(count) < length && count < keys ? 1 : 0);
}

} // namespace castnet::ir
