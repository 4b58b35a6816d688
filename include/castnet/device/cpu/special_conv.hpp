// Kernels of convolutions whose windows leave vectors along the filters empty:
//
//   vectors along all groups             grouped_conv, grouped_data, grouped_weight
//   along positions                      planar_conv, planar_data, planar_weight
//   along the window                     few_filters
//   along all places of the window       scattered_conv
//
// and of those that Winograd's algorithm takes in pieces. They are many, and so are instantiated
// only for plans with such convolutions.
#pragma once

#include <castnet/device/cpu/conv.hpp>
#include <castnet/device/cpu/few_filters.hpp>
#include <castnet/device/cpu/grouped_conv.hpp>
#include <castnet/device/cpu/grouped_data.hpp>
#include <castnet/device/cpu/grouped_weight.hpp>
#include <castnet/device/cpu/planar_conv.hpp>
#include <castnet/device/cpu/planar_data.hpp>
#include <castnet/device/cpu/planar_weight.hpp>
#include <castnet/device/cpu/scattered_conv.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// Those of convolutions whose groups share a vector.
template <class T>
constexpr kernel<T> grouped_conv_kernel(op kind, window const& w) {
    return with_group<T>(group_in_vector<T>(w), [&](auto group) -> kernel<T> {
        constexpr int size = group();
        if (kind == op::conv_weight) {
            return {&grouped_conv_weight<size, T>, nullptr, &grouped_conv_weight_begin<T>,
                    &grouped_conv_weight_finish<T>};
        }
        if (kind == op::conv) {
            return {&grouped_conv<size, T>};
        }
        if constexpr (size == 1) {
            return {&grouped_conv_data<size, T>};
        } else {
            return {&grouped_conv_data<size, T>, &grouped_conv_data_prepare<size, T>};
        }
    });
}
template <class T>
constexpr scratch_size grouped_conv_scratch(op kind, window const& w) {
    std::ptrdiff_t const widened = widened_scratch(w);
    switch (kind) {
    case op::conv_weight:
        return {0, grouped_weight_sums<T>(w), widened};
    case op::conv_data:
        return {0, 0, widened + joined_scratch<T>(w, w.width),
                group_in_vector<T>(w) > 1 ? weight_count(w) : 0};
    default:
        return {0, 0, widened + joined_scratch<T>(w, w.out_width)};
    }
}

// The window of a convolution, or of a gradient by the image, that has few filters.
template <class T>
constexpr bool has_few_filters(op kind, window const& w) {
    return kind == op::conv        ? has_few_filters<T>(w)
           : kind == op::conv_data ? has_data_window(w) && has_few_filters<T>(data_window(w))
                                   : false;
}

// The only decision which convolutions (or gradients by their weights or images) are computed in
// planes: of those without groups, where tiles would leave much of their vectors empty, and no
// other kernel saves products. To move a number into a plane or out of it costs as much as eight
// products, and planes are to stay in an L2 cache.
template <class F>
constexpr bool uses_planes(op kind, window const& w) {
    using T = sum_type<F>;
    if (w.groups > 1) {
        return groups_use_planes<T>(kind, w);
    }
    constexpr std::ptrdiff_t most = (1 << 19) / std::ptrdiff_t{sizeof(T)}, width = simd<T>::width;
    bool const data = kind == op::conv_data;
    if ((kind != op::conv && !data) || !has_planes(w) || (numbers_in<F> > 1 && rounds_factors(w)) ||
        has_few_filters<T>(kind, w) ||
        (data ? data_uses_winograd<F>(w) || scatters_places<T>(w)
              : conv_uses_winograd<F>(w) || stays_inside<F>(w)) ||
        (data ? planar_data_scratch<T>(w) : planar_conv_scratch<T>(w)) > most) {
        return false;
    }
    std::ptrdiff_t const results = data ? w.channels : w.filters, depth = weight_count(w) / results;
    std::ptrdiff_t const lanes_of_tiles = (results + width - 1) / width * width;
    double const moved = 8 * double(w.channels + w.filters) / double(depth);
    return planar_lanes<T>(kind, w) + moved < 0.8 * double(lanes_of_tiles);
}

// Those of convolutions in planes.
template <class T>
constexpr kernel<T> planar_conv_kernel(op kind) {
    return kind == op::conv        ? kernel<T>{&planar_conv<T>, &planar_conv_prepare<T>}
           : kind == op::conv_data ? kernel<T>{&planar_conv_data<T>, &planar_conv_data_prepare<T>}
                                   : kernel<T>{&planar_conv_weight<T>, nullptr,
                                               &conv_weight_begin<T>, &conv_weight_finish<T>};
}
template <class T>
constexpr scratch_size planar_scratch(op kind, window const& w) {
    return kind == op::conv        ? scratch_size{0, 0, planar_conv_scratch<T>(w), weight_count(w)}
           : kind == op::conv_data ? scratch_size{0, 0, planar_data_scratch<T>(w), weight_count(w)}
                                   : scratch_size{0, weight_count(w), planar_conv_scratch<T>(w)};
}

// Whether Winograd's algorithm takes a window in pieces, which multiply numbers only.
template <class F>
constexpr bool uses_split_winograd(op kind, window const& w) {
    using T = sum_type<F>;
    if (!is_split(w) || (numbers_in<F> > 1 && rounds_factors(w))) {
        return false;
    }
    return kind == op::conv        ? conv_uses_winograd<T>(w)
           : kind == op::conv_data ? data_uses_winograd<T>(w)
                                   : uses_winograd<T>(w);
}
template <class T>
constexpr kernel<T> split_winograd_kernel(op kind, window const& w) {
    return kind == op::conv ? kernel<T>{&winograd_conv<true, T>, &winograd_conv_prepare<true, T>}
           : kind == op::conv_data
               ? kernel<T>{&winograd_conv_data<true, T>, &winograd_conv_data_prepare<true, T>}
               : winograd_weight_kernel<true, T>(w);
}
template <class T>
constexpr scratch_size split_winograd_scratch(op kind, window const& w) {
    return kind == op::conv        ? winograd_scratch<T>(w)
           : kind == op::conv_data ? winograd_data_scratch<T>(w)
                                   : winograd_weight_scratch<T>(w);
}

// Whether a launch has a special kernel, which is instantiated only for plans that need it.
template <class F>
constexpr bool is_special(kernel_launch const& s, window const* windows) {
    using T = sum_type<F>;
    bool const convolution =
        s.kind == op::conv || s.kind == op::conv_data || s.kind == op::conv_weight;
    return convolution && (group_in_vector<T>(windows[s.window]) > 0 ||
                           uses_planes<F>(s.kind, windows[s.window]) ||
                           has_few_filters<T>(s.kind, windows[s.window]) ||
                           (s.kind == op::conv_data && scatters_places<T>(windows[s.window])) ||
                           uses_split_winograd<F>(s.kind, windows[s.window]));
}
template <class F>
constexpr kernel<sum_type<F>> special_conv_kernel(op kind, window const& w) {
    using T = sum_type<F>;
    if (uses_split_winograd<F>(kind, w)) {
        return split_winograd_kernel<T>(kind, w);
    }
    if (group_in_vector<T>(w) > 0) {
        return grouped_conv_kernel<T>(kind, w);
    }
    if (uses_planes<F>(kind, w)) {
        return planar_conv_kernel<T>(kind);
    }
    if (kind == op::conv_data && scatters_places<T>(w)) {
        return {&scattered_conv_data<T>, &scattered_conv_prepare<T>};
    }
    return kind == op::conv ? few_filters_kernel<false, T>(w.filters)
                            : few_filters_kernel<true, T>(w.channels);
}
template <class F>
constexpr scratch_size special_conv_scratch(op kind, window const& w) {
    using T = sum_type<F>;
    if (uses_split_winograd<F>(kind, w)) {
        return split_winograd_scratch<T>(kind, w);
    }
    if (group_in_vector<T>(w) > 0) {
        return grouped_conv_scratch<T>(kind, w);
    }
    if (uses_planes<F>(kind, w)) {
        return planar_scratch<T>(kind, w);
    }
    if (kind == op::conv_data && scatters_places<T>(w)) {
        return scattered_conv_scratch<T>(w);
    }
    window const here = kind == op::conv ? w : data_window(w);
    return {0, 0, padded_band(here), few_filters_weights<T>(here)};
}

} // namespace castnet::cpu::inline CASTNET_TARGET
