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
        : g_{g}, wanted_{wanted}, batch_{batch}, count_{g.nodes.size()}, nodes_{g.nodes.data()},
          places_{list<array_ref>::filled(count_, {})}, states_{list<state>::filled(count_, {})},
          place_{places_.data()}, state_{states_.data()} {}

    constexpr draft run() {
        d_.windows = g_.windows;
        place_parameters();
        place_batch();
        list<int> const kept = keep();
        list<int> const groups = fuse(g_, kept);
        find_unused(groups.data());
        find_views();
        list_steps(groups.data());
        find_last_uses(kept);
        place_values();
        for (int id : wanted_.outputs) {
            d_.outputs.push(ref(id));
        }
        return std::move(d_);
    }

private:
    struct state { // of a node
        bool fixed = false; // lies where it must, not where there is room
        int base = -1;      // the node whose memory this one shows; itself, but for views
        int held = -1;      // its block of the workspace
        int last = -1;      // the last step that reads it
    };

    static constexpr int number(region r) { return static_cast<int>(r); }

    constexpr std::ptrdiff_t elements(extents e) const {
        return e.count() * (e.sample ? batch_ : 1);
    }
    constexpr array_ref ref(int id) const {
        array_ref r = place_[state_[id].base];
        r.size = nodes_[id].size;
        return r;
    }
    constexpr void fix(int id, region where, std::ptrdiff_t offset) {
        place_[id].where = where;
        place_[id].offset = offset;
        state_[id].fixed = true;
    }

    constexpr void place_parameters() {
        int const count = g_.parameters.size();
        d_.parameters = list<placed_parameter>::filled(count, {});
        std::ptrdiff_t end = 0;
        for (int trainable = 1; trainable >= 0; --trainable) {
            for (int i = 0; i < count; ++i) {
                parameter const& p = g_.parameters[i];
                if (p.trainable == (trainable == 1)) {
                    d_.parameters[i] = {p, end};
                    fix(p.node, region::parameters, end);
                    end += aligned(p.count());
                }
            }
            if (trainable) {
                d_.trainable = end;
            }
        }
        d_.size[number(region::parameters)] = end;
        d_.size[number(region::gradients)] = wanted_.gradients.empty() ? 0 : d_.trainable;
    }

    constexpr void place_batch() {
        std::ptrdiff_t& end = d_.size[number(region::batch)];
        auto const take = [&](std::ptrdiff_t n) { return std::exchange(end, end + aligned(n)); };
        d_.weights = take(batch_);
        d_.presence = take(batch_);
        d_.present = take(1);
        for (int i = 0; i < count_; ++i) {
            switch (nodes_[i].kind) {
            case op::input:
            case op::target:
                fix(i, region::batch, take(elements(nodes_[i].size)));
                (nodes_[i].kind == op::input ? d_.inputs : d_.targets)
                    .push({region::batch, place_[i].offset, nodes_[i].size});
                break;
            case op::sample_weight: fix(i, region::batch, d_.weights); break;
            case op::presence: fix(i, region::batch, d_.presence); break;
            case op::present_count: fix(i, region::batch, d_.present); break;
            default: break;
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

    constexpr void find_unused(int const* group) {
        for (int i = g_.parameters.size() - 1; i >= 0; --i) {
            parameter const& p = g_.parameters[i];
            if (group[p.node] < 0 ||
                (p.trainable && !wanted_.gradients.empty() && wanted_.gradients[i] < 0)) {
                d_.unused_parameter = i;
            }
        }
        for (int i = 0; i < count_; ++i) {
            if (nodes_[i].kind == op::input && group[i] < 0) {
                d_.unused_input = nodes_[i].attribute;
            }
        }
    }

    // A reshape that moves nothing, since the order in memory is the logical order on both sides,
    // is another view of its operand.
    static constexpr bool in_order(node const& n) {
        return n.rank != 3 || n.size.pixels == 1 || n.size.channels == 1;
    }
    constexpr void find_views() {
        for (int i = 0; i < count_; ++i) {
            node const& n = nodes_[i];
            bool const view = n.kind == op::reshape && !state_[i].fixed && in_order(n) &&
                              in_order(nodes_[n.in[0]]);
            state_[i].base = view ? state_[n.in[0]].base : i;
        }
    }

    constexpr void list_steps(int const* group) {
        list<int> firsts = list<int>::filled(count_, -1), nexts = firsts;
        int *const first = firsts.data(), *const next = nexts.data();
        for (int i = count_ - 1; i >= 0; --i) { // the functions of every group, ascending
            if (group[i] >= 0 && nodes_[i].kind == op::map) {
                next[i] = first[group[i]];
                first[group[i]] = i;
            }
        }
        lowering lower{g_};
        for (int i = 0; i < count_; ++i) {
            node const& n = nodes_[i];
            if (group[i] != i || is_source(n.kind) || state_[i].base != i) {
                continue;
            }
            step s;
            s.kind = n.kind;
            s.factor = n.scalar;
            s.first_array = reads_.size();
            if (n.kind == op::map || n.kind == op::reduce) {
                lower.run(i, first[i], next);
                s.program = program_number(lower.code);
                s.space = n.kind == op::map ? n.size : nodes_[n.in[0]].size;
                s.flops = s.space.count() * (lower.code.size() - lower.arrays.size() - 1);
                if (n.kind == op::map && s.space.pixels > 1 && lower.varies_as_a_whole()) {
                    s.space = {s.space.sample, 1, static_cast<int>(s.space.count())};
                }
                s.first_scalar = d_.scalars.size();
                s.scalars = lower.scalars.size();
                d_.scalars.append(lower.scalars.data(), s.scalars);
                reads_.append(lower.arrays.data(), lower.arrays.size());
            } else {
                describe(s, n);
                reads_.append(n.in, n.operands);
            }
            s.arrays = reads_.size() - s.first_array;
            d_.steps.push(s);
            results_.push(i);
        }
    }

    constexpr void describe(step& s, node const& n) const {
        node const& x = nodes_[n.in[0]];
        switch (n.kind) {
        case op::matmul:
        case op::matmul_data: s.flops = 2 * x.size.count() * n.size.channels; break;
        case op::matmul_weight:
            s.flops = 2 * x.size.count() * nodes_[n.in[1]].size.channels;
            break;
        case op::conv:
        case op::conv_data:
        case op::conv_weight: {
            window const& w = g_.windows[n.attribute];
            s.window = n.attribute;
            s.flops = std::ptrdiff_t{2} * w.out_height * w.out_width * w.filters * w.kernel_h *
                      w.kernel_w * (w.channels / w.groups);
            break;
        }
        case op::reshape:
            s.image_from = x.rank == 3;
            s.image_to = n.rank == 3;
            break;
        case op::slice: s.first_channel = n.attribute; break;
        case op::concat: break;
        default: { // pooling and up-sampling
            window const& w = g_.windows[n.attribute];
            s.window = n.attribute;
            s.flops = std::ptrdiff_t{1} * w.out_height * w.out_width * w.filters * w.kernel_h *
                      w.kernel_w;
            break;
        }
        }
    }

    constexpr int program_number(list<instruction> const& code) {
        unsigned hash = 0;
        for (instruction const& i : code) {
            hash = hash * 16777619U + i.digest();
        }
        unsigned const* const known = hashes_.data();
        for (int i = 0; i < hashes_.size(); ++i) {
            if (known[i] == hash && d_.programs[i] == code) {
                return i;
            }
        }
        hashes_.push(hash);
        d_.programs.push(code);
        return d_.programs.size() - 1;
    }

    constexpr void find_last_uses(list<int> const& kept) {
        int const steps = d_.steps.size();
        int const* const reads = reads_.data();
        for (int i = 0; i < steps; ++i) {
            step const& s = d_.steps.data()[i];
            state_[results_.data()[i]].last = i;
            for (int k = s.first_array; k < s.first_array + s.arrays; ++k) {
                state_[state_[reads[k]].base].last = i;
            }
        }
        for (int id : kept) {
            state_[state_[id].base].last = steps;
        }
    }

    constexpr void place_values() {
        int const steps = d_.steps.size();
        block_allocator memory{steps};
        d_.arrays.reserve(reads_.size() + 2 * steps);
        for (int i = 0; i < steps; ++i) {
            step& s = d_.steps.data()[i];
            int const id = results_.data()[i];
            int const* const reads = reads_.data() + s.first_array;
            state& result = state_[id];
            memory.advance_to(i);
            if (!result.fixed) {
                int const reused = s.kind == op::map ? dying_operand(id, reads, s.arrays, i) : -1;
                result.held =
                    reused >= 0 ? memory.take_over(reused, result.last)
                                : memory.allocate(elements(nodes_[id].size), result.last);
                place_[id].where = region::workspace;
                place_[id].offset = memory.offset(result.held);
            }
            s.first_array = d_.arrays.size();
            for (int k = 0; k < s.arrays; ++k) {
                d_.arrays.push(ref(reads[k]));
            }
            s.output = d_.arrays.size();
            d_.arrays.push(ref(id));
            std::ptrdiff_t const scratch =
                Device::scratch(s, d_.windows.data(), d_.arrays.data() + s.first_array,
                                s.program >= 0 ? d_.programs[s.program].back() : instruction{});
            if (scratch > 0) {
                s.scratch = d_.arrays.size();
                d_.arrays.push(
                    {region::workspace, memory.offset(memory.allocate(scratch, i)), {}});
            }
        }
        d_.size[number(region::workspace)] = memory.peak();
    }

    // The block of an operand that nobody reads after this step and that the result may overwrite
    // element by element; -1 if there is none.
    constexpr int dying_operand(int id, int const* reads, int count, int now) const {
        for (int k = 0; k < count; ++k) {
            int const from = state_[reads[k]].base;
            if (state_[from].last != now || state_[from].held < 0 ||
                !(nodes_[reads[k]].size == nodes_[id].size)) {
                continue;
            }
            int readers = 0;
            for (int j = 0; j < count; ++j) {
                readers += state_[reads[j]].base == from;
            }
            if (readers == 1) {
                return state_[from].held;
            }
        }
        return -1;
    }

    graph const& g_;
    results const& wanted_;
    int batch_;
    int count_;
    node const* nodes_;
    list<array_ref> places_;
    list<state> states_;
    array_ref* place_;    // per node
    state* state_;        // per node
    draft d_;
    list<int> results_;   // per step: its node
    list<int> reads_;     // the nodes that the steps read
    list<unsigned> hashes_; // of the programs
};

} // namespace castnet
