// GPU policy, policy::cuda: computes in float on one NVIDIA GPU. Needs nvcc.
//
//   policy::cuda                           products and convolutions in full float precision
//   policy::tf32<policy::cuda>             the same on tensor cores, factors of 10 bits of mantissa
//   policy::bf16<policy::cuda>             their inputs in bfloat16, and the images that they write
//   policy::autotuned<policy::cuda>        the libraries' algorithms chosen by timing them
//   policy::on_gpu<1, policy::cuda>        another GPU than the first that the program sees
//   policy::memory_limit<policy::cuda, N>  a budget of N bytes
//   policy::eager<policy::cuda>            without CUDA graphs, for tests
#pragma once

#include <castnet/device/cuda/device.hpp>
#include <castnet/policy/cpu.hpp>

#include <limits>
#include <type_traits>

namespace castnet::policy {

template <class T>
struct basic_cuda {
    using value_type = T;
    using device = cuda_device<T>;
    static constexpr char const* name = "cuda";
    static constexpr std::size_t budget = std::numeric_limits<std::size_t>::max();
    static constexpr int device_index = 0;
    static constexpr castnet::cuda::product_precision precision =
        castnet::cuda::product_precision::full;
    static constexpr castnet::cuda::algorithm_order algorithms =
        castnet::cuda::algorithm_order::as_listed;
    static constexpr bool use_graphs = true;
    static constexpr bool uses_nccl = true; // where there are several replicas

    template <class Base>
    struct in_bf16 : Base { // policy::bf16
        using device = cuda_device<T, true>;
        static constexpr castnet::cuda::product_precision precision =
            castnet::cuda::product_precision::bf16;
    };
};

template <class Base>
struct tf32 : Base {
    static constexpr castnet::cuda::product_precision precision =
        castnet::cuda::product_precision::tf32;
};

// The first training or prediction takes longer: up to eight algorithms of cuDNN and cuBLASLt are
// timed for each different convolution and product. See docs/cuda.md.
template <class Base>
struct autotuned : Base {
    static constexpr castnet::cuda::algorithm_order algorithms =
        castnet::cuda::algorithm_order::by_time;
};

template <int Index, class Base>
struct on_gpu : Base {
    static constexpr int device_index = Index;
};

template <class Base>
struct eager : Base {
    static constexpr bool use_graphs = false;
};

} // namespace castnet::policy
