// Convolutions whose pixels are computed in runs, band by band.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/threads.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// The pixels of a band: rows of which one begins where the other ends are one run.
inline runs runs_of(sliding const& w, band const& b, std::ptrdiff_t next_image) {
    std::ptrdiff_t const step = w.stride_w * w.channels, row = w.stride_h * w.width * w.channels;
    bool const joined = row == w.out_width * step;
    return {
        b.images, next_image, joined ? 1 : b.rows, row, joined ? b.rows * w.out_width : w.out_width,
        step};
}

// Calls f(the pixel under the first place of the window, its pixels, results) for all bands of a
// launch with this window, whose rows the threads share.
template <class T, class F>
void for_each_band(window const& w, kernel_launch const& s, tables const& t, context<T> const& c,
                   F const& f) {
    sliding const geometry = forward_window(w);
    T* const y = c.at(t.arrays[s.output]);
    share_range(
        w.out_height, conv_work(w, c.samples),
        [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t worker) {
            band_walk<T> walk{
                w,     c.samples, c.at(t.arrays[s.first_array]), scratch_of(s, t, c, worker),
                first, last};
            while (walk.next()) {
                f(walk.from, runs_of(geometry, walk.at, walk.next_image),
                  y + walk.at.image * result_count(w) +
                      std::ptrdiff_t{walk.at.row} * w.out_width * w.filters);
            }
        });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
