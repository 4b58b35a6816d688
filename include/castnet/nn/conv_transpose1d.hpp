// Transposed 1-D convolution, conv_transpose1d<Filters, Kernel, conv_transpose{…}> (PyTorch's
// ConvTranspose1d, Keras' Conv1DTranspose): the gradient of conv1d by its sequence, plus bias.
// (time, features) becomes (time', filters) with
//     time' = (time - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1,
// or, with padding same, time * stride.
//
// Parameters: weight (features, filters / groups, kernel), Glorot uniform; bias (filters), zeros.
#pragma once

#include <castnet/nn/conv1d.hpp>
#include <castnet/nn/conv_transpose2d.hpp>

namespace castnet {

template <size_t Filters, size_t Kernel, conv_transpose Options>
struct conv_transpose1d_layer : weighted<conv_transpose1d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "conv_transpose1d";
    static_assert(Filters > 0, "castnet: conv_transpose1d needs at least one filter");
    static_assert(
        is_single(Options.stride) && is_single(Options.padding.pixels) &&
            is_single(Options.output_padding) && is_single(Options.dilation),
        "castnet: conv_transpose1d: a stride, padding or dilation along time is a single number");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static constexpr bool slides =
        can_slide(Kernel, Options.stride, Options.dilation, Options.groups);
    static_assert(slides,
                  "castnet: conv_transpose1d: kernel, stride, dilation and groups are at least 1");
    static_assert(!Options.padding.causal,
                  "castnet: conv_transpose1d: only conv1d and pooling have causal padding; here, "
                  "slice the last steps off the result");

    static constexpr size_t filters_axis = 1; // of the weight
    template <Shape S>
    using weight_shape = row_major_shape<channels_of<S>, filters / Options.groups, Kernel>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return with_scaled_input(x, [](auto unscaled, auto) { return unscaled; });
    }
    // The layer of scaled(x, weight).
    template <Shape S, class Scaled>
    constexpr auto with_scaled_input(symbol<S> x, Scaled const& scaled) const {
        static_assert(has_time<S>, "castnet: conv_transpose1d needs a sequence (time, features); "
                                   "see has_time<input shape>");
        if constexpr (has_time<S> && slides) {
            return over_time(x, scaled);
        } else {
            return symbol<shape<1, filters>>{x.g, x.id};
        }
    }

private:
    template <size_t Time, size_t Features, class Scaled>
    constexpr auto over_time(symbol<shape<Time, Features>> x, Scaled const& scaled) const {
        constexpr size_t stride = Options.stride.w, more = Options.output_padding.w,
                         pad = Options.padding.pixels.w;
        static_assert(groups_divide<Features, filters, Options.groups>::checked);
        static_assert(more < stride || output_padding_below_stride<kernel<more>, kernel<stride>>,
                      "castnet: conv_transpose1d: output_padding must be less than the stride; see "
                      "output_padding_below_stride<output padding, stride>");
        constexpr size_t time = transposed_extent(Time, Kernel, stride, pad, more,
                                                  Options.dilation.w, Options.padding.same);
        static_assert(time > 0 || padding_within<kernel<pad>, shape<Time, Features>>,
                      "castnet: conv_transpose1d: the padding, which is cut off the result, leaves "
                      "nothing of it; see padding_within<padding, input shape>");
        using result = shape<std::max(time, size_t{1}), filters>;
        constexpr ir::window w =
            make_window_over_time(int(filters), int(result::extent[0]), int(Features), Kernel,
                                  stride, Options.padding, Options.dilation.w, Options.groups);
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{name}};
        auto const weight = new_parameter<weight_shape<shape<Time, Features>>>(
            g, "weight", {role::conv_weight, this->weight_start, this->cost});
        auto y = convolve_transposed<result>(scaled(x, weight), weight, w);
        if (this->has_bias) {
            y = y + new_parameter<shape<filters>>(g, "bias", {role::vector, this->bias_start});
        }
        return y;
    }
};

template <size_t Filters, size_t Kernel, conv_transpose Options = conv_transpose{}>
inline constexpr conv_transpose1d_layer<Filters, Kernel, Options> conv_transpose1d{};

} // namespace castnet
