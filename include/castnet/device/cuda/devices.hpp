// Several GPUs as one device for plans, each with a memory of its own.
#pragma once

#include <castnet/device/cuda/joint_executor.hpp>
#include <castnet/device/launches.hpp>

namespace castnet {

// Device: one of them.
template <class Device, int N>
struct cuda_devices : Device {
    static constexpr int devices = N;
    static constexpr bool has_memories = true;
    using memory = cuda::divided_memory<typename Device::value_type>;
    using session = cuda::sessions;
    using executor = cuda::joint_executor<cuda_devices>;

    // The kernel of a single block knows one GPU.
    template <auto const& Plan>
    static constexpr bool in_one_block = false;
};

} // namespace castnet
