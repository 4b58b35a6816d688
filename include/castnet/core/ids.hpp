// Shape of whole numbers, ids<Values, extents...>: words of a text by their numbers in a
// vocabulary, categories, lengths.
#pragma once

#include <castnet/core/shape.hpp>

namespace castnet {

// Each number is one from 0 to Values - 1. Without extents it is a single number. They are numbers
// like all others, so functions of tensors compute with them, too.
template <size_t Values, size_t... D>
struct ids : shape<D...> {
    static constexpr size_t values = Values;

    static_assert(Values >= 1, "castnet: ids need at least one value");
    static_assert(Values <= size_t{1} << 24,
                  "castnet: ids have at most 2^24 values, so that each of "
                  "them is exact as a float");
};

template <size_t Values, size_t... D>
inline constexpr bool is_shape<ids<Values, D...>> = true;

template <class T>
inline constexpr bool is_ids = false;
template <size_t Values, size_t... D>
inline constexpr bool is_ids<ids<Values, D...>> = true;

// The lengths of sequences of at most Time steps.
template <size_t Time>
using length_of = ids<Time + 1>;

} // namespace castnet
