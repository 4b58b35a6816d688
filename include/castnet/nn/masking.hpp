// Masks of sequences by the lengths of samples: which steps count.
#pragma once

#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>

namespace castnet {

// Whether this is a number for each sample and, of ids, none that is more than Time.
template <size_t Time, class Length>
inline constexpr bool is_length_within = Length::count == 1;
template <size_t Time, size_t Values, size_t... D>
inline constexpr bool is_length_within<Time, ids<Values, D...>> =
    ids<Values, D...>::count == 1 && Values <= Time + 1;

// (time, 1): 1 for each step before the sample's length, 0 for those after (TensorFlow's
// sequence_mask).
template <size_t Time, class Length>
constexpr auto sequence_mask(symbol<Length> length) {
    static_assert(is_length_within<Time, Length>,
                  "castnet: a mask of the steps of a sequence needs the sequence's length: "
                  "input_length<time>; see is_length_within<time, given>");
    symbol<shape<>> const count{length.g, length.id};
    return reshaped(less(channel_index<shape<Time>>(*length.g), count), shape<Time, 1>{});
}

// x with 0 in place of the steps from the sample's length on.
template <size_t Time, size_t Features, Shape Length>
constexpr auto mask_steps(symbol<shape<Time, Features>> x, symbol<Length> length) {
    return where(sequence_mask<Time>(length), x, 0);
}

} // namespace castnet
