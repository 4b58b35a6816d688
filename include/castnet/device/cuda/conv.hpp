// Convolution and its gradients, by cuDNN. Images lie as (height, width, channels), weights as
// (filters, kernel height, kernel width, channels of the group).
#pragma once

#include <castnet/device/cuda/context.hpp>
#include <castnet/device/cuda/element_type.hpp>
#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/libraries.hpp>

#include <type_traits>

namespace castnet::cuda {

template <class T>
cudnn::convolution convolution_of(step const& s, tables const& t, context<T> const& c) {
    bool const tensor_cores =
        c.precision == product_precision::tf32 || std::is_same_v<T, __nv_bfloat16>;
    return {s.kind,       t.windows[s.window], c.samples,      element_type<T>::cudnn,
            tensor_cores, s.end.bias,          s.end.activates};
}

template <class T>
void conv(step const& s, tables const& t, context<T> const& c) {
    c.library->run(convolution_of(s, t, c), c.at(t.arrays[s.first_array]),
                   c.at(t.arrays[s.first_array + 1]), c.at(t.arrays[s.output]), bias_of(s, t, c));
}

template <class T>
void conv_data(step const& s, tables const& t, context<T> const& c) {
    c.library->run(convolution_of(s, t, c), c.at(t.arrays[s.output]),
                   c.at(t.arrays[s.first_array + 1]), c.at(t.arrays[s.first_array]));
}

template <class T>
void conv_weight(step const& s, tables const& t, context<T> const& c) {
    c.library->run(convolution_of(s, t, c), c.at(t.arrays[s.first_array]), c.at(t.arrays[s.output]),
                   c.at(t.arrays[s.first_array + 1]));
}

} // namespace castnet::cuda
