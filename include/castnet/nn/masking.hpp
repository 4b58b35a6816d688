// Masks of sequences by the lengths of samples: which steps count.
#pragma once

#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>

namespace castnet {

// Whether there is a length for every sequence of so many steps.
template <size_t Time, class Length>
concept LengthWithin = is_ids<Length> && Length::rank == 0 && Length::values <= Time + 1;

// (time, 1): 1 for each step before the sample's length, 0 for those behind (TensorFlow's
// sequence_mask).
template <size_t Time, class Length>
constexpr auto sequence_mask(symbol<Length> length) {
    static_assert(LengthWithin<Time, Length>,
                  "castnet: the steps of a sequence are masked by a length of it: "
                  "input_length<time>, or ids<time + 1>; see LengthWithin<time, given>");
    return reshaped(less(channel_index<shape<Time>>(*length.g), length), shape<Time, 1>{});
}

// x with 0 in place of the steps from the sample's length on.
template <size_t Time, size_t Features, Shape Length>
constexpr auto mask_steps(symbol<shape<Time, Features>> x, symbol<Length> length) {
    return where(sequence_mask<Time>(length), x, 0);
}

} // namespace castnet
