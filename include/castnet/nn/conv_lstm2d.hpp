// Convolutional LSTM, conv_lstm2d<Filters, Kernel, conv{…}> (Shi et al. 2015; Keras' ConvLSTM2D):
// an LSTM over images, whose products with weights are convolutions.
//
// (channels, time, height, width) becomes the last state, (filters, height', width'), or, with
// .return_sequences(), that of all steps, (filters, time, height', width'). Stride, padding and
// dilation are those of the convolution of the input; that of the state keeps its size. Keras'
// gates: i, f and o are sigmoids, the cell's input and output tanh. Its steps are written out
// (nn/unrolled_scan.hpp); with_lengths() and backward() are as for lstm.
//
// Parameters, of the gates i, f, c, o one after another: weight_ih (4 * filters, channels, kernel
// height, kernel width), Glorot uniform; weight_hh (4 * filters, filters, kernel height, kernel
// width), orthogonal; bias (4 * filters), zeros, and ones for f. Keras calls them kernel,
// recurrent_kernel and bias.
#pragma once

#include <castnet/nn/activations.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/scan.hpp>

namespace castnet {

template <size_t Filters, size2 Kernel, conv Options, bool Sequences = false>
struct conv_lstm2d_layer {
    static constexpr char const* name = "conv_lstm2d";
    static_assert(Filters > 0, "castnet: conv_lstm2d needs at least one filter");
    static constexpr size_t filters = Filters > 0 ? Filters : 1; // one mistake is one error
    static_assert(groups_left_out<Options.groups>,
                  "castnet: conv_lstm2d has no groups; see groups_left_out<groups>");
    static constexpr bool slides = can_slide(Kernel, Options.stride, Options.dilation);
    static_assert(slides, "castnet: conv_lstm2d: kernel, stride and dilation are at least 1");

    // The states of all steps instead of the last one.
    constexpr auto return_sequences() const {
        return conv_lstm2d_layer<Filters, Kernel, Options, true>{};
    }

    template <LayerInput X>
    constexpr auto operator()(X x) const {
        using S = typename X::shape_type;
        static_assert(is_image_sequence<S>,
                      "castnet: conv_lstm2d needs a sequence of images (channels, time, height, "
                      "width); see is_image_sequence<input shape>");
        auto const steps = detail::steps_of(x);
        if constexpr (is_image_sequence<S> && slides) {
            return over_time(steps);
        } else {
            return symbol<shape<filters, 1, 1>>{steps.values.g, steps.values.id};
        }
    }

private:
    template <Shape S>
    constexpr auto over_time(time_steps<S> x) const {
        constexpr size_t C = S::extent[0], T = S::extent[1], H = S::extent[2], W = S::extent[3];
        static_assert(!Options.padding.causal, "castnet: conv_lstm2d: causal padding is for time");
        constexpr ir::window of_input = [] {
            ir::window w = make_window(int(C), int(H), int(W), int(4 * filters), Kernel,
                                       Options.stride, Options.padding, Options.dilation, 1);
            w.images = int(T);
            return w;
        }();
        constexpr bool fits = of_input.out_height > 0 && of_input.out_width > 0;
        static_assert(fits || kernel_within<kernel<Kernel.h, Kernel.w>, S>,
                      "castnet: conv_lstm2d: the kernel is larger than its input (channels, time, "
                      "height, width); see kernel_within<kernel<height, width>, input shape>");
        constexpr size_t height = fits ? of_input.out_height : 1,
                         width = fits ? of_input.out_width : 1;
        constexpr ir::window of_state = make_window(int(filters), int(height), int(width),
                                                    int(4 * filters), Kernel, 1, same, 1, 1);
        using state = shape<filters, height, width>;
        using gates = shape<4 * filters, height, width>;
        ir::graph& g = *x.values.g;
        scope_guard const scope{g, layer_kind{name}};
        auto const input = new_parameter<shape<4 * filters, C, Kernel.h, Kernel.w>>(
            g, "weight_ih", {role::conv_weight});
        auto const back = new_parameter<shape<4 * filters, filters, Kernel.h, Kernel.w>>(
            g, "weight_hh", {role::conv_weight, orthogonal()});
        auto const bias = new_parameter<shape<4 * filters>>(
            g, "bias", {role::vector, from_function<[](size_t i) { return i / filters == 1; }>});
        using projected = volume<4 * filters, T, height, width>;
        auto const of_steps = convolve<projected>(detail::as_volume(x.values), input, of_input) +
                              along_channels<projected>(bias);
        auto const cell = [&](auto x_t, auto h, auto c) {
            auto const [in, forget, candidate, out] =
                split<0, 4>(x_t + convolve<gates>(h, back, of_state));
            auto const next = sigmoid(forget) * c + sigmoid(in) * tanh(candidate);
            return carry(sigmoid(out) * tanh(next), next);
        };
        auto const all =
            scan(time_steps<projected>{of_steps, x.backward, x.lengths}, state{}, state{}, cell);
        if constexpr (Sequences) {
            return all.outputs;
        } else {
            return std::get<0>(all.last);
        }
    }
};

template <size_t Filters, size2 Kernel, conv Options = conv{}>
inline constexpr conv_lstm2d_layer<Filters, Kernel, Options> conv_lstm2d{};

} // namespace castnet
