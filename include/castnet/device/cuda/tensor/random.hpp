// Random tensors on a GPU: each thread makes two neighbouring elements.
#pragma once

#include <castnet/device/cuda/tensor/evaluate.hpp>

namespace castnet {

namespace cuda {

template <class T, class Make>
struct random_body {
    T* out;
    std::uint64_t count;
    philox_key key;
    std::uint64_t stream;
    Make make;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        std::uint64_t const pair = std::uint64_t{block.index()} * block.threads() + block.thread(),
                            first = 2 * pair;
        if (first < count) {
            auto const two = make(castnet::detail::random_pair<T>(key, stream, pair));
            out[first] = two.first;
            if (first + 1 < count) {
                out[first + 1] = two.second;
            }
        }
    }
};

} // namespace cuda

template <class T, class S, class Make>
void device::cuda::fill_with_random(tensor_view<T, S, row_major<S>, cuda> to, philox_key key,
                                    std::uint64_t stream, Make const& make) {
    castnet::cuda::tensor_stream::current().launch(
        castnet::cuda::grid_of_threads((S::count + 1) / 2),
        castnet::cuda::random_body<T, Make>{to.data().get(), S::count, key, stream, make});
}

} // namespace castnet
