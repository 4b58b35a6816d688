// Gather of a tensor's elements on a GPU (tensor/detail/gather.hpp): each thread copies one.
#pragma once

#include <castnet/device/cuda/tensor/evaluate.hpp>

namespace castnet {

namespace cuda {

// Lines of Inner neighbours along an axis of From positions, gathered to To of them.
template <std::size_t From, std::size_t To, std::size_t Inner, class T, class Place>
struct gather_along_axis {
    T const* from;
    T* to;
    std::size_t count;
    Place place;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        std::size_t const i = std::size_t{block.index()} * block.threads() + block.thread();
        if (i < count) {
            std::size_t const line = i / Inner;
            to[i] = from[(line / To * From + place(line % To)) * Inner + i % Inner];
        }
    }
};

} // namespace cuda

template <size_t From, size_t To, size_t Inner, class T, class Place>
void device::cuda::gather(device_ptr<T const> from, device_ptr<T> to, size_t count,
                          Place const& place) {
    castnet::cuda::tensor_stream::current().launch(
        castnet::cuda::grid_of_threads(count),
        castnet::cuda::gather_along_axis<From, To, Inner, T, Place>{from.get(), to.get(), count,
                                                                    place});
}

} // namespace castnet
