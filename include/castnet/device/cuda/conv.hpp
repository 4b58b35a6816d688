// Convolution and its gradients, by cuDNN or, of few channels, by castnet. Images lie as (height,
// width, channels), weights as (filters, kernel height, kernel width, channels of the group).
#pragma once

#include <castnet/device/cuda/context.hpp>
#include <castnet/device/cuda/element_type.hpp>
#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/few_channels.hpp>
#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/libraries.hpp>

namespace castnet::cuda {

template <class T>
cudnn::convolution convolution_of(kernel_launch const& s, tables const& t, context<T> const& c) {
    bool const bf16 = c.precision == product_precision::bf16;
    return {s.kind,
            t.windows[s.window],
            images_of(t.windows[s.window], c),
            bf16 ? CUDNN_DATA_BFLOAT16 : element_type<T>::cudnn,
            c.precision != product_precision::full,
            s.end.bias,
            s.end.activates};
}

template <class T>
void conv(kernel_launch const& s, tables const& t, context<T> const& c) {
    if (has_few_channels(s, t, c)) {
        convolve_few_channels(s, t, c);
        return;
    }
    c.library->run(convolution_of(s, t, c), c.at(t.arrays[s.first_array]),
                   c.at(t.arrays[s.first_array + 1]), c.at(t.arrays[s.output]), bias_of(s, t, c));
}

template <class T>
void conv_data(kernel_launch const& s, tables const& t, context<T> const& c) {
    c.library->run(convolution_of(s, t, c), c.at(t.arrays[s.output]),
                   c.at(t.arrays[s.first_array + 1]), c.at(t.arrays[s.first_array]));
}

template <class T>
void conv_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    if (has_few_channels(s, t, c)) {
        convolve_few_channels(s, t, c);
        return;
    }
    c.library->run(convolution_of(s, t, c), c.at(t.arrays[s.first_array]), c.at(t.arrays[s.output]),
                   c.at(t.arrays[s.first_array + 1]));
}

template <class T>
struct kernel_for<context<T>, op::conv> : function_kernel<context<T>, &conv<T>> {};
template <class T>
struct kernel_for<context<T>, op::conv_data> : function_kernel<context<T>, &conv_data<T>> {};
template <class T>
struct kernel_for<context<T>, op::conv_weight> : function_kernel<context<T>, &conv_weight<T>> {};

} // namespace castnet::cuda
