// What becomes of the kernels of tensors: without nvcc they run on the simulated machine, and are
// counted.
#pragma once

#include <castnet/device/cuda/tensor/stream.hpp>

#ifdef __CUDACC__

namespace check {
inline int launches() {
    return -1;
}
} // namespace check

#else

#include "../cuda/simt.hpp"
#include "machine.hpp"

#include <utility>

namespace check {
inline int launched = 0;
inline int launches() {
    return launched;
}
} // namespace check

namespace castnet::cuda {

template <class Body>
void launch(cudaStream_t stream, grid const& g, Body const& body) {
    ++check::launched;
    machine::work w;
    w.run = [g, body] { simt::launch(g, body); };
    machine::here().put(*reinterpret_cast<machine::stream*>(stream), std::move(w));
}

} // namespace castnet::cuda

#endif
