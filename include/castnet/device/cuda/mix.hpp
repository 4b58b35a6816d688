// Mixing of a device-resident data set's samples with others of it: what data::mixup() and
// data::cutmix() do on the host, by the same functions.
#pragma once

#include <castnet/device/cuda/gather.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/quotient.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

// `count` numbers of an array, from sample number `first` on, each of which has a mixture of its
// own (data/mixing.hpp).
template <class Mixture, class T>
struct mix_body {
    Mixture const* drawn;
    stored_array<T> from;
    T* to;
    std::size_t first;
    quotient size;            // of a sample
    quotient channels, width; // of an image, channels innermost
    bool cuts;                // the image; or else numbers are blended
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const sample = size.divide(static_cast<std::uint32_t>(i));
            std::uint32_t const element = static_cast<std::uint32_t>(i) - sample * size.divisor;
            Mixture const& m = drawn[sample];
            std::size_t const place = (first + sample) * std::size_t{size.divisor} + element;
            T const own = from.get(place),
                    other = from.get(m.partner * std::size_t{size.divisor} + element);
            if (cuts) {
                std::uint32_t const pixel = channels.divide(element), row = width.divide(pixel);
                to[place] = m.cut.contains(row, pixel - row * width.divisor) ? other : own;
            } else {
                to[place] = m.blend(own, other);
            }
        });
    }
};

} // namespace castnet::cuda
