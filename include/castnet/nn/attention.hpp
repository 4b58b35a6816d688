// Attention (Vaswani et al. 2017): scaled products of queries and keys as weights of values; and
// the layer with its projections, multi_head_attention<heads>.
//
// Queries, keys and values are sequences (time, features), of which every head has its part of the
// features, one after the other.
#pragma once

#include <castnet/core/square_root.hpp>
#include <castnet/graph/op/attention.hpp>
#include <castnet/graph/op/parameter_slice.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/nn/attention_masks.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/positions.hpp>
#include <castnet/nn/reshape.hpp>

#include <tuple>

namespace castnet {

namespace detail {

// Whether the operation of graph/op/attention.hpp knows these masks.
template <class... Mask>
inline constexpr bool has_fused_masks =
    ((std::is_same_v<Mask, causal_mask_function> || is_length_mask<Mask>) && ...) &&
    (0 + ... + (is_length_mask<Mask> ? 1 : 0)) <= 1;

constexpr std::tuple<> lengths_of(causal_mask_function const&) {
    return {};
}
template <Shape S>
constexpr std::tuple<symbol<S>> lengths_of(length_mask_function<S> const& mask) {
    return {mask.lengths};
}

template <Symbol X>
constexpr X masked(X scores) {
    return scores;
}
template <Symbol X, class Mask, class... More>
constexpr X masked(X scores, Mask const& mask, More const&... more) {
    return masked(mask(scores), more...);
}

// The element-wise functions from node `first` on that make node `id`, as nodes of their own. What
// they read otherwise, such as parameters and random numbers, stays one.
constexpr int written_again(ir::graph& g, int first, int id) {
    int const end = g.nodes.size();
    ir::list<int> again;
    for (int i = first; i < end; ++i) {
        ir::node n = g.nodes[i];
        if (n.kind == op::map || n.kind == op::reshape) {
            for (int k = 0; k < n.operands; ++k) {
                n.in[k] = n.in[k] < first ? n.in[k] : again[n.in[k] - first];
            }
            again.push(g.push(n));
        } else {
            again.push(i);
        }
    }
    return id < first ? id : again[id - first];
}

template <Shape S>
inline constexpr bool has_time_and_features = S::rank == 2;

} // namespace detail

template <size_t Heads, Shape Queries, Shape Keys, Shape Values>
inline constexpr bool attends =
    detail::has_time_and_features<Queries> && detail::has_time_and_features<Keys> &&
    detail::has_time_and_features<Values> && channels_of<Queries> == channels_of<Keys> &&
    pixels_of<Keys> == pixels_of<Values> && Heads > 0 && channels_of<Queries> % Heads == 0 &&
    channels_of<Values> % Heads == 0;

// A class, so that every compiler prints the type.
template <class Mask>
struct masks_scores {
    static constexpr bool checked = !Symbol<Mask>;
    static_assert(checked, "castnet: attention takes queries, keys, values and then masks: what "
                           "stands behind is no mask, such as length_mask(lengths) or "
                           "additive_mask(scores); see masks_scores<type found>");
};

// softmax(q k' / sqrt(features of a head)) v of every head, with masks on the scores: PyTorch's
// scaled_dot_product_attention. (queries, features), (keys, features) and (keys, values) become
// (queries, values). With masks other than causal_mask and one length_mask, the weights of all
// pairs are stored; with these, memory grows with the length of the sequences and not with its
// square.
template <size_t Heads>
struct attention_function {
    static constexpr char const* name = "attention";
    double rate = 0;

    // In training every weight is set to 0 with this probability, and the others are divided by the
    // probability to keep them.
    constexpr attention_function dropout(double probability) const { return {probability}; }

    template <Shape Q, Shape K, Shape V, class... Mask>
    constexpr auto operator()(symbol<Q> q, symbol<K> k, symbol<V> v, Mask const&... masks) const {
        static_assert(
            attends<Heads, Q, K, V>,
            "castnet: attention needs sequences: queries (time, features), keys and "
            "values of one length, keys with as many features as the queries, and features "
            "that the heads can share equally; several sequences of a sample are more heads, as in "
            "window_attention of the guide; see attends<heads, queries, keys, values>");
        using result = shape<Q::extent[0], channels_of<V>>;
        if constexpr (attends<Heads, Q, K, V> && (masks_scores<Mask>::checked && ...)) {
            if constexpr (detail::has_fused_masks<Mask...> &&
                          Heads <= ir::attention_form::most_heads) {
                return fused<result>(q, k, v, masks...);
            } else {
                return composed<result>(q, k, v, masks...);
            }
        } else {
            return symbol<result>{q.g, q.id};
        }
    }

private:
    // The weights of all pairs are never stored.
    template <class Result, Shape Q, Shape K, Shape V, class... Mask>
    constexpr auto fused(symbol<Q> q, symbol<K> k, symbol<V> v, Mask const&... masks) const {
        bool const drops = detail::drops(*q.g, rate);
        ir::attention_form const form{.heads = static_cast<int>(Heads),
                                      .causal = (std::is_same_v<Mask, causal_mask_function> || ...),
                                      .stream = drops ? q.g->random_streams++ : -1};
        return std::apply(
            [&](auto const&... lengths) {
                return detail::fused_attention<Result>(form, 1 - rate, q, k, v, lengths...);
            },
            std::tuple_cat(detail::lengths_of(masks)...));
    }

    // Of operations that exist for other purposes, for masks of any kind.
    template <class Result, Shape Q, Shape K, Shape V, class... Mask>
    constexpr auto composed(symbol<Q> q, symbol<K> k, symbol<V> v, Mask const&... masks) const {
        using per_head = row_major_shape<Heads, Q::extent[0], K::extent[0]>;
        constexpr int heads = static_cast<int>(Heads);
        constexpr size_t features = channels_of<Q> / Heads; // of a head
        constexpr double scale = 1 / constant_square_root(features);
        auto const products = detail::batch_matmul<per_head>(
            q, k, {.batch = heads, .transposed_b = true, .beside_a = true, .beside_b = true});
        int const first = q.g->nodes.size();
        auto const scores = detail::masked(products * scale, masks...);
        // Written twice: each kernel that reads the scores masks them, and none stores that.
        decltype(scores) again{q.g, detail::written_again(*q.g, first, scores.id)};
        auto const weights = elementwise<fn::softmax>{}(scores, log_sum_exp(again));
        return detail::batch_matmul<Result>(detail::dropped(weights, rate), v,
                                            {.batch = heads, .beside_b = true, .beside_c = true});
    }
};
template <size_t Heads>
inline constexpr attention_function<Heads> attention{};

template <size_t Heads, Shape Queries, Shape Keys, Shape Values>
inline constexpr bool attends_with_equal_features =
    attends<Heads, Queries, Keys, Values> && channels_of<Values> == channels_of<Queries>;

// Attention between projections of queries, keys and values, whose result is projected too:
// PyTorch's MultiheadAttention. In a chain, a sequence attends to itself; as a function it takes
// queries, and keys and values where these come from elsewhere, and then masks:
//
//   multi_head_attention<8>(x, causal_mask)
//   multi_head_attention<8>(x, memory, length_mask(lengths))
//   multi_head_attention<8>(queries, keys, values)
//
// Parameters: in_proj_weight (3 * features, features), Glorot uniform, and in_proj_bias
// (3 * features), zeros: one below the other, of queries, keys and values; out_proj.weight
// (features, features), Glorot uniform, and out_proj.bias (features), zeros.
template <size_t Heads, bool Rotary = false>
struct multi_head_attention_layer {
    static constexpr char const* name = "multi_head_attention";
    double rate = 0;
    bool is_causal = false;
    bool has_bias = true;

    // Of the weights; see attention_function.
    constexpr multi_head_attention_layer dropout(double probability) const {
        return {probability, is_causal, has_bias};
    }
    // With causal_mask.
    constexpr multi_head_attention_layer causal() const { return {rate, true, has_bias}; }
    constexpr multi_head_attention_layer no_bias() const { return {rate, is_causal, false}; }
    // With rotary_positions<heads> of queries and keys.
    constexpr multi_head_attention_layer<Heads, true> rotary() const {
        return {rate, is_causal, has_bias};
    }

    template <Shape X, class... Mask>
        requires(!Symbol<Mask> && ...)
    constexpr auto operator()(symbol<X> x, Mask const&... masks) const {
        return (*this)(x, x, x, masks...);
    }
    template <Shape Q, Shape K, class... Mask>
        requires(!Symbol<Mask> && ...)
    constexpr auto operator()(symbol<Q> q, symbol<K> memory, Mask const&... masks) const {
        return (*this)(q, memory, memory, masks...);
    }
    template <Shape Q, Shape K, Shape V, class... Mask>
    constexpr symbol<Q> operator()(symbol<Q> q, symbol<K> k, symbol<V> v,
                                   Mask const&... masks) const {
        static_assert(
            attends_with_equal_features<Heads, Q, K, V>,
            "castnet: multi_head_attention needs sequences (time, features): queries, keys and "
            "values with as many features, which the heads can share equally, and keys and values "
            "of one length; several sequences of a sample are more heads, as in window_attention "
            "of the guide; see attends_with_equal_features<heads, queries, keys, values>");
        if constexpr (attends_with_equal_features<Heads, Q, K, V>) {
            constexpr size_t features = channels_of<Q>;
            ir::graph& g = *q.g;
            scope_guard const scope{g, layer_kind{name}};
            auto const weight = new_parameter<shape<3 * features, features>>(
                g, "in_proj_weight", {.kind = role::dense_weight});
            auto const bias = in_proj_bias<3 * features>(g);
            if constexpr (std::is_same_v<Q, K> && std::is_same_v<K, V>) {
                if (q.id == k.id && k.id == v.id) { // one product projects all
                    auto const all = has_bias ? matmul(q, weight) + bias : matmul(q, weight);
                    return attend(all | slice_channels<0, features>,
                                  all | slice_channels<features, features>,
                                  all | slice_channels<2 * features, features>, masks...);
                }
            }
            auto const project = [&]<size_t Part>(auto x, std::integral_constant<size_t, Part>) {
                auto const y = matmul(x, parameter_slice<Part * features, features>(weight));
                return has_bias ? y + parameter_slice<Part * features, features>(bias) : y;
            };
            return attend(project(q, std::integral_constant<size_t, 0>{}),
                          project(k, std::integral_constant<size_t, 1>{}),
                          project(v, std::integral_constant<size_t, 2>{}), masks...);
        } else {
            return q;
        }
    }

private:
    // Of projected queries, keys and values.
    template <Shape Q, Shape K, Shape V, class... Mask>
    constexpr symbol<Q> attend(symbol<Q> q, symbol<K> k, symbol<V> v, Mask const&... masks) const {
        auto const placed = [](auto x) {
            if constexpr (Rotary) {
                return rotary_positions<Heads>(x);
            } else {
                return x;
            }
        };
        auto const weigh = attention<Heads>.dropout(rate);
        auto const y = is_causal ? weigh(placed(q), placed(k), v, causal_mask, masks...)
                                 : weigh(placed(q), placed(k), v, masks...);
        dense_layer<channels_of<Q>> out;
        out.has_bias = has_bias;
        scope_guard const of_out{*q.g, "out_proj"};
        return out(y);
    }

    template <size_t Units>
    constexpr symbol<shape<Units>> in_proj_bias(ir::graph& g) const {
        return has_bias ? new_parameter<shape<Units>>(g, "in_proj_bias", {.kind = role::vector})
                        : symbol<shape<Units>>{&g, -1};
    }
};
template <size_t Heads>
inline constexpr multi_head_attention_layer<Heads> multi_head_attention{};

} // namespace castnet
