// Unfolding of images along their height, and its gradient. A thread computes some neighbouring
// channels of one place of the window, or of a pixel.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/cuda/window_map.hpp>
#include <castnet/device/quotient.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

// The loop's images are rows of the result's, its rows their pixels, its columns groups and, within
// these, places of the window.
template <class T>
struct unfold_body {
    window w;
    image_loop loop;
    quotient places, rows; // of the window; of the result
    stored<T> from, to;

    CASTNET_HD unfold_body(window const& of, std::ptrdiff_t samples, stored<T> x, stored<T> y)
        : w{of},
          loop{samples * of.out_height, of.width, of.groups * of.kernel_h, of.channels / of.groups},
          places(of.kernel_h), rows(of.out_height), from{x}, to{y} {}

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        auto const width = static_cast<std::uint32_t>(w.width),
                   run = static_cast<std::uint32_t>(w.channels / w.groups);
        loop.run(block, [&]<int Lanes>(std::integral_constant<int, Lanes>, image_place const& at) {
            auto const column = static_cast<std::uint32_t>(at.column);
            std::uint32_t const group = places.divide(column), sample = rows.divide(at.sample);
            int const place = static_cast<int>(column - group * places.divisor),
                      row = static_cast<int>(at.sample - sample * rows.divisor);
            int const y = row * w.stride_h - w.pad_top + place * w.dilation_h;
            T lane[Lanes]{};
            if (y >= 0 && y < w.height) {
                std::uint32_t const line =
                    sample * static_cast<std::uint32_t>(w.height) + static_cast<std::uint32_t>(y);
                std::uint32_t const pixel = line * width + static_cast<std::uint32_t>(at.row);
                from.load(pixel * static_cast<std::uint32_t>(w.channels) + group * run + at.channel,
                          lane);
            }
            std::uint32_t const pixel = at.sample * width + static_cast<std::uint32_t>(at.row);
            to.store(lane,
                     pixel * static_cast<std::uint32_t>(w.filters) + column * run + at.channel);
        });
    }
};

// The loop's images are rows of the image's, its rows their pixels, its columns groups.
template <class T>
struct fold_body {
    window w;
    image_loop loop;
    quotient rows, stride; // of the image
    stored<T> from, to;

    CASTNET_HD fold_body(window const& of, std::ptrdiff_t samples, stored<T> y, stored<T> x)
        : w{of}, loop{samples * of.height, of.width, of.groups, of.channels / of.groups},
          rows(of.height), stride(of.stride_h), from{y}, to{x} {}

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        auto const width = static_cast<std::uint32_t>(w.width),
                   run = static_cast<std::uint32_t>(w.channels / w.groups);
        loop.run(block, [&]<int Lanes>(std::integral_constant<int, Lanes>, image_place const& at) {
            std::uint32_t const sample = rows.divide(at.sample);
            int const row = static_cast<int>(at.sample - sample * rows.divisor);
            T sum[Lanes]{};
            CASTNET_NO_UNROLL
            for (int k = 0; k < w.kernel_h; ++k) {
                int const top = row + w.pad_top - k * w.dilation_h;
                if (top < 0) {
                    break;
                }
                std::uint32_t const of_result = stride.divide(static_cast<std::uint32_t>(top));
                if (of_result * stride.divisor != static_cast<std::uint32_t>(top) ||
                    of_result >= static_cast<std::uint32_t>(w.out_height)) {
                    continue;
                }
                std::uint32_t const line =
                    sample * static_cast<std::uint32_t>(w.out_height) + of_result;
                std::uint32_t const pixel = line * width + static_cast<std::uint32_t>(at.row),
                                    place = static_cast<std::uint32_t>(at.column * w.kernel_h + k);
                T lane[Lanes];
                from.load(pixel * static_cast<std::uint32_t>(w.filters) + place * run + at.channel,
                          lane);
                CASTNET_UNROLL
                for (int i = 0; i < Lanes; ++i) {
                    sum[i] += lane[i];
                }
            }
            std::uint32_t const pixel = at.sample * width + static_cast<std::uint32_t>(at.row);
            to.store(sum, pixel * static_cast<std::uint32_t>(w.channels) +
                              static_cast<std::uint32_t>(at.column) * run + at.channel);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void unfold(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    unfold_body<T> const body{t.windows[s.window], c.samples, stored_at(c, t.arrays[s.first_array]),
                              stored_at(c, t.arrays[s.output])};
    c.launch(grid_for(body.loop.count), body);
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void fold(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    fold_body<T> const body{t.windows[s.window], c.samples, stored_at(c, t.arrays[s.first_array]),
                            stored_at(c, t.arrays[s.output])};
    c.launch(grid_for(body.loop.count), body);
}

template <class Context>
struct kernel_for<Context, op::unfold> : function_kernel<Context, &unfold<Context>> {};
template <class Context>
struct kernel_for<Context, op::fold> : function_kernel<Context, &fold<Context>> {};

} // namespace castnet::cuda
