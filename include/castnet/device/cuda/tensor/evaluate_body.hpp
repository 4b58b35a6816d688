// The body of the kernel that computes an expression and writes it to a tensor.
#pragma once

#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/tensor/expression.hpp>

namespace castnet::cuda {

// to = x at all places of Space, Lanes neighbours along the last axis by a thread. (A single axis
// may end within a group of them.)
template <class Space, int Lanes, class To, class X>
struct evaluate_body {
    using index = index_of<Space>;

    static constexpr std::uint64_t last = extent_along<Space, Space::rank - 1>;
    static constexpr std::uint64_t groups_along = (last + Lanes - 1) / Lanes,
                                   groups = Space::count / last * groups_along;

    To to;
    X x;
    bool in_lanes;

    std::uint64_t threads() const { return in_lanes ? groups : Space::count; }

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        auto const i = static_cast<index>(index{block.index()} * block.threads() + block.thread());
        if constexpr (Lanes > 1) {
            if (in_lanes) {
                if (i < groups) {
                    compute_group(i);
                }
                return;
            }
        }
        if (i < Space::count) {
            compute<1>(place_of<Space>(i));
        }
    }

private:
    template <int N>
    CASTNET_HD void compute(place<index, Space::rank> const& p) const {
        to.set(p, x.template get<N>(p));
    }

    CASTNET_HD void compute_group(index i) const {
        if constexpr (Space::rank == 1) {
            place<index, 1> p{{static_cast<index>(i * Lanes)}};
            if constexpr (last % Lanes != 0) {
                if (p.at[0] + Lanes > last) {
                    for (; p.at[0] < last; ++p.at[0]) {
                        compute<1>(p);
                    }
                    return;
                }
            }
            compute<Lanes>(p);
        } else {
            index const row = i / static_cast<index>(groups_along),
                        group = i - row * static_cast<index>(groups_along);
            compute<Lanes>(place_of<Space>(
                static_cast<index>(row * static_cast<index>(last) + group * Lanes)));
        }
    }
};

} // namespace castnet::cuda
