// searchsorted of tensors on a GPU: each thread searches for an element.
#pragma once

#include <castnet/device/cuda/tensor/owning_tensor.hpp>

namespace castnet {

namespace cuda {

template <class T>
struct search_body {
    T const* sorted;
    std::size_t length;
    T const* values;
    std::size_t* places;
    std::size_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        std::size_t const i = std::size_t{block.index()} * block.threads() + block.thread();
        if (i < count) {
            places[i] = castnet::detail::lower_bound(sorted, length, values[i]);
        }
    }
};

} // namespace cuda

// As on the host.
template <TensorExpression V, TensorExpression X>
    requires(GpuExpression<V> || GpuExpression<X>)
auto searchsorted(V const& sorted, X const& x) {
    using T = detail::common_value_t<V, X>;
    using S = typename X::shape_type;
    using Device = detail::device_of_operands<V, X>;
    static_assert(detail::is_vector<typename V::shape_type>,
                  "castnet: searchsorted searches in a vector: a tensor of one axis");
    auto const in = detail::factor<T, detail::factor_order::rows>(sorted);
    auto const values = detail::factor<T, detail::factor_order::rows>(x);
    auto places = tensor<size_t, S, Device>::empty();
    cuda::tensor_stream::current().launch(cuda::grid_of_threads(S::count),
                                          cuda::search_body<T>{in.data().get(), in.size(),
                                                               values.data().get(),
                                                               places.data().get(), S::count});
    return places;
}

} // namespace castnet
