// An expression as what kernels reduce (reduce_body.hpp), and the accumulators of tensors for them.
#pragma once

#include <castnet/device/cuda/reduce_body.hpp>
#include <castnet/device/cuda/tensor/expression.hpp>
#include <castnet/tensor/detail/reduction.hpp>

namespace castnet::cuda {

// An accumulator of tensor/detail/reduction.hpp as kernels use it: `count` is how many elements an
// answer is of.
template <class Reduction, class V>
struct tensor_reducer {
    Reduction one;

    CASTNET_HD void take(V x, std::ptrdiff_t position) {
        one.template take<0>(&x, static_cast<std::size_t>(position));
    }
    // Neighbours: floats by fours, as on the host.
    template <int N>
    CASTNET_HD void take_all(V const (&x)[N], std::ptrdiff_t position) {
        if constexpr (N % 4 == 0 && std::is_floating_point_v<V> &&
                      std::is_base_of_v<castnet::detail::sum_reduction<V, 1>, Reduction>) {
            for (int i = 0; i < N; i += 4) {
                V const* const four[] = {x + i, x + i + 1, x + i + 2, x + i + 3};
                one.take_four(four);
            }
        } else {
            for (int i = 0; i < N; ++i) {
                take(x[i], position + i);
            }
        }
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
            V value[N];
            for (int i = 0; i < N; ++i) {
                value[i] = static_cast<V>(all.value[i]);
            }
            if constexpr (results_adjoin) {
                for (int i = 0; i < N; ++i) {
                    parts[i].take(value[i], static_cast<std::ptrdiff_t>(position));
                }
            } else {
                parts[0].take_all(value, static_cast<std::ptrdiff_t>(position));
            }
        });
    }
};

} // namespace castnet::cuda
