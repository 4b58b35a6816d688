// CPU policy, policy::cpu: computes in float, on as many threads as OpenMP has (one without it).
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/device/cpu/device.hpp>
#include <castnet/policy/policy.hpp>

#include <limits>
#include <type_traits>

namespace castnet {

namespace policy::inline CASTNET_TARGET { // so models and trainings, which name it, differ, too

// The same with another element type; basic_cpu<double> is for gradient checks.
template <class T>
struct basic_cpu {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "castnet: policy::basic_cpu computes in float or double");

    using value_type = T;
    using device = cpu_device<T>;
    static constexpr char const* name = "cpu";
    static constexpr std::size_t budget = std::numeric_limits<std::size_t>::max();

    template <class Base>
    struct in_bf16 : Base { // policy::bf16
        using device = cpu_device<
            T, std::conditional_t<std::is_same_v<T, float>, castnet::cpu::bfloat16_pair, T>>;
    };
};
using cpu = basic_cpu<float>;

// Limits the memory of a policy to `Bytes` bytes; checked while compiling.
template <class Base, std::size_t Bytes>
struct memory_limit : Base {
    static constexpr std::size_t budget = Bytes;
};

} // namespace policy::inline CASTNET_TARGET

namespace detail {

// The policy itself; after a failed check, a placeholder, so that no other errors follow.
template <class Where>
using policy_or_cpu = std::conditional_t<Policy<Where>, Where, policy::cpu>;

} // namespace detail

// Products of factors rounded to bfloat16, with sums in float, as in PyTorch's autocast: weights,
// optimizer state, losses, gradients of weights and all other arithmetic stay float. bfloat16 has
// float's range, so losses are not scaled. `Base` is policy::cpu, policy::cuda (docs/cuda.md), or
// one of their variants that computes in float. On a CPU arrays are float, too: factors are rounded
// where kernels read them, and layers for which that does not pay multiply floats (docs/guide.md).
// It is fast where the program is compiled for AVX512_BF16 on AMD, or AMX.
template <class Base>
struct policy::bf16 : detail::policy_or_cpu<Base>::template in_bf16<detail::policy_or_cpu<Base>> {
    static_assert(is_policy<Base>::checked);
    static_assert(std::is_same_v<typename detail::policy_or_cpu<Base>::value_type, float>,
                  "castnet: policy::bf16 is for policies that compute in float");
};

} // namespace castnet
