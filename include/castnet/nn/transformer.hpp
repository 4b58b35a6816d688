// Blocks of transformers (Vaswani et al. 2017) with the definitions and names of PyTorch's
// TransformerEncoderLayer and TransformerDecoderLayer.
#pragma once

#include <castnet/nn/attention.hpp>
#include <castnet/nn/layer_norm.hpp>

namespace castnet {

// PyTorch's defaults.
struct transformer {
    size_t feed_forward = 2048; // units between the two dense layers
    double dropout = 0.1;       // of attention's weights, and after attention and dense layers
    bool norm_first = false;    // normalise what goes into a part, not the sum after it
    bool causal = false;        // of an encoder: a position sees none after it
    double epsilon = 1e-5;      // of layer_norm

    friend constexpr bool operator==(transformer const&, transformer const&) = default;
};

namespace detail {

// A layer in the scope of a name.
template <class Layer, class... X>
constexpr auto in_scope(char const* name, Layer const& layer, X const&... x) {
    scope_guard const scope{*graph_of(x...), name};
    return layer(x...);
}

// x + part(x) with a normalisation, before the part or after the sum.
template <transformer Options, Shape S, class Part>
constexpr symbol<S> normalized_residual(symbol<S> x, char const* norm, Part const& part) {
    auto const normalized = [&](symbol<S> y) {
        return in_scope(norm, layer_norm.with_epsilon(Options.epsilon), y);
    };
    return Options.norm_first ? x + dropped(part(normalized(x)), Options.dropout)
                              : normalized(x + dropped(part(x), Options.dropout));
}

// linear1, an activation and linear2.
template <transformer Options, auto Activation, Shape S>
constexpr symbol<S> feed_forward(symbol<S> x) {
    auto const inner = Activation(in_scope("linear1", dense<Options.feed_forward>, x));
    return in_scope("linear2", dense<channels_of<S>>, dropped(inner, Options.dropout));
}

} // namespace detail

// Attention of a sequence (time, features) to itself, and two dense layers, each with a residual
// connection and layer_norm. As a function it takes masks, too.
//
// Parameters: self_attn.… as multi_head_attention has them; linear1.weight, linear1.bias,
// linear2.weight, linear2.bias; norm1.weight, norm1.bias, norm2.weight, norm2.bias.
template <size_t Heads, transformer Options = transformer{}, auto Activation = relu>
struct transformer_encoder_layer_type {
    static constexpr char const* name = "transformer_encoder_layer";

    template <Shape S, class... Mask>
    constexpr symbol<S> operator()(symbol<S> x, Mask const&... masks) const {
        scope_guard const scope{*x.g, layer_kind{name}};
        auto const y = detail::normalized_residual<Options>(x, "norm1", [&](symbol<S> z) {
            constexpr multi_head_attention_layer<Heads> attend{Options.dropout, Options.causal};
            return detail::in_scope("self_attn", attend, z, masks...);
        });
        return detail::normalized_residual<Options>(
            y, "norm2", [](symbol<S> z) { return detail::feed_forward<Options, Activation>(z); });
    }
};
template <size_t Heads, transformer Options = transformer{}, auto Activation = relu>
inline constexpr transformer_encoder_layer_type<Heads, Options, Activation>
    transformer_encoder_layer{};

// The same with attention to another sequence in between, of an encoder: a function of x and that,
// and of masks for that. To itself, a sequence attends causally (PyTorch's tgt_mask) unless it is
// .not_causal(), as where a decoder makes a set.
//
// Parameters: besides, multihead_attn.…, norm3.weight, norm3.bias.
template <size_t Heads, transformer Options = transformer{}, auto Activation = relu>
struct transformer_decoder_layer_type {
    static constexpr char const* name = "transformer_decoder_layer";

    bool is_causal = true;

    constexpr transformer_decoder_layer_type not_causal() const { return {false}; }

    // Only for its message.
    template <Shape S>
    constexpr symbol<S> operator()(symbol<S> x) const {
        static_assert(detail::never<S>,
                      "castnet: transformer_decoder_layer attends to another sequence, too: call "
                      "it with both in the function of a network, decoder(x, memory); without one, "
                      "as in a GPT, take transformer_encoder_layer with transformer{.causal = "
                      "true}");
        return x;
    }
    template <Shape S, Shape Memory, class... Mask>
    constexpr symbol<S> operator()(symbol<S> x, symbol<Memory> memory, Mask const&... masks) const {
        scope_guard const scope{*x.g, layer_kind{name}};
        constexpr multi_head_attention_layer<Heads> attend{Options.dropout};
        auto const y = detail::normalized_residual<Options>(x, "norm1", [&](symbol<S> z) {
            return detail::in_scope("self_attn", is_causal ? attend.causal() : attend, z);
        });
        auto const seen = detail::normalized_residual<Options>(y, "norm2", [&](symbol<S> z) {
            return detail::in_scope("multihead_attn", attend, z, memory, masks...);
        });
        return detail::normalized_residual<Options>(seen, "norm3", [](symbol<S> z) {
            return detail::feed_forward<Options, Activation>(z);
        });
    }
};
template <size_t Heads, transformer Options = transformer{}, auto Activation = relu>
inline constexpr transformer_decoder_layer_type<Heads, Options, Activation>
    transformer_decoder_layer{};

} // namespace castnet
