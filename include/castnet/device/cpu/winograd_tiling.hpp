// Geometry of convolutions by Winograd's algorithm (winograd.hpp): tiles of 2x2 results, and the
// pieces of two or three taps that windows are made of.
//
// Along an axis, the two results of a tile under three taps are four products, those under two taps
// three. Windows of more taps, and the taps of windows that move by several pixels, are pieces at
// equal distances, whose products are added up before they are transformed back: 49 in place of 100
// for the 2x2 results of a 5x5 window, 36 in place of 64 for those of 4x4 with stride 2.
#pragma once

#include <castnet/cpu/factor.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/taps.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// Along an axis, and in a tile. The third point is that of pieces with three taps only.
inline constexpr int winograd_points = 4, winograd_places = winograd_points * winograd_points;

struct tap_piece {
    int first, taps; // which of the axis the first one is, and their number
};

// One axis of a convolution: an image, the results of windows over it, and their taps.
struct tile_axis {
    int in, out;       // pixels, and results in memory
    int first_pixel;   // under the first tap for the first result
    int stride;        // pixels from window to window; taps from one of a piece to the next
    int dilation;      // pixels from tap to tap; results from the first one of a tile to the second
    int taps;          // of which the window's
    int first_tap = 0; // is the first one,
    int tap_step = 1;  // and so much further on the next one
    int first_result = 0, result_step = 1; // where results lie in memory
    int all_pieces = 0, all_threes = 0;    // counted once, since each block asks for them

    // The same with its pieces counted.
    constexpr tile_axis counted() const {
        tile_axis axis = *this;
        for (int phase = 0; phase < stride; ++phase) {
            axis.all_pieces += (taps_of(phase) - threes_of(phase)) / 2;
            axis.all_threes += threes_of(phase);
        }
        return axis;
    }
    constexpr int results() const { return (out - first_result + result_step - 1) / result_step; }
    // There are as many tiles as the dilation in each two dilations of results.
    constexpr int tiles() const {
        int const all = results();
        return all / (2 * dilation) * dilation + std::min(all % (2 * dilation), dilation);
    }
    // The first result of a tile.
    constexpr int result_of(int tile) const {
        return dilation == 1 ? 2 * tile : tile / dilation * dilation + tile;
    }
    constexpr bool has_second(int result) const { return place_in_memory(result + dilation) < out; }
    // The first pixel under a piece for this result.
    constexpr int pixel_of(int result, tap_piece const& p) const {
        return first_pixel + result * stride + p.first * dilation;
    }
    constexpr int place_in_window(int tap) const { return first_tap + tap * tap_step; }
    constexpr int place_in_memory(int result) const { return first_result + result * result_step; }

    // Those of three taps come first.
    constexpr tap_piece piece(int i) const {
        for (int const size : {3, 2}) {
            for (int phase = 0; phase < stride; ++phase) {
                int const three = threes_of(phase);
                int const count = size == 3 ? three : (taps_of(phase) - 3 * three) / 2;
                if (i < count) {
                    int const before = size == 3 ? 3 * i : 3 * three + 2 * i;
                    return {phase + before * stride, size};
                }
                i -= count;
            }
        }
        return {};
    }
    constexpr int threes() const { return all_threes; }
    constexpr int pieces() const { return all_pieces; }
    constexpr int pieces_at(int point) const { return point == 2 ? threes() : pieces(); }
    constexpr int pieces_before(int point) const {
        return point < 3 ? point * pieces() : (point - 1) * pieces() + threes();
    }
    constexpr int most_taps() const { return threes() > 0 ? 3 : 2; } // of a piece

private:
    constexpr int taps_of(int phase) const { return (taps - phase + stride - 1) / stride; }
    constexpr int threes_of(int phase) const {
        int const all = taps_of(phase);
        return all % 3 == 1 ? (all - 4) / 3 : all / 3;
    }
};

// Tiles are transformed piece by piece. Each place in a tile has a section for every pair of pieces
// with this point, which are the parts of the depth of its product.
struct tiling {
    tile_axis down, across;
    int channels, filters;

    constexpr std::ptrdiff_t tiles() const { return std::ptrdiff_t{down.tiles()} * across.tiles(); }
    constexpr std::ptrdiff_t image_count() const {
        return std::ptrdiff_t{down.in} * across.in * channels;
    }
    constexpr std::ptrdiff_t result_count() const {
        return std::ptrdiff_t{down.out} * across.out * filters;
    }
    constexpr int sections() const { return sections_before(winograd_places); }
    constexpr int sections_at(int place) const {
        return down.pieces_at(place / winograd_points) * across.pieces_at(place % winograd_points);
    }
    constexpr int sections_before(int place) const {
        int const y = place / winograd_points;
        return down.pieces_before(y) * across.pieces_before(winograd_points) +
               (y < winograd_points
                    ? down.pieces_at(y) * across.pieces_before(place % winograd_points)
                    : 0);
    }
};

constexpr tiling forward_tiling(window const& w) {
    tile_axis const down{w.height, w.out_height, -w.pad_top, w.stride_h, w.dilation_h, w.kernel_h},
        across{w.width, w.out_width, -w.pad_left, w.stride_w, w.dilation_w, w.kernel_w};
    return {down.counted(), across.counted(), w.channels, w.filters};
}

// The gradient by the image is a convolution of the result's gradient for each remainder of its
// pixels by the stride, with every stride-th tap, the last one first.
constexpr tile_axis data_axis(int in, int out, int taps, int stride, int pad, int dilation,
                              int remainder) {
    int const here = (taps - remainder + stride - 1) / stride,
              last = remainder + stride * (here - 1);
    int const first = ((remainder - pad) % stride + stride) % stride;
    tile_axis const axis{
        out,   in,       (first + pad - remainder) / stride - (here - 1) * dilation,
        1,     dilation, here,
        last,  -stride,  first,
        stride};
    return axis.counted();
}
constexpr tiling data_tiling(window const& w, int down, int across) {
    return {
        data_axis(w.height, w.out_height, w.kernel_h, w.stride_h, w.pad_top, w.dilation_h, down),
        data_axis(w.width, w.out_width, w.kernel_w, w.stride_w, w.pad_left, w.dilation_w, across),
        w.filters, w.channels};
}
// Calls f(tiling) for all remainders, that with the most taps first.
template <class F>
constexpr void for_each_data_tiling(window const& w, F const& f) {
    for (int down = 0; down < w.stride_h; ++down) {
        for (int across = 0; across < w.stride_w; ++across) {
            f(data_tiling(w, down, across));
        }
    }
}

// Windows that are not just one piece of 3x3 taps.
constexpr bool is_split(window const& w) {
    return w.kernel_h != 3 || w.kernel_w != 3;
}

// Whether pieces of two and three taps make up a window's axis.
constexpr bool has_pieces(int taps, int stride, int dilation) {
    return taps >= 2 * stride && taps > 2 && taps <= 7 && (stride == 1 || dilation == 1);
}
// Whether so many products are few enough, beside those of direct sums, to be worth the transforms,
// whose cost is per channel and per filter.
constexpr bool saves_products(std::ptrdiff_t products, std::ptrdiff_t direct) {
    return products * 4 <= direct * 3;
}
template <class F>
constexpr bool suits_winograd(window const& w) {
    constexpr int pair = simd<F>::width * numbers_in<F>;
    bool const has_many_results = w.out_height * w.out_width >= winograd_many_results;
    int const least = has_many_results ? winograd_channels : winograd_channels_of_few_results;
    return has_pieces(w.kernel_h, w.stride_h, w.dilation_h) &&
           has_pieces(w.kernel_w, w.stride_w, w.dilation_w) && w.groups == 1 &&
           w.channels >= least && w.filters >= least && w.pad_top < w.kernel_h * w.dilation_h &&
           w.pad_left < w.kernel_w * w.dilation_w &&
           (numbers_in<F> == 1 ||
            (w.channels % pair == 0 && w.filters % pair == 0 && !is_split(w)));
}
template <class F>
constexpr bool uses_winograd(window const& w) {
    if (!suits_winograd<F>(w)) {
        return false;
    }
    tiling const t = forward_tiling(w);
    return saves_products(t.sections() * t.tiles(),
                          std::ptrdiff_t{w.kernel_h} * w.kernel_w * w.out_height * w.out_width);
}
template <class F>
constexpr bool data_uses_winograd(window const& w) {
    if (!suits_winograd<F>(w)) {
        return false;
    }
    std::ptrdiff_t products = 0;
    for_each_data_tiling(w, [&](tiling const& t) { products += t.sections() * t.tiles(); });
    return saves_products( // direct gradients by the image take those that meet a pixel
        products, pairs_inside(vertical_axis(w)) * pairs_inside(horizontal_axis(w)));
}

// Position of a tile: that of its first result.
struct tile_place {
    std::ptrdiff_t image;
    int y, x;
};
// Tiles next to each other in a row.
struct tile_run {
    tile_place first;
    std::ptrdiff_t tiles;

    tile_place operator[](std::ptrdiff_t i) const {
        return {first.image, first.y, first.x + 2 * static_cast<int>(i)};
    }
};
// Two tiles whose numbers make pairs.
struct tile_pair {
    tile_place place[2];
};
// Positions of tiles, image after image.
struct tile_places {
    tiling const& t;
    std::ptrdiff_t in_image = t.tiles();
    int across = t.across.tiles();

    tile_place operator[](std::ptrdiff_t tile) const {
        std::ptrdiff_t const image = tile / in_image;
        int const here = static_cast<int>(tile - image * in_image), row = here / across;
        return {image, t.down.result_of(row), t.across.result_of(here - row * across)};
    }
};
// A tile of which all pixels lie outside the image.
inline constexpr tile_place no_tile{0, -(1 << 28), 0};

// Calls f(i, run) for runs that make up these tiles, i of which come before it. Those of a dilated
// window are single tiles.
template <class F>
void for_each_run(tiling const& t, std::ptrdiff_t first, std::ptrdiff_t tiles, F const& f) {
    int const across = t.across.tiles(), down = t.down.tiles();
    int const most = t.across.dilation == 1 ? across : 1;
    int const in_image = static_cast<int>(first % t.tiles());
    std::ptrdiff_t image = first / t.tiles();
    int row = in_image / across, column = in_image % across;
    for (std::ptrdiff_t i = 0; i < tiles;) {
        std::ptrdiff_t const here =
            std::min<std::ptrdiff_t>(tiles - i, std::min(most, across - column));
        f(i, tile_run{{image, t.down.result_of(row), t.across.result_of(column)}, here});
        i += here;
        column += static_cast<int>(here);
        if (column == across) {
            column = 0;
            if (++row == down) {
                row = 0;
                ++image;
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
