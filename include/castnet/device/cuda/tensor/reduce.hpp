// The kernel that reduces an expression, which it computes on the way.
#pragma once

#include <castnet/device/cuda/reduce_body.hpp>
#include <castnet/device/cuda/tensor/owning_tensor.hpp>

namespace castnet {

namespace cuda {

// An accumulator of tensor/detail/reduction.hpp as kernels use it: `count` is how many elements an
// answer is of.
template <class Reduction, class V>
struct tensor_reducer {
    Reduction one;

    CASTNET_HD void take(V x, std::ptrdiff_t position) {
        one.template take<0>(&x, static_cast<std::size_t>(position));
    }
    CASTNET_HD void join(tensor_reducer const& other) { one.join(0, other.one, 0); }
    CASTNET_HD auto result(typename Reduction::result count) const {
        return one.get(0, static_cast<std::size_t>(count));
    }
};

// The elements of an expression over the axes of two shapes, of which each has extent 1 where the
// other has not: a result is a place of Kept, and its elements lie at the places of Reduced.
template <class Kept, class Reduced, int Lanes, class X, class V, bool MaySplit>
struct expression_source {
    static constexpr std::size_t rank = Kept::rank;
    // Neighbours along the last axis are results, or elements of one.
    static constexpr bool results_adjoin = extent_along<Reduced, rank - 1> == 1;
    static constexpr int results = 1, lanes = results_adjoin ? Lanes : 1;
    static constexpr bool may_split = MaySplit;

    X x;
    bool in_lanes;

    template <class F>
    CASTNET_HD void visit(std::uint32_t result, F const& f) const {
        if (in_lanes) {
            visit_in<Lanes>(result, f);
        } else {
            visit_in<1>(result, f);
        }
    }

private:
    template <int N, class F>
    CASTNET_HD void visit_in(std::uint32_t result, F const& f) const {
        constexpr std::uint32_t kept_lanes = results_adjoin ? N : 1,
                                reduced_lanes = results_adjoin ? 1 : N;
        auto const kept = place_of<Kept>(static_cast<std::uint32_t>(result * kept_lanes));
        f(std::integral_constant<int, 4>{}, [&](std::uint32_t element, auto& parts) {
            auto const position = static_cast<std::uint32_t>(element * reduced_lanes);
            auto p = place_of<Reduced>(position);
            for (std::size_t axis = 0; axis < rank; ++axis) {
                p.at[axis] += kept.at[axis];
            }
            auto const all = x.template get<N>(p);
            for (int i = 0; i < N; ++i) {
                parts[results_adjoin ? i : 0].take(static_cast<V>(all.value[i]),
                                                   static_cast<std::ptrdiff_t>(position) +
                                                       (results_adjoin ? 0 : i));
            }
        });
    }
};

} // namespace cuda

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
