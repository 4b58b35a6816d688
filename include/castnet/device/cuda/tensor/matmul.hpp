// Products of matrices on a GPU, by cuBLASLt.
#pragma once

#include <castnet/device/cuda/tensor/device.hpp>
#include <castnet/device/cuda/tensor/stream.hpp>

namespace castnet {

namespace cuda {

namespace detail {

// How a factor lies: row by row, or transposed, and how far apart these lines and the matrices of
// the innermost axis of the batch are.
struct factor_layout {
    bool transposed = false;
    cublas::placement lies{};
};

template <class X>
constexpr factor_layout layout_of() {
    using S = typename X::shape_type;
    constexpr std::size_t rank = S::rank;
    constexpr auto& step = X::strides_type::step;
    constexpr bool transposed = !castnet::detail::lies_apart<X, rank - 2, rank - 1>();
    constexpr std::size_t line = transposed ? rank - 1 : rank - 2,
                          along = transposed ? rank - 2 : rank - 1;
    return {transposed,
            {static_cast<std::int64_t>(S::extent[line] == 1 ? S::extent[along] : step[line]),
             rank > 2 ? static_cast<std::int64_t>(step[rank > 2 ? rank - 3 : 0]) : 0}};
}

// How many of the last axes of a batch both factors go through at one step.
template <class A, class B>
constexpr std::size_t axes_at_one_step() {
    using S = typename A::shape_type;
    constexpr std::size_t batch = S::rank - 2;
    auto const joins = [](auto const& step, std::size_t axis) {
        return step[axis] == step[axis + 1] * S::extent[axis + 1];
    };
    std::size_t count = batch > 0 ? 1 : 0;
    while (count != batch && joins(A::strides_type::step, batch - count - 1) &&
           joins(B::strides_type::step, batch - count - 1)) {
        ++count;
    }
    return count;
}

template <class S, std::size_t... Axis>
auto first_axes(std::index_sequence<Axis...>) -> shape<S::extent[Axis]...>;

// The element from which on the matrices at this place of the first axes lie.
template <class X, class... Index>
auto* matrices_at(X const& x, Index... index) {
    std::size_t const at[] = {index..., 0};
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis != sizeof...(Index); ++axis) {
        offset += at[axis] * X::strides_type::step[axis];
    }
    return (x.data() + offset).get();
}

} // namespace detail

} // namespace cuda

template <class A, class B, class R>
void device::cuda::multiply(A const& a, B const& b, R const& result) {
    namespace blas = castnet::cuda::cublas;
    using castnet::cuda::detail::matrices_at;
    using T = typename R::value_type;
    using S = typename R::shape_type;
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "castnet: matmul on a GPU multiplies floats or doubles: convert the tensors");
    constexpr std::size_t rank = S::rank;
    constexpr auto left = castnet::cuda::detail::layout_of<A>(),
                   right = castnet::cuda::detail::layout_of<B>();
    constexpr std::size_t together = castnet::cuda::detail::axes_at_one_step<A, B>();
    using apart = decltype(castnet::cuda::detail::first_axes<S>(
        std::make_index_sequence<rank - 2 - together>{}));

    blas::product p;
    p.rows = static_cast<std::int64_t>(S::extent[rank - 2]);
    p.columns = static_cast<std::int64_t>(S::extent[rank - 1]);
    p.depth = static_cast<std::int64_t>(A::shape_type::extent[rank - 1]);
    p.transposed_a = left.transposed;
    p.transposed_b = right.transposed;
    p.type = p.result = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
    p.compute = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    p.batch = static_cast<int>(S::count / apart::count / S::extent[rank - 2] / S::extent[rank - 1]);
    p.a = left.lies;
    p.b = right.lies;
    p.d = {p.columns, p.rows * p.columns};
    auto const& stream = castnet::cuda::tensor_stream::current();
    castnet::detail::for_each_index<apart>([&](auto... at) {
        auto const* const x = matrices_at(a, at...);
        auto const* const y = matrices_at(b, at...);
        auto* const d = matrices_at(result, at...);
        auto const address = [](auto const* first) {
            return reinterpret_cast<std::intptr_t>(first);
        };
        p.alignment = blas::common_alignment(
            address(x), address(y), address(d), p.a.row * std::int64_t{sizeof(T)},
            p.a.next * std::int64_t{sizeof(T)}, p.b.row * std::int64_t{sizeof(T)},
            p.b.next * std::int64_t{sizeof(T)}, p.d.row * std::int64_t{sizeof(T)},
            p.d.next * std::int64_t{sizeof(T)});
        stream.multiply(p, x, y, d);
    });
}

} // namespace castnet
