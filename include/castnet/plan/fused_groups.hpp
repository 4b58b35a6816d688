// Fused groups of a graph for a device, as a constant of fixed size.
#pragma once

#include <castnet/plan/epilogue.hpp>
#include <castnet/plan/join.hpp>
#include <castnet/plan/join_in_loops.hpp>
#include <castnet/plan/join_rows.hpp>

namespace castnet::ir {

template <class Device, int Nodes>
struct fused_groups {
    static constexpr int ends = JoiningDevice<Device> ? Nodes : 0;

    int of[array_size(Nodes)]{};       // per node: the end of its group
    group_end end[array_size(ends)]{}; // per node, where the device joins launches

    constexpr explicit fused_groups(graph_view const& g) {
        list<int> groups = fuse(g);
        if constexpr (EpilogueDevice<Device>) {
            epilogue_finder<Device>{g, groups}.run();
        }
        if constexpr (JoiningDevice<Device>) {
            launch_joiner{g, groups.data(), end}.run();
            row_joiner{g, groups.data(), end}.run();
            loop_joiner{g, groups.data(), end}.run();
        }
        copy_list(of, groups);
    }

    constexpr group_view view() const { return {of, end, JoiningDevice<Device>}; }
};

} // namespace castnet::ir
