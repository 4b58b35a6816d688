// Convolutions of few channels or filters, and such gradients with respect to the image, as runs of
// pixels (runs.hpp): general tiles would be too small.
#pragma once

#include <castnet/device/cpu/band_conv.hpp>
#include <castnet/device/cpu/data_window.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/shallow_conv.hpp>
#include <castnet/device/cpu/tuning.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// The only decision which convolutions are runs. Short rows would repeat too much work.
template <class T>
constexpr bool uses_runs(window const& w) {
    return is_shallow(w) || (w.groups == 1 && w.filters <= run_filters<T> && w.out_width >= 14 &&
                             window_places(w) <= run_steps);
}

template <bool Turned, class T>
void run_conv(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const w = Turned ? data_window(t.windows[s.window]) : t.windows[s.window];
    std::ptrdiff_t offset[run_steps];
    window_offsets(forward_window(w), offset);
    tile_depth<T> const d{window_places(w), offset,
                          c.at(t.arrays[Turned ? s.prepared : s.first_array + 1]), w.filters};
    tile_end<T> const end = Turned ? tile_end<T>{} : tile_end_of(s, t, c);
    for_each_band(w, s, t, c, [&](T const* x, runs const& pixels, T* y) {
        multiply_runs(x, pixels, d, end, w.filters, y);
    });
}
template <class T>
void turn_weights(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    auto const from = weight_view<T>::of(w, c.at(t.arrays[s.first_array + 1]), true);
    T* to = c.at(t.arrays[s.prepared]);
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{w.kernel_h} * w.kernel_w; ++i) {
        for (std::ptrdiff_t j = 0; j < w.filters; ++j) {
            for (std::ptrdiff_t f = 0; f < w.channels; ++f) {
                *to++ = from.at(i, j, f);
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
