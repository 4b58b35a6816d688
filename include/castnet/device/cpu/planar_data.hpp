// Gradients by the image of convolutions whose channels would leave much of a vector empty, as
// convolutions of the results' gradient in planes (planar_conv.hpp), for each phase of the stride.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/planar_conv.hpp>
#include <castnet/device/cpu/planes.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/threads.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

inline planar_tap_list backward_taps(window const& w, int down, int right) {
    planes const p = gradient_planes(w);
    planar_tap_list list;
    for (int y = 0; y < w.kernel_h; ++y) {
        for (int x = 0; x < w.kernel_w; ++x) {
            int const tap_y = y * w.dilation_h, tap_x = x * w.dilation_w;
            if (tap_y % w.stride_h == down && tap_x % w.stride_w == right) {
                list.tap[list.taps] = y * w.kernel_w + x;
                list.offset[list.taps++] = p.at(-tap_y / w.stride_h, -tap_x / w.stride_w);
            }
        }
    }
    return list;
}

// Calls f(the first pixel of the image that is a result, down and right of that of the first tap)
// for every phase of the stride.
template <class F>
void for_each_phase(window const& w, F const& f) {
    for (int down = 0; down < w.stride_h; ++down) {
        for (int right = 0; right < w.stride_w; ++right) {
            f(phase{w.stride_h, w.stride_w, down - w.pad_top, right - w.pad_left}, down, right);
        }
    }
}
template <class T>
constexpr std::ptrdiff_t planar_data_scratch(window const& w) {
    std::ptrdiff_t const groups = groups_at_once(w);
    return groups * (w.filters / w.groups) * gradient_planes(w).size() + planar_positions<T> +
           groups * (w.channels / w.groups) * data_plane<T>(w);
}
template <class T>
void planar_conv_data_prepare(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* to = c.at(t.arrays[s.prepared]);
    for_each_phase(w, [&](phase const&, int down, int right) {
        to = pack_planar(
            backward_taps(w, down, right), w.groups, filters, filters, channels,
            [&](int tap, int filter, int channel) {
                return weight + (std::ptrdiff_t{tap} * channels + channel) * w.filters + filter;
            },
            to);
    });
}
template <class T>
void planar_conv_data(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    int const at_once = groups_at_once(w);
    planes const p = gradient_planes(w);
    std::ptrdiff_t const positions = data_plane<T>(w);
    std::ptrdiff_t const of_source =
        std::ptrdiff_t{at_once} * filters * p.size() + planar_positions<T>;
    share_range(
        planar_parts(w, channels), conv_work(w, c.samples),
        [&](std::ptrdiff_t begin, std::ptrdiff_t last, std::ptrdiff_t worker) {
            T* const source = scratch_of(s, t, c, worker);
            T* const result = source + of_source;
            std::fill_n(source, of_source, T(0));
            for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
                T const* const dy = c.at(t.arrays[s.first_array]) + sample * result_count(w);
                T* const dx = c.at(t.arrays[s.output]) + sample * image_count(w);
                for_each_planar_part(w, channels, begin, last, [&](planar_part const& part) {
                    to_planes(p, dy + part.group * filters, w.out_height, w.out_width, w.filters,
                              part.groups * filters, source);
                    std::ptrdiff_t const first = part.group * channels + part.first;
                    T const* weights = c.at(t.arrays[s.prepared]);
                    for_each_phase(w, [&](phase const& of_image, int down, int right) {
                        planar_tap_list const list = backward_taps(w, down, right);
                        std::ptrdiff_t const of_channel = std::ptrdiff_t{list.taps} * filters;
                        T const* weight = weights + first * of_channel;
                        weights += w.channels * of_channel;
                        for (std::ptrdiff_t g = 0; g < part.groups; ++g) {
                            weight = planar_group<T>({source + g * filters * p.size(),
                                                      p.size(),
                                                      filters,
                                                      list.offset,
                                                      list.taps,
                                                      result + g * channels * positions,
                                                      positions,
                                                      {}},
                                                     int(part.results), positions, weight);
                        }
                        from_planes<T>(result, positions, p.rows - p.before_h, p.columns, of_image,
                                       part.groups * part.results, dx + first, w.height, w.width,
                                       w.channels);
                    });
                });
            }
        });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
