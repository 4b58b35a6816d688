// Tensors on a simulated GPU.
#include <castnet/device/cuda/launch.hpp>

#include "../cuda/simt.hpp"
#include "machine.hpp"

#include <cuda_runtime_api.h>

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

#include "../device_tensors.hpp"

TEST_CASE("a GPU without memory for a tensor") {
    machine::here().is_full = true;
    CHECK_THROWS_WITH_AS((gpu<double, 1000>{}),
                         doctest::Contains("castnet: a tensor takes 8000 bytes, but the GPU has"),
                         cn::error);
    machine::here().is_full = false;
    CHECK_THROWS_WITH_AS(
        cn::cuda::tensor_stream{7},
        doctest::Contains("castnet: device::cuda was given GPU 7, but the program"), cn::error);
}
