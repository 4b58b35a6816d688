// Products of matrices on a GPU, by cuBLASLt, with its epilogues.
#pragma once

#include <castnet/device/cuda/tensor/device.hpp>
#include <castnet/device/cuda/tensor/evaluate.hpp>
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

// Epilogue of cuBLASLt: of the sums, a factor, and a number for each column.
struct product_epilogue {
    cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
    void const* bias = nullptr;
    double factor = 1;
};

template <class Form>
constexpr bool has_known_activation() {
    if constexpr (Form::has_activation) {
        return Form::activation == fn::relu || Form::activation == fn::gelu_tanh;
    } else {
        return true;
    }
}

// The epilogue of a form of ends (tensor/detail/product_end.hpp).
template <class Form>
constexpr cublasLtEpilogue_t epilogue_of() {
    if constexpr (!Form::has_activation) {
        return Form::has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    } else if constexpr (Form::activation == fn::relu) {
        return Form::has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    } else {
        return Form::has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    }
}

// result = a b, by as few calls as there are distances between matrices. False where the epilogue
// was not computed, of any of them.
template <class A, class B, class R>
bool multiply(A const& a, B const& b, R const& result, product_epilogue const& end) {
    using T = typename R::value_type;
    using S = typename R::shape_type;
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "castnet: matmul on a GPU multiplies floats or doubles: convert the tensors");
    constexpr std::size_t rank = S::rank;
    constexpr auto left = layout_of<A>(), right = layout_of<B>();
    constexpr std::size_t together = axes_at_one_step<A, B>();
    using apart = decltype(first_axes<S>(std::make_index_sequence<rank - 2 - together>{}));

    cublas::product p;
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
    bool const ends = apart::count == 1 && // else they might differ in this
                      reinterpret_cast<std::uintptr_t>(end.bias) % alignment_bytes == 0;
    if (ends) {
        p.end = end.kind;
    }
    auto const& stream = tensor_stream::current();
    bool ended = ends;
    castnet::detail::for_each_index<apart>([&](auto... at) {
        auto const* const x = matrices_at(a, at...);
        auto const* const y = matrices_at(b, at...);
        auto* const d = matrices_at(result, at...);
        auto const address = [](auto const* first) {
            return reinterpret_cast<std::intptr_t>(first);
        };
        p.alignment = cublas::common_alignment(
            address(x), address(y), address(d), p.a.row * std::int64_t{sizeof(T)},
            p.a.next * std::int64_t{sizeof(T)}, p.b.row * std::int64_t{sizeof(T)},
            p.b.next * std::int64_t{sizeof(T)}, p.d.row * std::int64_t{sizeof(T)},
            p.d.next * std::int64_t{sizeof(T)});
        ended = stream.multiply(p, x, y, d, end.bias, ends ? end.factor : 1) && ended;
    });
    return ended;
}

} // namespace detail

} // namespace cuda

template <class A, class B, class R>
void device::cuda::multiply(A const& a, B const& b, R const& result) {
    castnet::cuda::detail::multiply(a, b, result, {});
}

template <class A, class B, class R, class End>
void device::cuda::multiply(A const& a, B const& b, R const& result, End const& end) {
    using form = castnet::detail::end_form<End>;
    auto const bias = form::bias(end);
    if (!castnet::cuda::detail::multiply(
            a, b, result,
            {castnet::cuda::detail::epilogue_of<form>(), bias.get(), form::factor(end)})) {
        write(result, castnet::detail::with_product(result, end));
    }
}

template <class Product, class End>
constexpr bool device::cuda::ends_product() {
    using form = castnet::detail::end_form<End>;
    using T = typename Product::value_type;
    if constexpr (form::is_known && std::is_same_v<typename End::value_type, T>) {
        bool const by_factor = !form::has_bias && !form::has_activation;
        return (by_factor || std::is_same_v<T, float>) && // cuBLASLt has no others for double
               castnet::cuda::detail::has_known_activation<form>();
    } else {
        return false;
    }
}

} // namespace castnet
