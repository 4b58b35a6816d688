// From a graph to a list of steps with memory: the planner. Its draft has the length that it needs
// and lives only while compiling; plan/plan.hpp turns it into a constant of fixed size.
#pragma once

#include <castnet/plan/fuse.hpp>
#include <castnet/plan/lower.hpp>
#include <castnet/plan/memory.hpp>
#include <castnet/plan/step.hpp>

#include <utility>
#include <castnet/core/list.hpp>

namespace castnet {

struct placed_parameter : parameter {
    std::ptrdiff_t offset = 0; // in region::parameters and, if trainable, region::gradients
};

struct draft {
    list<step> steps;
    list<array_ref> arrays;
    list<double> scalars;
    list<window> windows;
    list<list<instruction>> programs;
    list<placed_parameter> parameters;
    list<array_ref> inputs, targets, outputs;
    std::ptrdiff_t trainable = 0;           // elements of region::parameters that are trained
    std::ptrdiff_t size[4]{};               // elements of each region
    std::ptrdiff_t weights = 0, presence = 0, present = 0; // offsets in region::batch
    int unused_parameter = -1; // the first that nothing depends on, or that has no gradient
    int unused_input = -1;
};

// What leaves a step. `gradients` has an entry per parameter (-1: none) or is empty.
struct results {
    list<int> outputs;
    list<int> gradients;
};

// Device says how much scratch memory its kernels want:
//   static constexpr ptrdiff_t scratch(step const&, window const* windows,
//                                      array_ref const* operands, instruction const& end);
template <class Device>
class planner {
public:
    constexpr planner(graph const& g, results const& wanted, int batch)
        : g_{g}, wanted_{wanted}, batch_{batch}, place_{list<array_ref>::filled(g.nodes.size(), {})},
          fixed_{list<char>::filled(g.nodes.size(), 0)},
          block_{list<int>::filled(g.nodes.size(), -1)}, last_{block_} {}

    constexpr draft run() {
        d_.windows = g_.windows;
        place_parameters();
        place_batch();
        list<int> const kept = keep();
        fusion const f = fuse(g_, kept);
        find_unused(f);
        list_steps(f);
        find_last_uses(kept);
        place_values();
        for (int id : wanted_.outputs) {
            d_.outputs.push(ref(id));
        }
        return std::move(d_);
    }

private:
    struct pending { // a step before its memory is known
        int node;
        list<int> reads;
    };

    constexpr node const& at(int i) const { return g_.nodes[i]; }
    static constexpr int number(region r) { return static_cast<int>(r); }

    constexpr std::ptrdiff_t elements(extents e) const {
        return e.count() * (e.sample ? batch_ : 1);
    }

    // A reshape that moves nothing: the order in memory is the logical order on both sides.
    static constexpr bool in_order(node const& n) {
        return n.rank != 3 || n.size.pixels == 1 || n.size.channels == 1;
    }
    constexpr bool is_view(int id) const {
        node const& n = at(id);
        return n.kind == op::reshape && in_order(n) && in_order(at(n.in[0])) && !fixed_[id];
    }
    constexpr int base(int id) const {
        while (is_view(id)) {
            id = at(id).in[0];
        }
        return id;
    }
    constexpr array_ref ref(int id) const {
        array_ref r = place_[base(id)];
        r.size = at(id).size;
        return r;
    }

    constexpr void fix(int id, region where, std::ptrdiff_t offset) {
        place_[id] = {where, offset, at(id).size};
        fixed_[id] = 1;
    }

    constexpr void place_parameters() {
        std::ptrdiff_t& end = d_.size[number(region::parameters)];
        d_.parameters = list<placed_parameter>::filled(g_.parameters.size(), {});
        for (bool trainable : {true, false}) {
            for (int i = 0; i < g_.parameters.size(); ++i) {
                parameter const& p = g_.parameters[i];
                if (p.trainable == trainable) {
                    d_.parameters[i] = {p, end};
                    fix(p.node, region::parameters, end);
                    end += aligned(p.count());
                }
            }
            if (trainable) {
                d_.trainable = end;
            }
        }
        if (!wanted_.gradients.empty()) {
            d_.size[number(region::gradients)] = d_.trainable;
        }
    }

    constexpr void place_batch() {
        std::ptrdiff_t& end = d_.size[number(region::batch)];
        auto take = [&](std::ptrdiff_t count) { return std::exchange(end, end + aligned(count)); };
        d_.weights = take(batch_);
        d_.presence = take(batch_);
        d_.present = take(1);
        for (int i = 0; i < g_.nodes.size(); ++i) {
            int const id = i;
            node const& n = at(id);
            if (n.kind == op::input || n.kind == op::target) {
                fix(id, region::batch, take(elements(n.size)));
                (n.kind == op::input ? d_.inputs : d_.targets).push(ref(id));
            } else if (n.kind == op::sample_weight) {
                fix(id, region::batch, d_.weights);
            } else if (n.kind == op::presence) {
                fix(id, region::batch, d_.presence);
            } else if (n.kind == op::present_count) {
                fix(id, region::batch, d_.present);
            }
        }
    }

    constexpr list<int> keep() {
        list<int> kept = wanted_.outputs;
        for (int i = 0; i < wanted_.gradients.size(); ++i) {
            if (int const id = wanted_.gradients[i]; id >= 0) {
                fix(id, region::gradients, d_.parameters[i].offset);
                kept.push(id);
            }
        }
        for (graph::update const& u : g_.updates) {
            fix(u.value, region::parameters, d_.parameters[u.parameter].offset);
            kept.push(u.value);
        }
        return kept;
    }

    constexpr void find_unused(fusion const& f) {
        for (int i = 0; i < g_.parameters.size() && d_.unused_parameter < 0; ++i) {
            parameter const& p = g_.parameters[i];
            bool const lacks_gradient =
                p.trainable && !wanted_.gradients.empty() && wanted_.gradients[i] < 0;
            if (!f.needed[p.node] || lacks_gradient) {
                d_.unused_parameter = i;
            }
        }
        for (int i = 0; i < g_.nodes.size() && d_.unused_input < 0; ++i) {
            if (g_.nodes[i].kind == op::input && !f.needed[i]) {
                d_.unused_input = g_.nodes[i].attribute;
            }
        }
    }

    constexpr void list_steps(fusion const& f) {
        int const count = g_.nodes.size();
        list<int> first = list<int>::filled(count, -1), next = first;
        for (int i = count - 1; i >= 0; --i) { // the members of every group, in ascending order
            if (f.needed[i] && at(i).kind == op::map) {
                int& head = first[f.group[i]];
                next[i] = std::exchange(head, i);
            }
        }
        lowering lower{g_};
        list<int> members;
        for (int i = 0; i < count; ++i) {
            int const id = i;
            node const& n = at(id);
            if (!f.needed[i] || f.group[i] != id || is_source(n.kind) || is_view(id)) {
                continue;
            }
            step s;
            s.kind = n.kind;
            s.reduce = n.reduce;
            s.factor = n.scalar;
            s.attribute = n.attribute;
            pending p{id, {}};
            if (n.kind == op::map || n.kind == op::reduce) {
                members.clear();
                for (int m = first[i]; m >= 0; m = next[m]) {
                    members.push(m);
                }
                s.space = n.kind == op::map ? n.size : at(n.in[0]).size;
                lowered& l = lower.run(members, n.in[0], s.space);
                l.code.push(ending(n, s.space));
                s.program = program_number(l.code);
                if (n.kind == op::map && varies_as_a_whole(l.code)) {
                    s.space = {s.space.sample, 1, static_cast<int>(s.space.count())};
                }
                s.first_scalar = d_.scalars.size();
                s.scalars = l.scalars.size();
                d_.scalars.append(l.scalars.data(), l.scalars.size());
                p.reads = l.arrays;
                s.flops = s.space.count() *
                          static_cast<std::ptrdiff_t>(members.size() + (n.kind == op::reduce));
            } else {
                p.reads.append(n.in, n.operands);
                describe(s, n);
            }
            d_.steps.push(s);
            pending_.push(std::move(p));
        }
    }

    static constexpr instruction ending(node const& n, extents space) {
        instruction end;
        end.code = n.kind == op::map ? opcode::store : opcode::reduce;
        if (n.kind == op::reduce) {
            // pixels and channels that are 1 anyway count as kept with the samples
            bool const pixels = n.size.pixels == space.pixels && (space.pixels > 1 || n.size.sample);
            bool const channels = n.size.channels == space.channels && space.channels > 1;
            end.a = static_cast<std::uint8_t>(n.reduce);
            end.b = static_cast<std::uint8_t>((n.size.sample ? 1 : 0) | (pixels ? 2 : 0) |
                                              (channels ? 4 : 0));
        }
        return end;
    }

    // No array is broadcast along pixels or channels: the loop may run over both at once.
    static constexpr bool varies_as_a_whole(list<instruction> const& code) {
        for (instruction const& i : code) {
            if ((i.code == opcode::load && i.b != 7 && i.b != 0) || i.code == opcode::index ||
                i.code == opcode::presence) {
                return false;
            }
        }
        return true;
    }

    constexpr void describe(step& s, node const& n) const {
        node const& x = at(n.in[0]);
        switch (n.kind) {
        case op::matmul:
        case op::matmul_weight:
        case op::matmul_data: {
            // samples x features times features x units, whichever of the three is the result
            extents const rows = x.size;
            int const columns = n.kind == op::matmul_weight ? at(n.in[1]).size.channels
                                                            : n.size.channels;
            s.flops = 2 * rows.count() * columns;
            break;
        }
        case op::conv:
        case op::conv_data:
        case op::conv_weight: {
            s.window = n.attribute;
            window const& w = g_.windows[n.attribute];
            s.flops = std::ptrdiff_t{2} * w.out_height * w.out_width * w.filters * w.kernel_h *
                      w.kernel_w * (w.channels / w.groups);
            break;
        }
        case op::max_pool:
        case op::max_pool_gradient:
        case op::avg_pool:
        case op::avg_pool_gradient:
        case op::upsample:
        case op::upsample_gradient: {
            s.window = n.attribute;
            window const& w = g_.windows[n.attribute];
            s.flops = std::ptrdiff_t{1} * w.out_height * w.out_width * w.filters * w.kernel_h *
                      w.kernel_w;
            break;
        }
        case op::reshape:
            s.image_from = x.rank == 3;
            s.image_to = n.rank == 3;
            break;
        default: break;
        }
    }

    constexpr int program_number(list<instruction> const& code) {
        unsigned hash = 0;
        for (instruction const& i : code) {
            hash = hash * 16777619U + i.digest();
        }
        for (int i = 0; i < hashes_.size(); ++i) {
            if (hashes_[i] == hash && d_.programs[i] == code) {
                return i;
            }
        }
        hashes_.push(hash);
        d_.programs.push(code);
        return d_.programs.size() - 1;
    }

    constexpr void find_last_uses(list<int> const& kept) {
        for (int s = 0; s < pending_.size(); ++s) {
            last_[pending_[s].node] = s;
            for (int id : pending_[s].reads) {
                last_[base(id)] = s;
            }
        }
        for (int id : kept) {
            last_[base(id)] = pending_.size();
        }
    }

    constexpr void place_values() {
        block_allocator memory{pending_.size()};
        for (int i = 0; i < pending_.size(); ++i) {
            int const now = i;
            pending const& p = pending_[i];
            step& s = d_.steps[i];
            memory.advance_to(now);
            if (!fixed_[p.node]) {
                int const last = last_[p.node];
                int const reused = s.kind == op::map ? dying_operand(p, now) : -1;
                int const b = reused >= 0 ? memory.take_over(reused, last)
                                          : memory.allocate(elements(at(p.node).size), last);
                block_[p.node] = b;
                place_[p.node] = {region::workspace, memory.offset(b), at(p.node).size};
            }
            s.first_array = d_.arrays.size();
            s.arrays = p.reads.size();
            for (int id : p.reads) {
                d_.arrays.push(ref(id));
            }
            std::ptrdiff_t const scratch =
                Device::scratch(s, d_.windows.data(), d_.arrays.data() + s.first_array,
                                s.program >= 0 ? d_.programs[s.program].back()
                                               : instruction{});
            s.output = d_.arrays.size();
            d_.arrays.push(ref(p.node));
            if (scratch > 0) {
                s.scratch = d_.arrays.size();
                d_.arrays.push({region::workspace,
                                     memory.offset(memory.allocate(scratch, now)), {}});
            }
        }
        d_.size[number(region::workspace)] = memory.peak();
    }

    // The block of an operand that nobody reads after this step and that the result may overwrite
    // element by element; -1 if there is none.
    constexpr int dying_operand(pending const& p, int now) const {
        for (int id : p.reads) {
            int const from = base(id);
            int readers = 0;
            for (int other : p.reads) {
                readers += base(other) == from;
            }
            if (block_[from] >= 0 && last_[from] == now && readers == 1 &&
                at(id).size == at(p.node).size) {
                return block_[from];
            }
        }
        return -1;
    }

    graph const& g_;
    results const& wanted_;
    int batch_;
    draft d_;
    list<pending> pending_;
    list<unsigned> hashes_;        // of the programs
    list<array_ref> place_; // per node
    list<char> fixed_;      // per node: lies where it must, not where there is room
    list<int> block_;       // per node: its block of the workspace
    list<int> last_;        // per node: the last step that reads it
};

} // namespace castnet
