// Exchange of channels and pixels, pixel_shuffle<Factor> and pixel_unshuffle<Factor> (Shi et al.
// 2016; PyTorch's PixelShuffle and PixelUnshuffle).
#pragma once

#include <castnet/nn/permute.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

template <class Input, size_t Factor>
inline constexpr bool has_channels_for_pixels = false;
template <Shape S, size_t Factor>
    requires is_image<S>
inline constexpr bool has_channels_for_pixels<S, Factor> = Factor > 0 &&
                                                           channels_of<S> % (Factor * Factor) == 0;

template <class Input, size_t Factor>
inline constexpr bool has_squares_of_pixels = false;
template <size_t C, size_t H, size_t W, size_t Factor>
inline constexpr bool has_squares_of_pixels<shape<C, H, W>, Factor> =
    Factor > 0 && H % Factor == 0 && W % Factor == 0;

// (channels * Factor^2, height, width) becomes (channels, height * Factor, width * Factor):
// Factor^2 neighbouring channels of a pixel are the pixels of a square, row by row.
template <size_t Factor>
struct pixel_shuffle_layer {
    static constexpr char const* name = "pixel_shuffle";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(has_channels_for_pixels<S, Factor>,
                      "castnet: pixel_shuffle needs an image (channels, height, width) whose "
                      "channels are a multiple of the factor's square; see "
                      "has_channels_for_pixels<input shape, factor>");
        if constexpr (has_channels_for_pixels<S, Factor>) {
            return shuffled(x);
        } else {
            return x;
        }
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto shuffled(symbol<shape<C, H, W>> x) {
        using result = shape<C / (Factor * Factor), H * Factor, W * Factor>;
        constexpr int f = static_cast<int>(Factor);
        int const extent[] = {int(H), int(W), int(result::extent[0]), f, f};
        int const id = detail::permuted_node(*x.g, detail::sample_id(x), ir::space_of<result>,
                                             {0, 3, 1, 4, 2}, {0, 1, 2, 3, 4}, extent);
        return symbol<result>{x.g, id};
    }
};
template <size_t Factor>
inline constexpr pixel_shuffle_layer<Factor> pixel_shuffle{};

// The inverse: (channels, height, width) becomes (channels * Factor^2, height / Factor, width /
// Factor).
template <size_t Factor>
struct pixel_unshuffle_layer {
    static constexpr char const* name = "pixel_unshuffle";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(has_squares_of_pixels<S, Factor>,
                      "castnet: pixel_unshuffle needs an image (channels, height, width) whose "
                      "height and width are multiples of the factor; see "
                      "has_squares_of_pixels<input shape, factor>");
        if constexpr (has_squares_of_pixels<S, Factor>) {
            return unshuffled(x);
        } else {
            return x;
        }
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto unshuffled(symbol<shape<C, H, W>> x) {
        using result = shape<C * Factor * Factor, H / Factor, W / Factor>;
        constexpr int f = static_cast<int>(Factor);
        int const extent[] = {int(result::extent[1]), f, int(result::extent[2]), f, int(C)};
        int const id = detail::permuted_node(*x.g, detail::sample_id(x), ir::space_of<result>,
                                             {0, 2, 4, 1, 3}, {0, 1, 2, 3, 4}, extent);
        return symbol<result>{x.g, id};
    }
};
template <size_t Factor>
inline constexpr pixel_unshuffle_layer<Factor> pixel_unshuffle{};

} // namespace castnet
