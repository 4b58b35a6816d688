// Loops over the images of a batch, on all threads: by samples, and by rows of the results.
#pragma once

#include <castnet/device/cpu/kernel.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Calls f(sample) for all samples on all threads.
template <class T, class F>
void for_each_sample(window const& w, context<T> const& c, F const& f) {
    double const work = double(c.samples) * w.height * w.width * w.channels;
    parallel_for(c.samples, work, f);
}
// Calls f(sample, some rows of its output), which together are all.
template <class T, class F>
void for_each_rows(window const& w, context<T> const& c, F const& f) {
    double const work = double(c.samples) * w.height * w.width * w.channels;
    share_range(c.samples * w.out_height, work, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        while (first < last) {
            std::ptrdiff_t const sample = first / w.out_height, begin = sample * w.out_height;
            std::ptrdiff_t const end = std::min(last, begin + w.out_height);
            f(sample, range{first - begin, end - begin});
            first = end;
        }
    });
}

// Elements of an image, before and after.
constexpr std::ptrdiff_t in_count(window const& w) {
    return std::ptrdiff_t{w.height} * w.width * w.channels;
}
constexpr std::ptrdiff_t out_count(window const& w) {
    return std::ptrdiff_t{w.out_height} * w.out_width * w.channels;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
