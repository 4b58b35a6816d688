// Set of the arrays that a launch loads, from which it may compute other values instead of loading
// them.
#pragma once

#include <castnet/graph/function_table.hpp>
#include <castnet/graph/graph.hpp>

namespace castnet::ir {

// The arrays that a launch over `space` loads element by element, by the number of what asks.
class loaded_arrays {
public:
    constexpr loaded_arrays(node const* nodes, int count)
        : nodes_{nodes}, of_{list<int>::filled(count, -1)}, by_{of_.data()} {}

    constexpr void begin(int asking, extents const& space) {
        asking_ = asking;
        space_ = space;
    }
    constexpr void add(int id) {
        if (id >= 0) {
            by_[id] = asking_;
        }
    }
    constexpr bool has(int id) const { return by_[id] == asking_; }

    // Whether a value has as many elements as the launch.
    constexpr bool is_large(int id) const {
        return nodes_[id].size == space_ && space_.sample && space_.count() > 1;
    }

    // Whether the value of a node can be computed of these arrays and of small ones, by few cheap
    // functions.
    constexpr bool give(int id, int functions = 4) const {
        node const& n = nodes_[id];
        if (n.kind != op::map || n.derivative >= 0 || !is_cheap(n.function) || n.loop >= 0 ||
            n.repeat >= 0 || functions == 0) {
            return false;
        }
        for (int k = 0; k < n.operands; ++k) {
            int const from = n.in[k];
            bool const there = is_large(from) ? has(from) || give(from, functions - 1)
                                              : is_small_array(nodes_[from]);
            if (!there) {
                return false;
            }
        }
        return true;
    }

private:
    // One number for each channel, or one in all.
    static constexpr bool is_small_array(node const& n) {
        return !n.size.sample && n.size.pixels == 1 && n.stored == storage::array && n.loop < 0 &&
               n.repeat < 0;
    }

    node const* nodes_;
    list<int> of_;
    int* by_; // per node: what asked last
    int asking_ = -1;
    extents space_{};
};

} // namespace castnet::ir
