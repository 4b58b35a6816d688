// Concept of a policy, and declarations of the policies with a header of their own.
//
// A policy determines where and how a network runs: its device, its element type, and its memory
// budget in bytes.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet {

template <class T>
concept Policy = requires {
    typename T::value_type;
    typename T::device;
    T::budget;
};

namespace policy {

// castnet/policy/cpu.hpp
template <class Base>
struct bf16;

// castnet/cuda.hpp
template <class T>
struct basic_cuda;
using cuda = basic_cuda<float>;
template <class Base>
struct tf32;
template <class Base>
struct autotuned;
template <class Base>
struct eager;
template <int Index, class Base = cuda>
struct on_gpu;

// castnet/policy/mirrored.hpp
template <class Where, int N = 0, class... Options>
struct mirrored;
template <class Where>
struct host_reduction;
template <class Where, int N, class... Options>
struct logical;

// castnet/policy/distributed.hpp
template <class Where, class... Options>
struct distributed;

// castnet/policy/model_parallel.hpp
template <class Where, int N>
struct model_parallel;

} // namespace policy

namespace detail {

template <bool Included>
struct cuda_header {
    static_assert(Included,
                  "castnet: policy::cuda and its variants need #include <castnet/cuda.hpp>, in a "
                  "file that nvcc compiles");
    static constexpr bool checked = true;
};
template <bool Included>
struct mirrored_header {
    static_assert(Included, "castnet: policy::mirrored and policy::logical need #include "
                            "<castnet/policy/mirrored.hpp>");
    static constexpr bool checked = true;
};
template <bool Included>
struct distributed_header {
    static_assert(Included, "castnet: policy::distributed needs #include "
                            "<castnet/policy/distributed.hpp>, and MPI");
    static constexpr bool checked = true;
};
template <bool Included>
struct model_parallel_header {
    static_assert(Included, "castnet: policy::model_parallel needs #include "
                            "<castnet/policy/model_parallel.hpp>");
    static constexpr bool checked = true;
};

} // namespace detail

// Checks of policies. They are classes, so that every compiler prints the type.
template <class Where>
struct is_policy {
    static_assert(Policy<Where>, "castnet: this is not a policy such as cn::policy::cpu; see "
                                 "is_policy<type>; a model is cn::model<network, policy, "
                                 "cn::batch<samples>>");
    static constexpr bool checked = true;
};
template <class T>
struct is_policy<policy::basic_cuda<T>> : detail::cuda_header<Policy<policy::basic_cuda<T>>> {};
template <class Base>
struct is_policy<policy::tf32<Base>> : detail::cuda_header<Policy<policy::tf32<Base>>> {};
template <class Base>
struct is_policy<policy::bf16<Base>> : is_policy<Base> {};
template <class Base>
struct is_policy<policy::autotuned<Base>> : detail::cuda_header<Policy<policy::autotuned<Base>>> {};
template <class Base>
struct is_policy<policy::eager<Base>> : detail::cuda_header<Policy<policy::eager<Base>>> {};
template <int Index, class Base>
struct is_policy<policy::on_gpu<Index, Base>>
    : detail::cuda_header<Policy<policy::on_gpu<Index, Base>>> {};
template <class Where, int N, class... Options>
struct is_policy<policy::mirrored<Where, N, Options...>>
    : detail::mirrored_header<Policy<policy::mirrored<Where, N, Options...>>> {};
template <class Where, int N, class... Options>
struct is_policy<policy::logical<Where, N, Options...>>
    : detail::mirrored_header<Policy<policy::logical<Where, N, Options...>>> {};
template <class Where>
struct is_policy<policy::host_reduction<Where>>
    : detail::mirrored_header<Policy<policy::host_reduction<Where>>> {};
template <class Where, class... Options>
struct is_policy<policy::distributed<Where, Options...>>
    : detail::distributed_header<Policy<policy::distributed<Where, Options...>>> {};
template <class Where, int N>
struct is_policy<policy::model_parallel<Where, N>>
    : detail::model_parallel_header<Policy<policy::model_parallel<Where, N>>> {};

} // namespace castnet
