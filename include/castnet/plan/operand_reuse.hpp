// Reuse of operands' memory: the blocks that nobody reads any more, in which a launch may leave its
// result.
#pragma once

#include <castnet/plan/buffer_assignment.hpp>
#include <castnet/plan/launch_list.hpp>

#include <utility>

namespace castnet::ir {

class operand_reuse {
public:
    constexpr operand_reuse(node const* nodes, array_use const* uses, buffer_assignment& buffers,
                            lifetimes_view const& lives)
        : nodes_{nodes}, uses_{uses}, buffers_{buffers}, lives_{lives} {}

    // The block of an operand that nobody reads after this launch and that the result may
    // overwrite element by element; -1 if there is none.
    constexpr int dying_operand(kernel_launch const& s, int now, bool in_chunk) const {
        node const& result = nodes_[uses_[s.output].node];
        bool const in_bf16 = uses_[s.output].is_bf16;
        for (int k = s.first_array; k < s.output; ++k) {
            int const base = lives_.base[uses_[k].node];
            if (lives_.last[base] != now) {
                continue;
            }
            node const& operand = nodes_[uses_[k].node];
            node_buffer const& from = buffers_[base];
            if (from.held >= 0 && from.in_chunk == in_chunk && operand.size == result.size &&
                operand.stored == result.stored && from.is_bf16 == in_bf16) {
                int users = 0;
                for (int j = s.first_array; j < s.output + s.results; ++j) { // or other results
                    users += j != s.output && lives_.base[uses_[j].node] == base;
                }
                if (users == 1) {
                    return from.held;
                }
            }
        }
        return -1;
    }

    // The block of an array that nobody reads after this concat, which leaves some of its channels
    // where they are and overwrites all others; -1 if there is none.
    constexpr int dying_rows(kernel_launch const& s, int now, bool in_chunk) const {
        int const id = uses_[s.output].node;
        int dying = -1, first = 0;
        for (int k = s.first_array; k < s.output; ++k) {
            node const& part = nodes_[uses_[k].node];
            int const base = lives_.base[uses_[k].node];
            if (part.stored == storage::in_place) {
                node_buffer const& from = buffers_[base];
                if ((dying >= 0 && dying != base) || lives_.last[base] != now || from.held < 0 ||
                    from.in_chunk != in_chunk || from.is_bf16 != buffers_[id].is_bf16 ||
                    nodes_[base].size != nodes_[id].size || part.attribute != first) {
                    return -1;
                }
                dying = base;
            }
            first += part.size.channels;
        }
        return dying < 0 ? -1 : buffers_[dying].held;
    }

    // The block of an array of the same size that the present step of a loop was the last to read,
    // in launches up to this one, which may write there; -1 if there is none. Nobody else takes it.
    constexpr int take_finished(kernel_launch const* launches, int now, stage const& loop) {
        int const id = uses_[launches[now].output].node;
        for (int k = loop.first; k <= now; ++k) {
            kernel_launch const& s = launches[k];
            for (int j = s.first_array; j < s.output; ++j) {
                int const base = lives_.base[uses_[j].node];
                node const& n = nodes_[base];
                node_buffer& from = buffers_[base];
                if (n.loop != nodes_[id].loop && n.size == nodes_[id].size &&
                    n.stored == nodes_[id].stored && from.held >= 0 &&
                    from.is_bf16 == buffers_[id].is_bf16 && lives_.last[base] >= loop.first &&
                    lives_.last[base] < now) {
                    return std::exchange(from.held, -1);
                }
            }
        }
        return -1;
    }

private:
    node const* nodes_;
    array_use const* uses_;
    buffer_assignment& buffers_;
    lifetimes_view lives_;
};

} // namespace castnet::ir
