// Context of a CUDA kernel's launcher: the memory of a step and the stream to launch on.
//
// A launcher is called as k(launch, tables, context). A step always computes the whole batch: in a
// smaller one, the remaining rows are copies of a sample with the weight 0. So its work is fixed,
// and a captured graph stays valid for every batch; a step's arguments are read from device memory
// (step_values).
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/device/cuda/error.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/product_precision.hpp>
#include <castnet/device/cuda/reduction_parts.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/ir.hpp>

namespace castnet::cuda {

class libraries; // device/cuda/libraries.hpp

template <class T>
struct context {
    using value_type = T;
    // A thread for each of so many is not half of what a large GPU has at once: maps of as many
    // wait for memory and for themselves, and do so for one element only.
    static constexpr std::ptrdiff_t few_elements = std::ptrdiff_t{1} << 16;

    T* region[ir::regions]{};      // by ir::region, in device memory
    std::ptrdiff_t samples = 0;    // of the plan's batch
    std::ptrdiff_t iteration = -1; // of a loop over time: the one pixel to compute; -1 for all
    std::ptrdiff_t repetition = 0; // of a repeated block
    philox_key key{};
    step_values const* now = nullptr; // in device memory
    reduction_parts<T> parts{};       // there, too
    cudaStream_t stream = nullptr;
    libraries* library = nullptr; // handles, workspace, and the algorithm of each launch
    product_precision precision = product_precision::full;

    T* at(array_ref const& r) const {
        return region[static_cast<int>(r.where)] + r.offset + repetition * r.repeat_stride;
    }

#ifdef __CUDACC__
    // Runs a body (launch.hpp) on the stream.
    template <class Body>
    void launch(grid const& g, Body const& body) const {
        cuda::launch(stream, g, body);
    }
#endif
};

} // namespace castnet::cuda
