// Runs of results of a convolution, along one axis, that meet the same taps of its window: so the
// borders of an image need no padding and no test for each pixel.
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/graph/node.hpp>

#include <algorithm>
#include <numeric>

namespace castnet::cpu::inline CASTNET_TARGET {

// One axis of a window.
struct tap_axis {
    int in, out, taps, stride, before, dilation;
};
constexpr tap_axis vertical_axis(window const& w) {
    return {w.height, w.out_height, w.kernel_h, w.stride_h, w.pad_top, w.dilation_h};
}
constexpr tap_axis horizontal_axis(window const& w) {
    return {w.width, w.out_width, w.kernel_w, w.stride_w, w.pad_left, w.dilation_w};
}

// How many results meet this tap inside the image.
constexpr int results_inside(tap_axis const& a, int tap) {
    int const shift = tap * a.dilation - a.before; // of a place from result * stride
    int const first = shift < 0 ? (-shift + a.stride - 1) / a.stride : 0;
    int const end = shift < a.in ? (a.in - shift + a.stride - 1) / a.stride : 0;
    return std::max(std::min(a.out, end) - first, 0);
}
// The pairs of a result and a tap that meet a pixel.
constexpr std::ptrdiff_t pairs_inside(tap_axis const& a) {
    std::ptrdiff_t sum = 0;
    for (int tap = 0; tap < a.taps; ++tap) {
        sum += results_inside(a, tap);
    }
    return sum;
}

// Results at equal distances, and the taps that all of them meet.
struct tap_run {
    int result, results, result_step;
    int tap, taps, tap_step;
    int source;                // of the first result at the first tap,
    int by_result, by_tap = 0; // and from there to those of the next one
};

// Calls f(run) for the parts of `all` whose taps lie in a source of this many places. Results that
// meet none are there with no taps.
template <class F>
void for_each_run_within(int places, tap_run const& all, F const& f) {
    struct tap_range {
        int first, count;
        bool operator==(tap_range const&) const = default;
    };
    auto const taps_of = [&](int result) {
        int at = all.source + result * all.by_result, tap = 0;
        while (tap < all.taps && (at < 0 || at >= places)) {
            ++tap;
            at += all.by_tap;
        }
        int const first = tap;
        while (tap < all.taps && at >= 0 && at < places) {
            ++tap;
            at += all.by_tap;
        }
        return tap_range{first, tap - first};
    };
    for (int i = 0; i < all.results;) {
        tap_range const taps = taps_of(i);
        int end = i + 1;
        while (end < all.results && taps_of(end) == taps) {
            ++end;
        }
        tap_run run = all;
        run.result += i * all.result_step;
        run.results = end - i;
        run.tap += taps.first * all.tap_step;
        run.taps = taps.count;
        run.source += i * all.by_result + taps.first * all.by_tap;
        f(run);
        i = end;
    }
}

// The outputs `first` to last - 1 of a convolution, whose source is its image.
constexpr tap_run output_run(tap_axis const& a, int first, int last) {
    return {first,    last - first, 1, 0, a.taps, 1, first * a.stride - a.before,
            a.stride, a.dilation};
}
// Calls f(run) for parts of them whose taps lie in the image.
template <class F>
void for_each_output_run(tap_axis const& a, int first, int last, F const& f) {
    for_each_run_within(a.in, output_run(a, first, last), f);
}

// The pixels of the image from `first` on that lie a stride apart, before `last`, whose source are
// the outputs that meet them: all meet the same taps, the last one first, so that the source is
// read forwards.
constexpr tap_run image_run(tap_axis const& a, int first, int last) {
    int const tap_step = a.stride / std::gcd(a.stride, a.dilation);
    int tap = a.taps - 1;
    while (tap >= 0 && (first + a.before - tap * a.dilation) % a.stride != 0) {
        --tap;
    }
    return {first,
            (last - first + a.stride - 1) / a.stride,
            a.stride,
            tap,
            (tap + tap_step) / tap_step,
            -tap_step,
            (first + a.before - tap * a.dilation) / a.stride,
            1,
            tap_step * a.dilation / a.stride};
}
// Calls f(run) for parts of the pixels `first` to last - 1 whose taps lie in the outputs.
template <class F>
void for_each_image_run(tap_axis const& a, int first, int last, F const& f) {
    for (int x = first; x < last && x < first + a.stride; ++x) {
        for_each_run_within(a.out, image_run(a, x, last), f);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
