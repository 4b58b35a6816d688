// Reductions of expressions, by one kernel each.
#pragma once

#include <castnet/device/cuda/tensor/owning_tensor.hpp>
#include <castnet/device/cuda/tensor/reduce_source.hpp>

namespace castnet {

namespace detail {

template <class S>
inline constexpr bool counts_in_31_bits = S::count < (size_t{1} << 31);

} // namespace detail

template <template <class, size_t> class Reduction, class X, size_t... Axes>
auto device::cuda::reduce(X const& x, std::index_sequence<Axes...> axes) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    constexpr bool flat = X::is_flat;
    using every = std::make_index_sequence<castnet::detail::folded<S, flat, Axes...>.rank>;
    using kept = decltype(castnet::detail::folded_part<S, flat, false>(axes, every{}));
    using reduced = decltype(castnet::detail::folded_part<S, flat, true>(axes, every{}));
    using space = decltype(castnet::detail::folded_shape<S, flat>(axes, every{}));
    static_assert(castnet::detail::counts_in_31_bits<S>,
                  "castnet: a reduction on a GPU takes fewer than 2^31 elements");

    constexpr bool in_parts = requires { typename Reduction<T, 1>::part; };
    using R = typename Reduction<T, 1>::result;
    using V = std::conditional_t<in_parts, R, T>; // what is accumulated
    using reducer = castnet::cuda::tensor_reducer<Reduction<V, 1>, V>;
    auto result = tensor<
        R, decltype(castnet::detail::part_of<S, false>(axes, std::make_index_sequence<S::rank>{})),
        cuda>::empty();

    auto const in = castnet::cuda::kernel_form<space, flat, T>(x);
    using form = std::remove_const_t<decltype(in)>;
    constexpr int lanes =
        castnet::cuda::lanes_along<space, std::max(form::widest, sizeof(R))>(true);
    using source = castnet::cuda::expression_source<kept, reduced, lanes, form, V, in_parts>;
    using body = castnet::cuda::reduce_body<source, reducer, R>;

    source const from{in, lanes > 1 && in.template is_aligned<lanes>()};
    std::ptrdiff_t const width = from.in_lanes ? lanes : 1;
    constexpr bool adjoin = source::results_adjoin;
    auto const results = static_cast<std::ptrdiff_t>(kept::count) / (adjoin ? width : 1),
               elements = static_cast<std::ptrdiff_t>(reduced::count) / (adjoin ? 1 : width);
    auto const& stream = castnet::cuda::tensor_stream::current();
    auto const divided = castnet::cuda::shape_reduction(
        results, elements, adjoin,
        in_parts ? castnet::cuda::max_parts / (results * source::lanes) : 1);
    body b{from,
           divided,
           castnet::cuda::quotient(divided.groups()),
           static_cast<R>(reduced::count),
           {result.data().get()}};
    if (divided.splits > 1) {
        b.parts = stream.parts<R>();
    }
    stream.launch(
        {divided.groups() * divided.splits, castnet::cuda::block_threads, body::shared_bytes}, b);
    return result;
}

} // namespace castnet
