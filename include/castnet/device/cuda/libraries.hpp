// cuBLASLt and cuDNN for the steps of a session: their handles, the memory they work in, and what
// was chosen for each step.
//
// A step's kernel is run once before it is captured, on the same stream; it may choose, allocate
// and remember then (by the address of the step, which is a constant), and must not while the
// stream is being captured.
#pragma once

#include <castnet/device/cuda/error.hpp>

namespace castnet::cuda {

class libraries {
public:
    explicit libraries(cudaStream_t stream) : stream_{stream} {}
    libraries(libraries const&) = delete;
    libraries& operator=(libraries const&) = delete;

    cudaStream_t stream() const { return stream_; }

private:
    cudaStream_t stream_;
};

} // namespace castnet::cuda
