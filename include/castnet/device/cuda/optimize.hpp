// Optimizer update of all parameters in one launch, and the sums of loss and metrics over steps.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/map.hpp>
#include <castnet/device/penalized_gradient.hpp>
#include <castnet/optim/optimizer.hpp>
#include <castnet/plan/penalties.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace castnet::cuda {

// Arguments of a step's update besides arrays, in device memory.
template <class Rule, class T>
struct update_values {
    Rule rule;
    T scale; // of the gradients: 1 / sum of weights
};

// Writes them to a step's buffer, which has so many bytes for them.
inline constexpr std::size_t update_bytes = 2 * alignment_bytes;
template <class Rule, class T>
void store(update_values<Rule, T> const& values, char* to) {
    static_assert(std::is_trivially_copyable_v<Rule>);
    static_assert(sizeof values <= update_bytes,
                  "castnet: policy::cuda: the rule of the optimizer has more than 512 bytes; "
                  "make fewer parameter groups");
    std::memcpy(to, &values, sizeof values);
}

// Writes them to the GPU's memory: as arguments of a kernel they are read when it is launched,
// which CUDA does not promise of the host's memory that is copied.
template <class Rule, class T>
struct set_values_body {
    update_values<Rule, T> values;
    update_values<Rule, T>* to;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        if (block.index() == 0 && block.thread() == 0) {
            *to = values;
        }
    }
};
template <class Rule, class T>
kernel_call<set_values_body<Rule, T>> set_values_call(update_values<Rule, T> const& values,
                                                      update_values<Rule, T>* to) {
    return {{1, 1}, {values, to}};
}

// The penalty of the parameters up to the element `end`, from the end of the last such range on,
// and their group.
struct penalized_range {
    std::ptrdiff_t end;
    penalty cost;
    update_group group = 0;
};

// The gradients that an update reads.
template <class T>
struct stored_gradients {
    T const* at;

    CASTNET_HD void load(std::ptrdiff_t i, T (&g)[lanes_of<T>]) const { load_lanes(at + i, g); }
};
// Gradients of which some are in bfloat16 yet: these are stored by the way.
template <class T>
struct widened_gradients {
    struct range {
        bfloat16 const* from;
        std::ptrdiff_t first, last;
    };
    T* at;
    range ranges[most_converted];
    int count;

    CASTNET_HD void load(std::ptrdiff_t i, T (&g)[lanes_of<T>]) const {
        for (int k = 0; k < count; ++k) {
            range const& r = ranges[k];
            if (i >= r.first && i < r.last) {
                load_lanes(r.from + (i - r.first), g);
                for (int lane = 0; lane < lanes_of<T>; ++lane) { // none past the end
                    g[lane] = i + lane < r.last ? g[lane] : T(0);
                }
                store_lanes(g, at + i);
                return;
            }
        }
        load_lanes(at + i, g);
    }
};

template <class Rule, int Slots, class T, class Gradients = stored_gradients<T>>
struct optimize_body {
    update_values<Rule, T> const* now;
    penalized_range const* ranges; // in device memory, ascending; the last ends beyond all
    T* parameters;
    Gradients gradients;
    T* slots; // of the parameters from `first` on, `stride` apart
    std::ptrdiff_t stride;
    std::ptrdiff_t count; // of groups of lanes
    std::ptrdiff_t first = 0;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        update_values<Rule, T> const v = *now;
        penalized_range const* range = ranges;
        for_each_index(block, count, [&](std::ptrdiff_t group) {
            std::ptrdiff_t const i = first + group * lanes_of<T>;
            while (i >= range->end) {
                ++range;
            }
            T g[lanes_of<T>];
            gradients.load(i, g);
            if (range->group != no_group) {
                at(i, g, v.scale, rule_of_group(v.rule, range->group), T(range->cost.l1),
                   T(2 * range->cost.l2), std::make_index_sequence<std::size_t(Slots)>{});
            }
        });
    }

private:
    template <class GroupRule, std::size_t... S>
    CASTNET_HD void at(std::ptrdiff_t i, T const (&g)[lanes_of<T>], T scale, GroupRule const& rule,
                       T l1, T two_l2, std::index_sequence<S...>) const {
        T p[lanes_of<T>], state[Slots + 1][lanes_of<T>];
        load_lanes(parameters + i, p);
        (..., load_lanes(slots + std::ptrdiff_t(S) * stride + (i - first), state[S]));
        for (int k = 0; k < lanes_of<T>; ++k) {
            rule(p[k], penalized_gradient(g[k], scale, p[k], l1, two_l2), state[S][k]...);
        }
        store_lanes(p, parameters + i);
        (..., store_lanes(state[S], slots + std::ptrdiff_t(S) * stride + (i - first)));
    }
};

// Adds the results of a step, one array after the other, to the totals.
inline constexpr int max_results = 32;
template <class T>
struct add_totals_body {
    T const* results[max_results];
    std::ptrdiff_t end[max_results]; // of each result's totals
    double* totals;
    std::ptrdiff_t count; // of totals

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            int k = 0;
            while (i >= end[k]) {
                ++k;
            }
            std::ptrdiff_t const first = k > 0 ? end[k - 1] : 0;
            totals[i] += static_cast<double>(results[k][i - first]);
        });
    }
};

} // namespace castnet::cuda
