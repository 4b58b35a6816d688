// Norm of the gradient over all trained parameters, for rules that need it: sums of squares by
// blocks, whose number depends on the plan only, and then their sum.
#pragma once

#include <castnet/core/square_root.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/reduce.hpp>

namespace castnet::cuda {

// Size of the sums, in doubles.
inline constexpr std::ptrdiff_t norm_elements = max_splits + 1;

// Squares of the gradients with penalties, from `first` on; an element of the sum is a group of
// lanes.
template <class T>
struct square_source {
    T const* scale;                // in device memory, as all of these
    penalized_range const* ranges; // ascending; the last ends behind all
    T const* parameters;
    T const* gradients;
    std::ptrdiff_t first;

    template <class F>
    CASTNET_HD void prepare(F const& f) const {
        constexpr lane_group all{lanes_of<T>, true};
        T const factor = *scale;
        penalized_range const* range = ranges;
        f([&](std::ptrdiff_t, std::ptrdiff_t group, auto const& take) {
            std::ptrdiff_t const i = first + group * lanes_of<T>;
            while (i >= range->end) {
                ++range;
            }
            if (range->group == no_group) {
                return;
            }
            T p[lanes_of<T>]{}, g[lanes_of<T>];
            if (range->cost.l1 != 0 || range->cost.l2 != 0) {
                load_lanes(parameters + i, all, p);
            }
            load_lanes(gradients + i, all, g);
            for (int k = 0; k < lanes_of<T>; ++k) {
                auto const x = static_cast<double>(penalized_gradient(
                    g[k], factor, p[k], T(range->cost.l1), T(2 * range->cost.l2)));
                take(x * x, 0);
            }
        });
    }
};

// Sets the norm of an update's rule: the root of the sum of these squares.
template <class Rule, class T>
struct norm_body {
    update_values<Rule, T>* now;
    double const* squares;
    unsigned count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        if (block.index() == 0 && block.thread() == 0) {
            double sum = 0;
            for (unsigned i = 0; i < count; ++i) {
                sum += squares[i];
            }
            now->rule = now->rule.with_norm(square_root(sum));
        }
    }
};

} // namespace castnet::cuda
