// Gradient of max pooling by windows that tile an image: each window writes all of its pixels, and
// the largest of them gets the gradient.
#pragma once

#include <castnet/device/cuda/winners.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/graph/op/pool.hpp>

namespace castnet::cuda {

struct window_tiles {
    window w;
    winners largest;
    quotient columns; // of the windows

    // Calls store(numbers, place in the image) for the pixels of a window, the one with this number
    // in its sample; for the last one of a row or column also for those after it, which no window
    // has.
    template <class T, int Lanes, class Store>
    CASTNET_HD void spread(T const (&gradient)[Lanes], std::uint32_t sample, std::uint32_t pixel,
                           std::uint32_t channel, Store const& store) const {
        std::uint32_t const line = columns.divide(pixel);
        auto const row = static_cast<int>(line),
                   column = static_cast<int>(pixel - line * columns.divisor);
        std::uint32_t winner[Lanes];
        largest.load(place(sample, w.out_height, w.out_width, row, column) + channel, winner);
        int const top = row * w.kernel_h, left = column * w.kernel_w,
                  bottom = row + 1 < w.out_height ? top + w.kernel_h : w.height,
                  right = column + 1 < w.out_width ? left + w.kernel_w : w.width;
        std::uint32_t number = 0; // of the pixel in the window
        for (int r = top; r < bottom; ++r) {
            CASTNET_NO_UNROLL
            for (int c = left; c < right; ++c) {
                bool const inside = c < left + w.kernel_w; // (numbers of rows below are too large)
                T mine[Lanes];
                CASTNET_UNROLL
                for (int i = 0; i < Lanes; ++i) {
                    mine[i] = inside && winner[i] == number ? gradient[i] : T(0);
                }
                store(mine, place(sample, w.height, w.width, r, c) + channel);
                number += inside ? 1 : 0;
            }
        }
    }

private:
    CASTNET_HD std::uint32_t place(std::uint32_t sample, int height, int width, int row,
                                   int column) const {
        std::uint32_t const line =
            sample * static_cast<std::uint32_t>(height) + static_cast<std::uint32_t>(row);
        return (line * static_cast<std::uint32_t>(width) + static_cast<std::uint32_t>(column)) *
               static_cast<std::uint32_t>(w.channels);
    }
};

} // namespace castnet::cuda
