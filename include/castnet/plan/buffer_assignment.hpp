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
    bool once = false;     // computed only when parameters have changed
    std::ptrdiff_t chunk_stride = 0;
    int repeat = -1;    // the repeated block that it belongs to (value_lifetimes::repeat)
    bool saved = false; // there for each of its repetitions,
    std::ptrdiff_t repeat_stride = 0; // so many elements apart

    constexpr array_ref seen_as(extents size) const {
        return {where, offset, size, chunk_stride, repeat_stride, is_bf16};
    }
};

class buffer_assignment {
public:
    template <class Lifetimes>
    constexpr buffer_assignment(graph_view const& g, Lifetimes const& lives)
        : g_{g}, places_{list<node_buffer>::filled(g.node_count, {})}, of_{places_.data()},
          is_next_{lives.is_next} {
        for (int i = 0; i < g.node_count; ++i) {
            of_[i].base = lives.base[i];
            of_[i].last = lives.last[i];
            of_[i].repeat = lives.repeat[i];
            of_[i].saved = lives.saved[i];
        }
    }
    buffer_assignment(buffer_assignment const&) = delete;
    buffer_assignment& operator=(buffer_assignment const&) = delete;

    constexpr node_buffer& operator[](int id) { return of_[id]; }

    // Of the node whose memory a view shows.
    constexpr node_buffer& base(int id) { return of_[of_[id].base]; }

    constexpr void fix(int id, region in, std::ptrdiff_t offset, std::ptrdiff_t repeat_stride = 0) {
        of_[id].where = in;
        of_[id].offset = offset;
        of_[id].repeat_stride = repeat_stride;
        of_[id].fixed = true;
    }

    // As launches find it in the first repetition, if it is one of a repeated block's. (In one
    // expression for most, since the compilers count statements.)
    constexpr array_ref ref(int id) const {
        return is_next_[id] || g_.nodes[id].stored != storage::array ||
                       g_.nodes[of_[id].base].stored != storage::array
                   ? ref_of_part(id)
                   : of_[of_[id].base].seen_as(g_.nodes[id].size);
    }

private:
    // Of what shows some channels, one step or the next repetition.
    constexpr array_ref ref_of_part(int id) const {
        node const& seen = g_.nodes[id];
        node_buffer const& base = of_[of_[id].base];
        array_ref r = base.seen_as(size_in_memory(seen, g_.nodes[of_[id].base]));
        if (seen.stored == storage::in_place) {
            r.row = g_.nodes[seen.in[0]].size.channels;
            r.first_channel = seen.attribute;
        }
        if (is_next_[id] && seen.repeat >= 0) {
            r.offset += base.repeat_stride;
        } else if (is_next_[id]) { // of the last repetition
            r.offset += g_.repeat_at(base.repeat).count * base.repeat_stride;
            r.repeat_stride = 0;
        }
        return r;
    }

    graph_view g_;
    list<node_buffer> places_;
    node_buffer* of_;
    bool const* is_next_; // value_lifetimes::is_next
};

} // namespace castnet::ir
