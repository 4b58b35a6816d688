// Evaluation of expressions into tensors, by one kernel each.
#pragma once

#include <castnet/device/cuda/tensor/device.hpp>
#include <castnet/device/cuda/tensor/evaluate_body.hpp>
#include <castnet/device/cuda/tensor/stream.hpp>

namespace castnet {

namespace cuda {

// A grid with a thread for each of these.
inline grid grid_of_threads(std::uint64_t count) {
    return {static_cast<unsigned>((count + block_threads - 1) / block_threads), block_threads, 0};
}

} // namespace cuda

template <class T, class S, class Strides, class X>
void device::cuda::write(tensor_view<T, S, Strides, cuda> to, X const& x) {
    static_assert(!std::is_const_v<T>, "castnet: these elements are read-only");
    using view = tensor_view<T, S, Strides, cuda>;
    constexpr bool flat = view::is_flat && castnet::detail::is_flat_over<X, S>();
    using space = std::conditional_t<flat, shape<S::count>, S>;
    auto const out = castnet::cuda::detail::elements_of<space, flat>(
        to, std::make_index_sequence<space::rank>{});
    auto const in = castnet::cuda::kernel_form<space, flat, T>(x);
    using to_form = std::remove_const_t<decltype(out)>;
    using x_form = std::remove_const_t<decltype(in)>;
    constexpr int lanes =
        castnet::cuda::lanes_along<space, std::max(to_form::widest, x_form::widest)>(!flat);
    castnet::cuda::evaluate_body<space, lanes, to_form, x_form> const body{
        out, in, out.template is_aligned<lanes>() && in.template is_aligned<lanes>()};
    castnet::cuda::tensor_stream::current().launch(castnet::cuda::grid_of_threads(body.threads()),
                                                   body);
}

} // namespace castnet
