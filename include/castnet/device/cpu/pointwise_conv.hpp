// Convolutions of single pixels, 1x1 windows that move by one, as products of matrices whose rows
// are the pixels of all samples.
#pragma once

#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/matmul.hpp>
#include <castnet/device/cpu/sliding.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// Whether the whole batch is multiplied at once: where few pixels would meet weights that do not
// stay in an L2 cache from one sample to the next. (Weights that stay the same from run to run are
// packed once, for whatever number of samples.)
template <class T>
constexpr bool multiplies_batch(kernel_launch const& s, window const& w) {
    return (s.kind == op::conv || s.kind == op::conv_data) && is_pointwise(w) &&
           !s.constant_weight && w.out_height * w.out_width <= most_pointwise_pixels &&
           weight_count(w) * std::ptrdiff_t{sizeof(T)} > pointwise_weights;
}

template <class F>
void pointwise_conv(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const pixels = c.samples * w.out_height * w.out_width;
    multiply<F>(pixels, w.filters, w.channels, {c.at(t.arrays[s.first_array]), w.channels, 1},
                {c.at(t.arrays[s.first_array + 1]), w.filters, 1}, c.at(t.arrays[s.output]),
                w.filters, tile_end_of(s, t, c));
}
template <class F>
void pointwise_conv_data(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const pixels = c.samples * w.out_height * w.out_width;
    multiply<F>(pixels, w.channels, w.filters, {c.at(t.arrays[s.first_array]), w.filters, 1},
                {c.at(t.arrays[s.first_array + 1]), 1, w.filters}, c.at(t.arrays[s.output]),
                w.channels);
}

// The gradient by the weights of all samples, and that of a chunk's, which is added to its sum.
template <class F>
void add_pointwise_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c,
                          sum_type<F>* sum, bool accumulate) {
    window const& w = t.windows[s.window];
    std::ptrdiff_t const pixels = c.samples * w.out_height * w.out_width;
    multiply<F>(w.channels, w.filters, pixels, {c.at(t.arrays[s.first_array]), 1, w.channels},
                {c.at(t.arrays[s.first_array + 1]), w.filters, 1}, sum, w.filters,
                {.accumulate = accumulate});
}
template <class F>
void pointwise_conv_whole_weight(kernel_launch const& s, tables const& t,
                                 context<sum_type<F>> const& c) {
    add_pointwise_weight<F>(s, t, c, c.at(t.arrays[s.output]), false);
}
template <class F>
void pointwise_conv_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    add_pointwise_weight<F>(s, t, c, c.sum_at(t.arrays[s.sums]), true);
}

} // namespace castnet::cpu::inline CASTNET_TARGET
