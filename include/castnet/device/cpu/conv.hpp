// Choice of kernels for a convolution and its gradients, by its window:
//
//   vectors along all groups             grouped_conv, grouped_data, grouped_weight
//   along positions                      planar_conv, planar_data, planar_weight
//   along the window                     few_filters
//   along all places of the window       scattered_conv
//   places inside the image only         inside_conv
//   Winograd's algorithm                 winograd_conv, winograd_weight
//   runs of pixels, for few channels     run_conv, shallow_conv, row_weight
//   products for windows of one pixel    pointwise_conv
//   products for any window              direct_conv, direct_data, direct_weight
//
// Windows are constants of a plan, so only the kernels that it needs are compiled. The first four,
// and Winograd's for windows in pieces, are many: they are not even instantiated for a plan without
// such convolutions.
#pragma once

#include <castnet/device/cpu/direct_conv.hpp>
#include <castnet/device/cpu/direct_data.hpp>
#include <castnet/device/cpu/direct_weight.hpp>
#include <castnet/device/cpu/few_filters.hpp>
#include <castnet/device/cpu/grouped_conv.hpp>
#include <castnet/device/cpu/grouped_data.hpp>
#include <castnet/device/cpu/grouped_weight.hpp>
#include <castnet/device/cpu/inside_conv.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/planar_conv.hpp>
#include <castnet/device/cpu/planar_data.hpp>
#include <castnet/device/cpu/planar_weight.hpp>
#include <castnet/device/cpu/pointwise_conv.hpp>
#include <castnet/device/cpu/row_weight.hpp>
#include <castnet/device/cpu/run_conv.hpp>
#include <castnet/device/cpu/scattered_conv.hpp>
#include <castnet/device/cpu/shallow_conv.hpp>
#include <castnet/device/cpu/winograd_conv.hpp>
#include <castnet/device/cpu/winograd_weight.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// The only decision which convolutions multiply pairs: those of enough channels and filters that it
// is worth rounding them.
constexpr bool rounds_factors(window const& w) {
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    return channels % 2 == 0 && filters % 2 == 0 && std::min(channels, filters) >= least_rounded;
}
// Calls f with the factors of a convolution.
template <class F, class Call>
constexpr auto with_factors(window const& w, Call const& call) {
    if constexpr (numbers_in<F> > 1) {
        if (!rounds_factors(w)) {
            return call.template operator()<sum_type<F>>();
        }
    }
    return call.template operator()<F>();
}

// Runs, and sums in registers, are of numbers.
template <class F>
constexpr bool conv_uses_runs(window const& w) {
    return numbers_in<F> == 1 && uses_runs<sum_type<F>>(w);
}
template <class F>
constexpr bool data_uses_runs(window const& w) {
    return has_data_window(w) && conv_uses_runs<F>(data_window(w));
}
template <class F>
constexpr bool weight_uses_rows(window const& w) {
    return numbers_in<F> == 1 && sums_rows<sum_type<F>>(w);
}
template <class F>
constexpr bool weight_is_shallow(window const& w) {
    return numbers_in<F> == 1 && is_shallow(w);
}

// A single sample of few tiles would wait for the transformed weights of a larger window, which are
// twice as many.
template <class F>
constexpr bool conv_uses_winograd(window const& w) {
    if (!uses_winograd<F>(w) || stays_inside<F>(w)) {
        return false;
    }
    tiling const t = forward_tiling(w);
    return !is_split(w) || !shares_tiles<F>(t) || t.tiles() >= winograd_least_alone;
}

template <class F>
constexpr kernel<sum_type<F>> conv_kernel(window const& w) {
    if constexpr (numbers_in<F> == 1) {
        if (stays_inside<F>(w)) {
            return {&inside_conv<F>, &direct_conv_prepare<F>};
        }
    }
    if (conv_uses_winograd<F>(w)) {
        return {&winograd_conv<false, F>, &winograd_conv_prepare<false, F>};
    }
    if (conv_uses_runs<F>(w)) {
        return {&run_conv<false, sum_type<F>>};
    }
    return {&direct_conv<F>, packs<F>(w) ? &direct_conv_prepare<F> : nullptr};
}
template <class F>
constexpr scratch_size conv_scratch(window const& w) {
    return stays_inside<F>(w)         ? direct_conv_scratch<F>(w)
           : conv_uses_winograd<F>(w) ? winograd_scratch<F>(w)
           : conv_uses_runs<F>(w)     ? scratch_size{0, 0, padded_band(w)}
                                      : direct_conv_scratch<F>(w);
}

template <class F>
constexpr kernel<sum_type<F>> conv_data_kernel(window const& w) {
    if (data_uses_winograd<F>(w)) {
        return {&winograd_conv_data<false, F>, &winograd_conv_data_prepare<false, F>};
    }
    if (data_uses_runs<F>(w)) {
        return {&run_conv<true, sum_type<F>>, &turn_weights<sum_type<F>>};
    }
    return {&direct_conv_data<F>, &direct_conv_data_prepare<F>};
}
template <class F>
constexpr scratch_size conv_data_scratch(window const& w) {
    return data_uses_winograd<F>(w) ? winograd_data_scratch<F>(w)
           : data_uses_runs<F>(w) ? scratch_size{0, 0, padded_band(data_window(w)), weight_count(w)}
                                  : direct_conv_data_scratch<F>(w);
}

// Sums of chunks that lie as the weights do.
template <class T>
void conv_weight_begin(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::fill_n(c.sum_at(t.arrays[s.sums]), weight_count(t.windows[s.window]), T(0));
}
template <class T>
void conv_weight_finish(kernel_launch const& s, tables const& t, context<T> const& c) {
    add_chunks(t.arrays[s.sums], c, weight_count(t.windows[s.window]), T(1),
               c.at(t.arrays[s.output]));
}

template <bool Split, class F>
constexpr kernel<sum_type<F>> winograd_weight_kernel(window const& w) {
    using T = sum_type<F>;
    if (!sums_by_chunk(w)) {
        return {&winograd_conv_whole_weight<Split, F>};
    }
    return {&winograd_conv_weight<Split, F>, nullptr, &winograd_conv_weight_begin<T>,
            &winograd_conv_weight_finish<Split, T>};
}
template <class F>
constexpr kernel<sum_type<F>> conv_weight_kernel(window const& w) {
    using T = sum_type<F>;
    if (uses_winograd<F>(w)) {
        return winograd_weight_kernel<false, F>(w);
    }
    if (!sums_by_chunk(w)) {
        return {is_pointwise(w) ? &pointwise_conv_whole_weight<F> : &direct_conv_whole_weight<F>};
    }
    return {weight_uses_rows<F>(w)    ? &row_conv_weight<T>
            : weight_is_shallow<F>(w) ? &shallow_conv_weight<T>
            : is_pointwise(w)         ? &pointwise_conv_weight<F>
                                      : &direct_conv_weight<F>,
            nullptr, &conv_weight_begin<T>, &conv_weight_finish<T>};
}
template <class F>
constexpr scratch_size conv_weight_scratch(window const& w) {
    return uses_winograd<F>(w) ? winograd_weight_scratch<F>(w)
           : sums_by_chunk(w) && (weight_is_shallow<F>(w) || weight_uses_rows<F>(w))
               ? scratch_size{0, weight_count(w), padded_band(w)}
           : is_pointwise(w) ? scratch_size{0, sums_by_chunk(w) ? weight_count(w) : 0}
                             : direct_conv_weight_scratch<F>(w);
}

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

// Whether a convolution without groups (or its gradient by the image) is computed in planes: where
// tiles would leave much of their vectors empty, and no other kernel saves products. To move a
// number into a plane or out of it costs as much as eight products, and planes are to stay in an L2
// cache.
template <class F>
constexpr bool fills_planes(op kind, window const& w) {
    using T = sum_type<F>;
    constexpr std::ptrdiff_t most = (1 << 19) / std::ptrdiff_t{sizeof(T)}, width = simd<T>::width;
    bool const data = kind == op::conv_data;
    if ((kind != op::conv && !data) || w.groups > 1 || !has_planes(w) ||
        (numbers_in<F> > 1 && rounds_factors(w)) || has_few_filters<T>(kind, w) ||
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

// Whether a convolution, or its gradient by the image, is computed for the whole batch at once.
template <class F>
constexpr bool runs_alone(window const& w) {
    return conv_uses_winograd<F>(w) && shares_tiles<F>(forward_tiling(w));
}
template <class F>
constexpr bool data_runs_alone(window const& w) {
    return data_uses_winograd<F>(w) && shares_tiles<F>(data_tiling(w, 0, 0));
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
                           uses_planes<T>(s.kind, windows[s.window]) ||
                           fills_planes<F>(s.kind, windows[s.window]) ||
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
    if (uses_planes<T>(kind, w) || fills_planes<F>(kind, w)) {
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
    if (uses_planes<T>(kind, w) || fills_planes<F>(kind, w)) {
        return planar_scratch<T>(kind, w);
    }
    if (kind == op::conv_data && scatters_places<T>(w)) {
        return scattered_conv_scratch<T>(w);
    }
    window const here = kind == op::conv ? w : data_window(w);
    return {0, 0, padded_band(here), few_filters_weights<T>(here)};
}

template <class F>
struct kernel_for<F, op::conv> {
    static constexpr kernel<sum_type<F>> of(kernel_launch const& s, window const* windows) {
        window const& w = windows[s.window];
        return with_factors<F>(w, [&]<class Factor>() {
            return multiplies_batch<sum_type<F>>(s, w)
                       ? kernel<sum_type<F>>{&pointwise_conv<Factor>}
                       : conv_kernel<Factor>(w);
        });
    }
    static constexpr scratch_size scratch(window const& w) {
        return with_factors<F>(w, [&]<class Factor>() { return conv_scratch<Factor>(w); });
    }
    static constexpr bool whole(kernel_launch const& s, window const* windows) {
        window const& w = windows[s.window];
        return multiplies_batch<sum_type<F>>(s, w) ||
               with_factors<F>(w, [&]<class Factor>() { return runs_alone<Factor>(w); });
    }
};
template <class F>
struct kernel_for<F, op::conv_data> {
    static constexpr kernel<sum_type<F>> of(kernel_launch const& s, window const* windows) {
        window const& w = windows[s.window];
        return with_factors<F>(w, [&]<class Factor>() {
            return multiplies_batch<sum_type<F>>(s, w)
                       ? kernel<sum_type<F>>{&pointwise_conv_data<Factor>}
                       : conv_data_kernel<Factor>(w);
        });
    }
    static constexpr scratch_size scratch(window const& w) {
        return with_factors<F>(w, [&]<class Factor>() { return conv_data_scratch<Factor>(w); });
    }
    static constexpr bool whole(kernel_launch const& s, window const* windows) {
        window const& w = windows[s.window];
        return multiplies_batch<sum_type<F>>(s, w) ||
               with_factors<F>(w, [&]<class Factor>() { return data_runs_alone<Factor>(w); });
    }
};
template <class F>
struct kernel_for<F, op::conv_weight> {
    static constexpr kernel<sum_type<F>> of(kernel_launch const& s, window const* windows) {
        window const& w = windows[s.window];
        return with_factors<F>(w, [&]<class Factor>() { return conv_weight_kernel<Factor>(w); });
    }
    static constexpr scratch_size scratch(window const& w) {
        return with_factors<F>(w, [&]<class Factor>() { return conv_weight_scratch<Factor>(w); });
    }
    static constexpr bool whole(kernel_launch const& s, window const* windows) {
        return !sums_by_chunk(windows[s.window]);
    }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
