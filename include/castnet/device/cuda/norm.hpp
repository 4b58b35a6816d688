// Norm of the gradient over all trained parameters, for rules that need it: the sum of squares, by
// blocks whose number depends on the plan only, and its root.
#pragma once

#include <castnet/core/square_root.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/reduce.hpp>

namespace castnet::cuda {

// Size of the sum and of the parts that it is made of, in doubles.
inline constexpr std::ptrdiff_t norm_elements = reduction_blocks + 1;

// Squares of the gradients with penalties, from `first` on; an element of the sum is a group of
// lanes.
template <class T>
struct square_source {
    T const* scale;                // in device memory, as all of these
    penalized_range const* ranges; // ascending; the last ends beyond all
    T const* parameters;
    T const* gradients;
    std::ptrdiff_t first;

    static constexpr int results = 1, lanes = 1;
    static constexpr bool may_split = true, in_lanes = false;

    template <class F>
    CASTNET_HD void visit(std::uint32_t, F const& f) const {
        T const factor = *scale;
        penalized_range const* range = ranges;
        f(std::integral_constant<int, 1>{}, [&](std::uint32_t group, auto& parts) {
            std::ptrdiff_t const i = first + std::ptrdiff_t{group} * lanes_of<T>;
            while (i >= range->end) {
                ++range;
            }
            if (range->group == no_group) {
                return;
            }
            T p[lanes_of<T>]{}, g[lanes_of<T>];
            if (range->cost.l1 != 0 || range->cost.l2 != 0) {
                load_lanes(parameters + i, p);
            }
            load_lanes(gradients + i, g);
            for (int k = 0; k < lanes_of<T>; ++k) {
                auto const x = static_cast<double>(penalized_gradient(
                    g[k], factor, p[k], T(range->cost.l1), T(2 * range->cost.l2)));
                parts[0].take(x * x, 0);
            }
        });
    }
};

template <class T>
using square_sum = reduce_body<square_source<T>, reducer<reduction::sum, double>, double>;

// Sets the norm of an update's rule: the root of this sum of squares, which is of several parts.
template <class Rule, class T>
struct norm_body {
    update_values<Rule, T>* now;
    double const* squares;
    int parts = 1;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        if (block.index() == 0 && block.thread() == 0) {
            double sum = squares[0];
            for (int i = 1; i < parts; ++i) {
                sum += squares[i];
            }
            now->rule = now->rule.with_norm(square_root(sum));
        }
    }
};

} // namespace castnet::cuda
