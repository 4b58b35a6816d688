// DLPack of tensors on a GPU, whose memory is shared with CuPy, PyTorch, JAX and others in one
// process: to_dlpack and from_dlpack (castnet/tensor/dlpack.hpp) of tensor<T, shape, device::cuda>.
//
// to_dlpack waits until the calling thread's stream has computed the elements, since others read
// them on streams of their own; who writes such elements, or gives some to from_dlpack, waits for
// them in the same way. Memory that is given away goes back to the stream of the tensor, which must
// have done by then what uses it.
#pragma once

#include <castnet/device/cuda/tensor/owning_tensor.hpp>
#include <castnet/tensor/dlpack.hpp>

namespace castnet::detail {

template <>
struct dlpack_device<device::cuda> {
    static constexpr char const* remedy = "copy it there before, as by .cuda()";
    static DLDevice of() {
        return {static_cast<decltype(DLDevice::device_type)>(gpu),
                cuda::tensor_stream::current().gpu()};
    }
    static std::string where() {
        return string_of({gpu, ", GPU ", cuda::tensor_stream::current().gpu()});
    }
    static bool is_ours(DLDevice const& d) {
        auto const type = static_cast<int>(d.device_type);
        return (type == gpu || type == managed) &&
               d.device_id == cuda::tensor_stream::current().gpu();
    }
    static void finish() { cuda::tensor_stream::current().wait(); }

private:
    static constexpr int gpu = 2, managed = 13; // kDLCUDA, kDLCUDAManaged
};

} // namespace castnet::detail
