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
    bool in_chunk = false; // each chunk holds only those samples that it works on
    int held = -1;         // its block of the workspace, or of a chunk
    bool is_bf16 = false;  // bfloat16
    std::ptrdiff_t chunk_stride = 0;
    std::ptrdiff_t repeat_stride = 0; // elements from one repetition of its block to the next
};

class buffer_assignment {
public:
    constexpr buffer_assignment(graph_view const& g, lifetimes_view const& lives)
        : g_{g}, lives_{lives}, buffers_{list<node_buffer>::with_size(g.node_count)},
          of_{buffers_.data()} {}
    buffer_assignment(buffer_assignment const&) = delete;
    buffer_assignment& operator=(buffer_assignment const&) = delete;

    constexpr node_buffer& operator[](int id) { return of_[id]; }

    // Of the node whose memory a view shows.
    constexpr node_buffer& base(int id) { return of_[lives_.base[id]]; }

    constexpr void fix(int id, region in, std::ptrdiff_t offset, std::ptrdiff_t repeat_stride = 0) {
        of_[id].where = in;
        of_[id].offset = offset;
        of_[id].repeat_stride = repeat_stride;
        of_[id].fixed = true;
    }

    // As launches find it in the first repetition, if it is one of a repeated block's.
    constexpr array_ref ref(int id) const {
        node_buffer const& at = of_[lives_.base[id]];
        array_ref const all{at.where,        at.offset,        g_.nodes[id].size,
                            at.chunk_stride, at.repeat_stride, at.is_bf16};
        return lives_.is_next[id] || g_.nodes[id].stored != storage::array ||
                       g_.nodes[lives_.base[id]].stored != storage::array
                   ? ref_of_part(id, lives_.base[id], all)
                   : all;
    }

private:
    // Of what shows some channels, one step or the next repetition.
    constexpr array_ref ref_of_part(int id, int base, array_ref r) const {
        node const& seen = g_.nodes[id];
        r.size = size_in_memory(seen, g_.nodes[base]);
        if (is_part_of_row(seen)) {
            node const& slice = seen.stored == storage::in_place ? seen : g_.nodes[viewed(seen)];
            r.row = g_.nodes[slice.in[0]].size.channels;
            r.first_channel = slice.attribute;
        }
        if (lives_.is_next[id] && seen.repeat >= 0) {
            r.offset += r.repeat_stride;
        } else if (lives_.is_next[id]) { // of the last repetition
            r.offset += g_.repeat_at(lives_.repeat[base]).count * r.repeat_stride;
            r.repeat_stride = 0;
        }
        return r;
    }

    graph_view g_;
    lifetimes_view lives_;
    list<node_buffer> buffers_;
    node_buffer* of_;
};

} // namespace castnet::ir
