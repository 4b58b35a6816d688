// Loops over the rows of a batch's images, on all threads, and over the channels of a pixel.
#pragma once

#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/window_range.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Calls f(sample, some of its rows) on all threads, which together are all, where each sample has
// `height` of them.
template <class T, class F>
void for_each_rows(int height, window const& w, context<T> const& c, F const& f) {
    double const work = double(c.samples) * w.height * w.width * w.channels;
    share_range(c.samples * height, work, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        while (first < last) {
            std::ptrdiff_t const sample = first / height, begin = sample * height;
            std::ptrdiff_t const end = std::min(last, begin + height);
            f(sample, range{first - begin, end - begin});
            first = end;
        }
    });
}

// Numbers of neighbouring channels, as a vector or as the only one.
template <class T, int Lanes>
struct some_channels {
    using type = typename vector_of<T, Lanes>::type;
    static type const& at(T const* first) { return *reinterpret_cast<type const*>(first); }
    static type& at(T* first) { return *reinterpret_cast<type*>(first); }
};
template <class T>
struct some_channels<T, 1> {
    using type = T;
    static T const& at(T const* only) { return *only; }
    static T& at(T* only) { return *only; }
};

// Calls f(some_channels<T, Lanes>, the first of them) until these cover all channels of a pixel;
// some of them twice, if `Again`, where that fills the last vector. Vectors are those of the
// target, and of four numbers for what does not fill one.
template <class T, bool Again = false, class F>
[[gnu::always_inline]] inline void for_each_vector(int channels, F const& f) {
    constexpr int wide = simd<T>::width, narrow = std::min(4, wide);
    auto const cover = [&](auto some, int lanes) __attribute__((always_inline)) {
        for (int channel = 0;; channel = std::min(channel + lanes, channels - lanes)) {
            f(some, channel);
            if (channel == channels - lanes) {
                return;
            }
        }
    };
    if (Again && channels >= wide) {
        return cover(some_channels<T, wide>{}, wide);
    }
    if (Again && narrow < wide && channels >= narrow) {
        return cover(some_channels<T, narrow>{}, narrow);
    }
    int channel = 0;
    if constexpr (!Again) {
        for (; channel + wide <= channels; channel += wide) {
            f(some_channels<T, wide>{}, channel);
        }
        for (; narrow < wide && channel + narrow <= channels; channel += narrow) {
            f(some_channels<T, narrow>{}, channel);
        }
    }
    for (; channel < channels; ++channel) {
        CASTNET_OPAQUE(channel); // or the compiler makes vectors of the rest, too
        f(some_channels<T, 1>{}, channel);
    }
}

// The sum of some channels of the pixels in these rows and columns of an image.
template <class Some, class T>
[[gnu::always_inline]] inline auto sum_of(Some some, T const* image, std::ptrdiff_t width,
                                          std::ptrdiff_t channels, pixel_range rows,
                                          pixel_range columns) {
    typename Some::type sum{};
    for (int y = rows.first; y < rows.last; ++y) {
        T const* in = image + (y * width + columns.first) * channels;
        for (int x = columns.first; x < columns.last; ++x, in += channels) {
            sum += some.at(in);
        }
    }
    return sum;
}

// Elements of an image, before and after.
constexpr std::ptrdiff_t in_count(window const& w) {
    return std::ptrdiff_t{w.height} * w.width * w.channels;
}
constexpr std::ptrdiff_t out_count(window const& w) {
    return std::ptrdiff_t{w.out_height} * w.out_width * w.channels;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
