// Gradients of the weights of convolutions in groups that are narrower than a vector, from planes
// of the image and of the results' gradient (planar_conv.hpp): sums over all positions.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/planar_conv.hpp>
#include <castnet/device/cpu/planes.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// Taps and filters whose products are summed at once.
inline constexpr int planar_taps_at_once = vector_registers >= 32 ? 4 : 2, planar_filters = 4;

// Writes to `out` the sums of the products of these planes at all positions: for each filter, those
// of all taps.
template <int Filters, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
planar_products(T const* x, std::ptrdiff_t const (&offset)[size_t(planar_taps_at_once)],
                T const* dy, std::ptrdiff_t next, std::ptrdiff_t positions, T* out) {
    constexpr int width = simd<T>::width, taps = planar_taps_at_once;
    constexpr int sums = (Filters * taps + width - 1) / width * width; // in whole vectors
    vec<T> sum[size_t(sums)] = {};
    T const* row[size_t(taps)];
    CASTNET_UNROLL
    for (int k = 0; k < taps; ++k) {
        row[k] = x + offset[k];
    }
    for (std::ptrdiff_t n = 0; n < positions; n += width) {
        vec<T> left[size_t(taps)];
        CASTNET_UNROLL
        for (int k = 0; k < taps; ++k) {
            left[k] = *reinterpret_cast<vec<T> const*>(row[k] + n);
        }
        CASTNET_UNROLL
        for (int f = 0; f < Filters; ++f) {
            vec<T> const right = *reinterpret_cast<vec<T> const*>(dy + f * next + n);
            CASTNET_UNROLL
            for (int k = 0; k < taps; ++k) {
                sum[f * taps + k] = multiply_add(left[k], right, sum[f * taps + k]);
            }
        }
    }
    CASTNET_UNROLL
    for (int first = 0; first < sums; first += width) {
        vec<T> lane[size_t(width)];
        CASTNET_UNROLL
        for (int i = 0; i < width; ++i) {
            lane[i] = sum[first + i];
        }
        turn_lanes<1, T>(lane);
        vec<T> total{};
        CASTNET_UNROLL
        for (int i = 0; i < width; ++i) {
            total += lane[i];
        }
        *reinterpret_cast<vec<T>*>(out + first) = total;
    }
}

// Adds the gradients of a group's weights by one sample: from the planes of its channels and
// filters to the sums, which lie as the weights do.
template <class T>
void add_planar_weight(window const& w, planar_tap_list const& list, T const* x,
                       std::ptrdiff_t plane, T const* dy, std::ptrdiff_t positions, T* to) {
    constexpr int taps = planar_taps_at_once;
    static constexpr auto products = []<size_t... I>(std::index_sequence<I...>) {
        return std::array{&planar_products<int(I) + 1, T>...};
    }(std::make_index_sequence<size_t(planar_filters)>{});
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    for (int first = 0; first < list.taps; first += taps) {
        std::ptrdiff_t offset[size_t(taps)];
        for (int k = 0; k < taps; ++k) { // the last ones repeat a tap
            offset[k] = list.offset[std::min(first + k, list.taps - 1)];
        }
        int const taps_here = std::min(taps, list.taps - first);
        for (int i = 0; i < channels; ++i) {
            for (int f = 0; f < filters; f += planar_filters) {
                int const here = std::min(planar_filters, filters - f);
                T sum[size_t(planar_filters * taps + simd<T>::width)];
                products[size_t(here) - 1](x + i * plane, offset, dy + f * positions, positions,
                                           positions, sum);
                for (int k = 0; k < taps_here; ++k) {
                    T* const total =
                        to + (std::ptrdiff_t{list.tap[first + k]} * channels + i) * w.filters + f;
                    for (int j = 0; j < here; ++j) {
                        total[j] += sum[j * taps + k];
                    }
                }
            }
        }
    }
}

// Of a chunk's samples.
template <class T>
void planar_conv_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    int const at_once = groups_at_once(w);
    planes const p = image_planes(w);
    planar_tap_list const list = forward_taps(w);
    std::ptrdiff_t const positions = forward_plane<T>(w), of_source = channels * p.size(),
                         of_gradient = filters * positions; // numbers of a group
    T* const source = scratch_of(s, t, c);
    T* const gradient = source + at_once * of_source + planar_positions<T>;
    // the gradient's planes lie as the positions do, with zeros between the rows
    std::fill(source, gradient + at_once * of_gradient, T(0));
    T* const sums = c.sum_at(t.arrays[s.sums]);
    for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
        T const* const x = c.at(t.arrays[s.first_array]) + sample * image_count(w);
        T const* const dy = c.at(t.arrays[s.first_array + 1]) + sample * result_count(w);
        for (int group = 0; group < w.groups; group += at_once) {
            int const groups = std::min(at_once, w.groups - group);
            to_planes(p, x + group * channels, w.height, w.width, w.channels, groups * channels,
                      source);
            for (int row = 0; row < w.out_height; ++row) {
                transpose<T>(w.out_width, groups * filters,
                             dy + std::ptrdiff_t{row} * w.out_width * w.filters + group * filters,
                             w.filters, gradient + std::ptrdiff_t{row} * p.columns, positions);
            }
            for (int g = 0; g < groups; ++g) {
                add_planar_weight(w, list, source + g * of_source, p.size(),
                                  gradient + g * of_gradient, positions,
                                  sums + (group + g) * filters);
            }
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
