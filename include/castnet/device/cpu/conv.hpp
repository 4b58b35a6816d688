// Choice of kernels for a convolution and its gradients, by its window:
//
//   places inside the image only         inside_conv
//   Winograd's algorithm                 winograd_conv, winograd_weight
//   runs of pixels, for few channels     run_conv, shallow_conv, row_weight
//   products for windows of one pixel    pointwise_conv
//   products for any window              direct_conv, direct_data, direct_weight
//
// Windows are constants of a plan, so only the kernels that it needs are compiled. Windows that
// none of these is good for have kernels of their own (special_conv.hpp).
#pragma once

#include <castnet/device/cpu/direct_conv.hpp>
#include <castnet/device/cpu/direct_data.hpp>
#include <castnet/device/cpu/direct_weight.hpp>
#include <castnet/device/cpu/inside_conv.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/pointwise_conv.hpp>
#include <castnet/device/cpu/row_weight.hpp>
#include <castnet/device/cpu/run_conv.hpp>
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

// Whether a convolution, or its gradient by the image, is computed for the whole batch at once.
template <class F>
constexpr bool runs_alone(window const& w) {
    return conv_uses_winograd<F>(w) && shares_tiles<F>(forward_tiling(w));
}
template <class F>
constexpr bool data_runs_alone(window const& w) {
    return data_uses_winograd<F>(w) && shares_tiles<F>(data_tiling(w, 0, 0));
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
