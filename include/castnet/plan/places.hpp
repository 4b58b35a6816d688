// Locations of the values of a graph's nodes while a plan is made.
#pragma once

#include <castnet/plan/schedule.hpp>

namespace castnet {

struct placed_parameter : parameter {
    std::ptrdiff_t offset = 0; // in region::parameters and, if trainable, region::gradients
    int device = 0;            // where it lies
};

// The memory of one device: its part of each region, where it has one. The batch is the host's, and
// fed to the devices that read it.
struct device_memory {
    element_range trained{region::parameters}; // the same part of region::gradients belongs to them
    element_range others{region::parameters};
    element_range workspace{region::workspace};
};

// Of one node.
struct node_place {
    region where = region::workspace;
    std::ptrdiff_t offset = 0;
    bool fixed = false;   // lies where it must, not where there is room
    int base = -1;        // the node whose memory this one shows; itself, but for views
    bool in_lane = false; // each lane holds only those samples that it works on
    int held = -1;        // its block of the workspace, or of a lane
    int last = -1;        // the last step that reads it
    bool narrow = false;  // bfloat16
    std::ptrdiff_t lane_stride = 0;
};

class node_places {
public:
    constexpr explicit node_places(graph_view const& g)
        : nodes_{g.nodes}, places_{list<node_place>::filled(g.node_count, {})},
          of_{places_.data()} {
        for (int i = 0; i < g.node_count; ++i) {
            node const& n = nodes_[i];
            of_[i].base = is_view(n, nodes_) ? of_[n.in[0]].base : i;
        }
    }
    node_places(node_places const&) = delete;
    node_places& operator=(node_places const&) = delete;

    constexpr node_place& operator[](int id) { return of_[id]; }

    // Of the node whose memory a view shows.
    constexpr node_place& base(int id) { return of_[of_[id].base]; }

    constexpr void fix(int id, region in, std::ptrdiff_t offset) {
        of_[id].where = in;
        of_[id].offset = offset;
        of_[id].fixed = true;
    }

    constexpr array_ref ref(int id) {
        node_place const& p = base(id);
        return {p.where, p.offset, nodes_[id].size, p.lane_stride, p.narrow};
    }

private:
    node const* nodes_;
    list<node_place> places_;
    node_place* of_;
};

} // namespace castnet
