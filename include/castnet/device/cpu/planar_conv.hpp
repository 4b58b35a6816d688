// Convolutions whose filters would leave much of a vector empty: vectors lie along the positions of
// the window, in planes of a few groups' channels.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/grouped_conv.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/planes.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/threads.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// Results of a group that are computed at once, and the most taps of a window.
inline constexpr int planar_results = 4, planar_taps = 256;

// The image under a window.
constexpr planes image_planes(window const& w) {
    return {w.stride_h,
            w.stride_w,
            w.pad_top,
            w.pad_left,
            w.out_height + (w.kernel_h - 1) * w.dilation_h / w.stride_h,
            w.out_width + (w.kernel_w - 1) * w.dilation_w / w.stride_w};
}
// The gradient of the results, as the pixels of the image meet it.
constexpr planes gradient_planes(window const& w) {
    int const down = (w.kernel_h - 1) * w.dilation_h / w.stride_h,
              right = (w.kernel_w - 1) * w.dilation_w / w.stride_w;
    return {1,
            1,
            down,
            right,
            (w.height - 1 + w.pad_top) / w.stride_h + 1 + down,
            (w.width - 1 + w.pad_left) / w.stride_w + 1 + right};
}

// Groups whose planes are made together: so many that their channels fill vectors.
constexpr int groups_at_once(window const& w) {
    int const narrow = std::min(w.channels, w.filters) / w.groups;
    return std::min((int(transpose_piece) + narrow - 1) / narrow, w.groups);
}

// Positions of the results from the first to the last one, and their plane in whole blocks.
template <class T>
constexpr std::ptrdiff_t result_plane(int rows, int columns, int pitch) {
    return aligned(std::ptrdiff_t{rows - 1} * pitch + columns, planar_positions<T>);
}

template <class T>
constexpr std::ptrdiff_t forward_plane(window const& w) {
    return result_plane<T>(w.out_height, w.out_width, image_planes(w).columns);
}
template <class T>
constexpr std::ptrdiff_t data_plane(window const& w) { // of a phase
    planes const p = gradient_planes(w);
    return result_plane<T>(p.rows - p.before_h, p.columns - p.before_w, p.columns);
}

// The lanes of vectors in planes for each pixel of the results (or of their gradient by the image),
// with borders among the positions.
template <class T>
constexpr double planar_lanes(op kind, window const& w) {
    bool const data = kind == op::conv_data;
    std::ptrdiff_t const results = (data ? w.channels : w.filters) / w.groups;
    std::ptrdiff_t const pixels =
        data ? std::ptrdiff_t{w.height} * w.width : std::ptrdiff_t{w.out_height} * w.out_width;
    std::ptrdiff_t const positions =
        data ? w.stride_h * w.stride_w * data_plane<T>(w) : forward_plane<T>(w);
    return double(positions * results) / double(pixels);
}
constexpr bool has_planes(window const& w) {
    std::ptrdiff_t const taps = std::ptrdiff_t{w.kernel_h} * w.kernel_w;
    return sums_by_chunk(w) && taps >= 4 && taps <= planar_taps;
}

// Whether a convolution in groups (or its gradients) is computed in planes: where a group would
// leave more of a vector empty than there are borders among the positions, and the window is large
// enough that it is worth making the planes.
template <class T>
constexpr bool groups_use_planes(op kind, window const& w) {
    return group_in_vector<T>(w) == 0 && has_planes(w) && planar_lanes<T>(kind, w) < simd<T>::width;
}

// Sums over the taps and channels of a group.
template <class T>
struct planar_sums {
    T const* source;
    std::ptrdiff_t next_source; // plane
    int sources;
    std::ptrdiff_t const* offset; // of each tap
    int taps;
    T* result;
    std::ptrdiff_t next_result; // plane
    tile_end<T> end;            // its bias that of the first result
};

// Some results of a group, at the positions of some vectors.
template <int Results, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void planar_tile(planar_sums<T> const& s,
                                                        std::ptrdiff_t first, T const* weight) {
    constexpr int width = simd<T>::width;
    vec<T> sum[size_t(Results)][size_t(planar_vectors)] = {};
    T const* plane = s.source + first;
    std::ptrdiff_t const* const last = s.offset + s.taps;
    for (int i = 0; i < s.sources; ++i, plane += s.next_source) {
        for (std::ptrdiff_t const* k = s.offset; k != last; ++k, weight += Results) {
            T const* const x = plane + *k;
            vec<T> left[size_t(planar_vectors)];
            CASTNET_UNROLL
            for (int j = 0; j < planar_vectors; ++j) {
                left[j] = *reinterpret_cast<vec<T> const*>(x + j * width);
            }
            CASTNET_UNROLL
            for (int r = 0; r < Results; ++r) {
                T const right = weight[r];
                CASTNET_UNROLL
                for (int j = 0; j < planar_vectors; ++j) {
                    sum[r][j] = multiply_add(right, left[j], sum[r][j]);
                }
            }
        }
    }
    CASTNET_UNROLL
    for (int r = 0; r < Results; ++r) {
        CASTNET_UNROLL
        for (int j = 0; j < planar_vectors; ++j) {
            vec<T> x = sum[r][j];
            if (s.end.bias) {
                x += s.end.bias[r];
            }
            if (s.end.rectifies) {
                x = rectified<T>(x, s.end.most);
            }
            *reinterpret_cast<vec<T>*>(s.result + r * s.next_result + first + j * width) = x;
        }
    }
}

// All results of a group, at `positions`. The weights lie as they are read: for some results at a
// time, by channel, tap and result. Returns those after them.
template <class T>
T const* planar_group(planar_sums<T> s, int results, std::ptrdiff_t positions, T const* weight) {
    static constexpr auto tiles = []<size_t... I>(std::index_sequence<I...>) {
        return std::array{&planar_tile<int(I) + 1, T>...};
    }(std::make_index_sequence<size_t(planar_results)>{});
    for (int r = 0; r < results; r += planar_results) {
        int const here = std::min(planar_results, results - r);
        for (std::ptrdiff_t first = 0; first < positions; first += planar_positions<T>) {
            tiles[size_t(here) - 1](s, first, weight);
        }
        weight += std::ptrdiff_t{here} * s.sources * s.taps;
        s.result += here * s.next_result;
        s.end = s.end.from(here);
    }
    return weight;
}

// The taps of a window that are met at a phase of the results, and where they begin in planes of
// the source.
struct planar_tap_list {
    int tap[planar_taps];
    std::ptrdiff_t offset[planar_taps];
    int taps = 0;
};
inline planar_tap_list forward_taps(window const& w) {
    planes const p = image_planes(w);
    planar_tap_list list;
    for (int y = 0; y < w.kernel_h; ++y) {
        for (int x = 0; x < w.kernel_w; ++x) {
            list.tap[list.taps] = y * w.kernel_w + x;
            list.offset[list.taps++] =
                p.at(y * w.dilation_h - p.before_h, x * w.dilation_w - p.before_w);
        }
    }
    return list;
}

// Writes the weights as planar_group reads them, of all groups. at(tap, source, result) is that of
// the first group, others follow as far as `next` says. Returns the end.
template <class T, class At>
T* pack_planar(planar_tap_list const& list, int groups, std::ptrdiff_t next, int sources,
               int results, At const& at, T* to) {
    for (int g = 0; g < groups; ++g) {
        for (int r = 0; r < results; r += planar_results) {
            int const end = std::min(results, r + planar_results);
            for (int i = 0; i < sources; ++i) {
                for (int k = 0; k < list.taps; ++k) {
                    for (int j = r; j < end; ++j) {
                        *to++ = at(list.tap[k], i, j)[g * next];
                    }
                }
            }
        }
    }
    return to;
}

// What a thread computes at once: some groups, or some results of the only one.
struct planar_part {
    std::ptrdiff_t group, groups, first, results;
};
// The parts that threads share, and calls of f(part) for those from `begin` to end - 1.
constexpr std::ptrdiff_t planar_parts(window const& w, int results) {
    int const at_once = w.groups > 1 ? groups_at_once(w) : planar_results;
    return ((w.groups > 1 ? w.groups : results) + at_once - 1) / at_once;
}
template <class F>
void for_each_planar_part(window const& w, int results, std::ptrdiff_t begin, std::ptrdiff_t end,
                          F const& f) {
    if (w.groups == 1) {
        std::ptrdiff_t const first = begin * planar_results;
        f(planar_part{0, 1, first,
                      std::min<std::ptrdiff_t>(results, end * planar_results) - first});
        return;
    }
    for (std::ptrdiff_t i = begin, at_once = groups_at_once(w); i < end; ++i) {
        f(planar_part{i * at_once, std::min(at_once, w.groups - i * at_once), 0, results});
    }
}

template <class T>
constexpr std::ptrdiff_t planar_conv_scratch(window const& w) {
    planes const p = image_planes(w);
    std::ptrdiff_t const groups = groups_at_once(w);
    return groups * (w.channels / w.groups) * p.size() + planar_positions<T> +
           groups * (w.filters / w.groups) * result_plane<T>(w.out_height, w.out_width, p.columns);
}
template <class T>
void planar_conv_prepare(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    pack_planar(
        forward_taps(w), w.groups, filters, channels, filters,
        [&](int tap, int channel, int filter) {
            return weight + (std::ptrdiff_t{tap} * channels + channel) * w.filters + filter;
        },
        c.at(t.arrays[s.prepared]));
}
template <class T>
void planar_conv(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    int const at_once = groups_at_once(w);
    planes const p = image_planes(w);
    planar_tap_list const list = forward_taps(w);
    std::ptrdiff_t const positions = forward_plane<T>(w);
    std::ptrdiff_t const of_source =
        std::ptrdiff_t{at_once} * channels * p.size() + planar_positions<T>;
    tile_end<T> const end = tile_end_of(s, t, c);
    share_range(planar_parts(w, filters), conv_work(w, c.samples),
                [&](std::ptrdiff_t begin, std::ptrdiff_t last, std::ptrdiff_t worker) {
                    T* const source = scratch_of(s, t, c, worker);
                    T* const result = source + of_source;
                    std::fill_n(source, of_source, T(0));
                    for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
                        T const* const x = c.at(t.arrays[s.first_array]) + sample * image_count(w);
                        T* const y = c.at(t.arrays[s.output]) + sample * result_count(w);
                        for_each_planar_part(w, filters, begin, last, [&](planar_part const& part) {
                            to_planes(p, x + part.group * channels, w.height, w.width, w.channels,
                                      part.groups * channels, source);
                            std::ptrdiff_t const first = part.group * filters + part.first;
                            T const* weight =
                                c.at(t.arrays[s.prepared]) + first * (weight_count(w) / w.filters);
                            for (std::ptrdiff_t g = 0; g < part.groups; ++g) {
                                weight = planar_group<T>(
                                    {source + g * channels * p.size(), p.size(), channels,
                                     list.offset, list.taps, result + g * filters * positions,
                                     positions, end.from(first + g * filters)},
                                    int(part.results), positions, weight);
                            }
                            from_planes<T>(result, positions, w.out_height, p.columns, {1, 1, 0, 0},
                                           part.groups * part.results, y + first, w.out_height,
                                           w.out_width, w.filters);
                        });
                    }
                });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
