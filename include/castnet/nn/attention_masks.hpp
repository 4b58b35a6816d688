// Masks of attention: functions of scores (heads, queries, keys), which put -infinity where a query
// must not see a key. So whatever is callable on scores is a mask; a query that sees no key gets
// zeros.
#pragma once

#include <castnet/graph/row_index.hpp>

#include <limits>

namespace castnet {

namespace detail {

inline constexpr double masked_score = -std::numeric_limits<double>::infinity();

template <Shape S>
inline constexpr bool is_one_number = S::count == 1;

} // namespace detail

// Of sequences in their order: a query sees no key that comes after it (PyTorch's is_causal).
struct causal_mask_function {
    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> scores) const {
        ir::graph& g = *scores.g;
        // As a value of each sample it joins the functions of the scores, and is not stored.
        symbol<S> const behind{&g, map_node(g, fn::greater, ir::space_of<S>,
                                            {channel_index<S>(g).id, row_index<S>(g).id})};
        return where(behind, detail::masked_score, scores);
    }
};
inline constexpr causal_mask_function causal_mask{};

template <Shape Lengths>
struct length_mask_function {
    symbol<Lengths> lengths;

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> scores) const {
        return where(less(channel_index<S>(*scores.g), lengths), scores, detail::masked_score);
    }
};
template <class Mask>
inline constexpr bool is_length_mask = false;
template <Shape Lengths>
inline constexpr bool is_length_mask<length_mask_function<Lengths>> = true;

// Of sequences with so many keys that count, one number for each sample: those after are padding
// (PyTorch's key_padding_mask, which is true there).
template <Shape Lengths>
constexpr length_mask_function<Lengths> length_mask(symbol<Lengths> lengths) {
    static_assert(detail::is_one_number<Lengths>,
                  "castnet: length_mask needs one number for each sample, cn::input<1>; see "
                  "is_one_number<shape>");
    return {lengths};
}

template <Shape Mask, Shape Scores>
inline constexpr bool mask_fits_scores =
    std::is_same_v<Mask, Scores> || std::is_same_v<Mask, shape<Scores::extent[Scores::rank - 1]>> ||
    std::is_same_v<Mask, shape<Scores::extent[Scores::rank - 2], Scores::extent[Scores::rank - 1]>>;

template <Shape Mask>
struct additive_mask_function {
    symbol<Mask> mask;

    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> scores) const {
        static_assert(mask_fits_scores<Mask, S>,
                      "castnet: additive_mask has the shape (keys), (queries, keys) or "
                      "row_major_shape<heads, queries, keys>; see mask_fits_scores<mask, scores>");
        if constexpr (!mask_fits_scores<Mask, S>) {
            return scores;
        } else if constexpr (Mask::rank != 2) {
            return scores + mask;
        } else { // a row for each head
            using of_heads = shape<S::count / Mask::count, Mask::count>;
            return reshaped(reshaped(scores, of_heads{}) + reshaped(mask, shape<Mask::count>{}),
                            S{});
        }
    }
};
// A tensor that is added to the scores, of (keys), (queries, keys) or (heads, queries, keys):
// -infinity where a key is not seen, or learned biases by position (PyTorch's attn_mask of floats).
template <Shape Mask>
constexpr additive_mask_function<Mask> additive_mask(symbol<Mask> mask) {
    return {mask};
}

} // namespace castnet
