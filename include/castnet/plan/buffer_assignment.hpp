// Assignment of memory buffers to the nodes of a graph while a plan is made.
#pragma once

#include <castnet/plan/lifetimes.hpp>

namespace castnet::ir {

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

// The buffer of one node's value.
struct node_buffer {
    region where = region::workspace;
    std::ptrdiff_t offset = 0;
    bool fixed = false;    // lies where it must, not where there is room
    int base = -1;         // the node whose memory this one shows; itself, but for views
    bool in_chunk = false; // each chunk holds only those samples that it works on
    int held = -1;         // its block of the workspace, or of a chunk
    int last = -1;         // the last launch that reads it
    bool is_bf16 = false;  // bfloat16
    std::ptrdiff_t chunk_stride = 0;

    constexpr array_ref seen_as(extents size) const {
        return {where, offset, size, chunk_stride, is_bf16};
    }
};

class buffer_assignment {
public:
    template <class Lifetimes>
    constexpr buffer_assignment(graph_view const& g, Lifetimes const& lives)
        : nodes_{g.nodes}, places_{list<node_buffer>::filled(g.node_count, {})},
          of_{places_.data()} {
        for (int i = 0; i < g.node_count; ++i) {
            of_[i].base = lives.base[i];
            of_[i].last = lives.last[i];
        }
    }
    buffer_assignment(buffer_assignment const&) = delete;
    buffer_assignment& operator=(buffer_assignment const&) = delete;

    constexpr node_buffer& operator[](int id) { return of_[id]; }

    // Of the node whose memory a view shows.
    constexpr node_buffer& base(int id) { return of_[of_[id].base]; }

    constexpr void fix(int id, region in, std::ptrdiff_t offset) {
        of_[id].where = in;
        of_[id].offset = offset;
        of_[id].fixed = true;
    }

    constexpr array_ref ref(int id) const {
        int const base = of_[id].base;
        array_ref r = of_[base].seen_as(size_in_memory(nodes_[id], nodes_[base]));
        if (nodes_[id].stored == storage::in_place) {
            r.row = nodes_[nodes_[id].in[0]].size.channels;
            r.first_channel = nodes_[id].attribute;
        }
        return r;
    }

private:
    node const* nodes_;
    list<node_buffer> places_;
    node_buffer* of_;
};

} // namespace castnet::ir
