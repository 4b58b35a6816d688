// Pooling and up-sampling layers for sequences (time, features), feature by feature.
#pragma once

#include <castnet/nn/conv1d.hpp>
#include <castnet/nn/masking.hpp>
#include <castnet/nn/pooling.hpp>

#include <limits>

namespace castnet {

namespace detail {

template <Shape S, class F>
constexpr auto over_sequence(symbol<S> x, F layer) {
    static_assert(has_time<S>, "castnet: pooling and up-sampling over time need a sequence (time, "
                               "features); see has_time<input shape>");
    if constexpr (has_time<S>) {
        return layer(x);
    } else {
        return x;
    }
}

} // namespace detail

template <op Kind, size_t Kernel, pooling Options>
struct pool1d_layer {
    static constexpr char const* name = Kind == op::max_pool ? "max_pool1d" : "avg_pool1d";
    static_assert(is_single(Options.stride) && is_single(Options.padding.pixels),
                  "castnet: pooling: a stride or padding along time is a single number");
    static constexpr bool pools = detail::meets_pixels(Kernel, Options.padding);
    static_assert(pools, "castnet: pooling: the kernel is at least 1, and the padding is smaller "
                         "than it: otherwise some windows contain no step");

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_sequence(x, [](auto sequence) {
            if constexpr (pools) {
                return pooled(sequence);
            } else {
                return sequence;
            }
        });
    }

private:
    template <size_t Time, size_t Features>
    static constexpr auto pooled(symbol<shape<Time, Features>> x) {
        constexpr size_t stride = Options.stride.w ? Options.stride.w : Kernel;
        constexpr ir::window w = make_window_over_time(int(Features), int(Time), int(Features),
                                                       Kernel, stride, Options.padding, 1, 1);
        constexpr bool fits = w.out_width > 0;
        static_assert(fits || kernel_within<kernel<Kernel>, shape<Time, Features>>,
                      "castnet: pooling: the kernel is larger than its input (time, features); see "
                      "kernel_within<kernel<steps>, input shape>");
        ir::window counted = w;
        counted.count_padding = Options.count_padding;
        return pool<Kind, shape<fits ? size_t(w.out_width) : 1, Features>>(x, counted);
    }
};

// The largest of the steps in each window, ignoring padding. The first of equal ones gets the
// gradient. NaN is treated as by max_pool2d.
template <size_t Kernel, pooling Options = pooling{}>
inline constexpr pool1d_layer<op::max_pool, Kernel, Options> max_pool1d{};

template <size_t Kernel, pooling Options = pooling{}>
inline constexpr pool1d_layer<op::avg_pool, Kernel, Options> avg_pool1d{};

// (time, features) becomes (features). Called with lengths, symbols of input_length<time>, as well,
// they pool the steps of each sample before its length, and give 0 where there are none.
struct global_avg_pool1d_layer {
    static constexpr char const* name = "global_avg_pool1d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_sequence(x, [](auto sequence) { return mean_pixels(sequence); });
    }
    template <size_t Time, size_t Features, Shape Length>
    constexpr auto operator()(symbol<shape<Time, Features>> x, symbol<Length> length) const {
        return sum_pixels(mask_steps(x, length)) / maximum(symbol<shape<>>{length.g, length.id}, 1);
    }
};
inline constexpr global_avg_pool1d_layer global_avg_pool1d{};

struct global_max_pool1d_layer {
    static constexpr char const* name = "global_max_pool1d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_sequence(x, [](auto sequence) { return max_pixels(sequence); });
    }
    template <size_t Time, size_t Features, Shape Length>
    constexpr auto operator()(symbol<shape<Time, Features>> x, symbol<Length> length) const {
        constexpr double lowest = -std::numeric_limits<double>::infinity();
        auto const largest = max_pixels(where(sequence_mask<Time>(length), x, lowest));
        return where(greater(symbol<shape<>>{length.g, length.id}, 0), largest, 0);
    }
};
inline constexpr global_max_pool1d_layer global_max_pool1d{};

// Each step becomes Factor steps: all equal to it (Keras' UpSampling1D) or, with .linear(),
// interpolated between the two nearest ones, as PyTorch does with align_corners=False.
template <size_t Factor, bool Linear>
struct upsample1d_layer {
    static constexpr char const* name = "upsample1d";
    static_assert(Factor > 0, "castnet: upsample1d: the factor is 0");

    constexpr upsample1d_layer<Factor, true> linear() const { return {}; }

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::over_sequence(x, [](auto sequence) {
            if constexpr (Factor > 0) {
                return enlarged(sequence);
            } else {
                return sequence;
            }
        });
    }

private:
    template <size_t Time, size_t Features>
    static constexpr auto enlarged(symbol<shape<Time, Features>> x) {
        constexpr int f = static_cast<int>(Factor);
        ir::window w{int(Features), 1, int(Time), int(Features), 1, int(Time) * f, 1, f, 1, f};
        w.bilinear = Linear;
        return pool<op::upsample, shape<Time * Factor, Features>>(x, w);
    }
};
template <size_t Factor>
inline constexpr upsample1d_layer<Factor, false> upsample1d{};

} // namespace castnet
