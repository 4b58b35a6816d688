// Borders of images: zero_pad2d<sides{…}> and crop2d<sides{…}>.
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/window.hpp>

namespace castnet {

// Rows and columns at the four sides of an image: one number for all of them, one for top and
// bottom and one for left and right, or each of them.
struct sides {
    size_t top = 0, bottom = 0, left = 0, right = 0;
    constexpr sides(size_t each) : sides{each, each} {}
    constexpr sides(size_t vertical, size_t horizontal)
        : sides{vertical, vertical, horizontal, horizontal} {}
    constexpr sides(size_t above, size_t below, size_t before, size_t after)
        : top{above}, bottom{below}, left{before}, right{after} {}
};

template <class Sides, class Input>
inline constexpr bool pixels_left = false;
template <size_t... D>
struct top_bottom_left_right;

namespace detail {

template <Shape S, class F>
constexpr auto with_borders(symbol<S> x, F layer) {
    static_assert(is_image<S>,
                  "castnet: padding and cropping in two dimensions, such as zero_pad2d and crop2d, "
                  "need an image (channels, height, width); see is_image<input shape>");
    if constexpr (is_image<S>) {
        return layer(x);
    } else {
        return x;
    }
}

} // namespace detail

// So many zeros around (Keras' ZeroPadding2D; PyTorch's ZeroPad2d, which takes left, right, top,
// bottom): (channels, height, width) becomes (channels, top + height + bottom, left + width +
// right).
template <sides Around>
struct zero_pad2d_layer {
    static constexpr char const* name = "zero_pad2d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::with_borders(x, [](auto image) {
            return pad<2, Around.left, Around.right>(pad<1, Around.top, Around.bottom>(image));
        });
    }
};
template <sides Around>
inline constexpr zero_pad2d_layer<Around> zero_pad2d{};

// Without so many rows and columns (Keras' Cropping2D; PyTorch's F.pad with negative numbers).
template <sides Around>
struct crop2d_layer {
    static constexpr char const* name = "crop2d";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::with_borders(x, [](auto image) { return cropped(image); });
    }

private:
    template <size_t C, size_t H, size_t W>
    static constexpr auto cropped(symbol<shape<C, H, W>> x) {
        constexpr bool some = Around.top + Around.bottom < H && Around.left + Around.right < W;
        using cut = top_bottom_left_right<Around.top, Around.bottom, Around.left, Around.right>;
        static_assert(some || pixels_left<cut, shape<C, H, W>>,
                      "castnet: crop2d leaves nothing of the image; see "
                      "pixels_left<top_bottom_left_right, input shape>");
        if constexpr (some) {
            auto const rows = slice<1, Around.top, H - Around.bottom>(x);
            return slice<2, Around.left, W - Around.right>(rows);
        } else {
            return x;
        }
    }
};
template <sides Around>
inline constexpr crop2d_layer<Around> crop2d{};

} // namespace castnet
