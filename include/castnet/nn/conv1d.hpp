// 1-D convolution, conv1d<Filters, Kernel, conv{…}>: cross-correlation over the steps of a sequence
// plus bias (Keras' Conv1D, PyTorch's Conv1d). (time, features) becomes (time', filters).
//
// Parameters: weight (filters, features / groups, kernel), Glorot uniform; bias (filters), zeros.
#pragma once

#include <castnet/nn/conv2d.hpp>

namespace castnet {

template <class Input>
inline constexpr bool has_time = Input::rank == 2;

template <size_t Filters, size_t Kernel, conv Options>
struct conv1d_layer : weighted<conv1d_layer<Filters, Kernel, Options>> {
    static constexpr char const* name = "conv1d";
    static_assert(Filters > 0, "castnet: conv1d needs at least one filter");
    static_assert(is_single(Options.stride) && is_single(Options.padding.pixels) &&
                      is_single(Options.dilation),
                  "castnet: conv1d: a stride, padding or dilation along time is a single number");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static constexpr bool slides =
        can_slide(Kernel, Options.stride, Options.dilation, Options.groups);
    static_assert(slides, "castnet: conv1d: kernel, stride, dilation and groups are at least 1");

    template <Shape S>
    using weight_shape = row_major_shape<filters, channels_of<S> / Options.groups, Kernel>;

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(has_time<S>, "castnet: conv1d needs a sequence (time, features); see "
                                   "has_time<input shape>");
        if constexpr (has_time<S> && slides) {
            return over_time(x);
        } else {
            return symbol<shape<1, filters>>{x.g, x.id};
        }
    }

private:
    template <size_t Time, size_t Features>
    constexpr auto over_time(symbol<shape<Time, Features>> x) const {
        static_assert(groups_divide<Features, filters, Options.groups>::checked);
        constexpr ir::window w =
            make_window_over_time(int(Features), int(Time), int(filters), Kernel, Options.stride.w,
                                  Options.padding, Options.dilation.w, Options.groups);
        constexpr bool fits = w.out_width > 0;
        static_assert(fits || kernel_within<kernel<Kernel>, shape<Time, Features>>,
                      "castnet: conv1d: the kernel is larger than its input (time, features); see "
                      "kernel_within<kernel<steps>, input shape>");
        using result = shape<fits ? size_t(w.out_width) : 1, filters>;
        ir::graph& g = *x.g;
        scope_guard const scope{g, layer_kind{"conv1d"}};
        auto const weight = new_parameter<weight_shape<shape<Time, Features>>>(
            g, "weight", {role::conv_weight, this->weight_start, this->cost});
        auto y = convolve<result>(x, weight, w);
        if (this->has_bias) {
            y = y + new_parameter<shape<filters>>(g, "bias", {role::vector, this->bias_start});
        }
        return y;
    }
};

template <size_t Filters, size_t Kernel, conv Options = conv{}>
inline constexpr conv1d_layer<Filters, Kernel, Options> conv1d{};

} // namespace castnet
