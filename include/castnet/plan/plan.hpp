// A plan: everything that a step needs at run time, as a constant of fixed size. Here the arrays of
// a schedule get their places in memory.
#pragma once

#include <castnet/plan/memory.hpp>
#include <castnet/plan/schedule.hpp>

#include <utility>

namespace castnet {

struct placed_parameter : parameter {
    std::ptrdiff_t offset = 0; // in region::parameters and, if trainable, region::gradients
};

struct plan_sizes {
    int inputs = 0, targets = 0;
    int steps = 0, arrays = 0, scalars = 0, windows = 0, programs = 0, instructions = 0;
    int parameters = 0, outputs = 0;
};

constexpr plan_sizes sizes_of(graph_view const& g, step_schedule_sizes const& s) {
    plan_sizes z{0,
                 0,
                 s.steps,
                 s.arrays,
                 s.scalars,
                 g.window_count,
                 s.programs,
                 s.instructions,
                 g.parameter_count,
                 g.output_count};
    for (int i = 0; i < g.node_count; ++i) {
        z.inputs += g.nodes[i].kind == op::input;
        z.targets += g.nodes[i].kind == op::target;
    }
    return z;
}

template <plan_sizes Z>
struct plan {
    static constexpr plan_sizes sizes = Z;

    step steps[room(Z.steps)]{};
    array_ref arrays[room(Z.arrays)]{};
    double scalars[room(Z.scalars)]{};
    window windows[room(Z.windows)]{};
    instruction instructions[room(Z.instructions)]{};
    int first_instruction[Z.programs + 1]{}; // per program; one more for the end of the last
    placed_parameter parameters[room(Z.parameters)]{};
    array_ref inputs[room(Z.inputs)]{};
    array_ref targets[room(Z.targets)]{};
    array_ref outputs[room(Z.outputs)]{};
    int batch = 0;                // samples that it was made for
    std::ptrdiff_t trainable = 0; // elements of region::parameters that are trained
    std::ptrdiff_t size[4]{};     // elements of each region
    std::ptrdiff_t weights = 0, presence = 0, present = 0; // offsets in region::batch
    std::ptrdiff_t staging = 0; // one image in logical order, also in region::batch

    template <class Schedule>
    constexpr plan(graph_view const& g, Schedule const& s, int capacity, std::ptrdiff_t alignment)
        : batch{capacity} {
        copy(steps, s.steps, Z.steps);
        copy(scalars, s.scalars, Z.scalars);
        copy(windows, g.windows, Z.windows);
        copy(instructions, s.instructions, Z.instructions);
        copy(first_instruction, s.first_instruction, Z.programs + 1);
        placement{*this, g, s.arrays, capacity, alignment}.run();
    }

    constexpr std::ptrdiff_t elements(region r) const { return size[static_cast<int>(r)]; }

    // Floating-point operations for one sample.
    constexpr std::ptrdiff_t flops() const {
        std::ptrdiff_t sum = 0;
        for (step const& s : steps) {
            sum += s.flops;
        }
        return sum;
    }

private:
    template <class T>
    static constexpr void copy(T* to, T const* from, int count) {
        for (int i = 0; i < count; ++i) {
            to[i] = from[i];
        }
    }

    class placement {
    public:
        constexpr placement(plan& p, graph_view const& g, array_use const* uses, int batch,
                            std::ptrdiff_t alignment)
            : p_{p}, g_{g}, nodes_{g.nodes}, uses_{uses}, batch_{batch}, alignment_{alignment},
              states_{list<state>::filled(g.node_count, {})}, state_{states_.data()} {}

        constexpr void run() {
            place_parameters();
            place_batch();
            place_results();
            find_views();
            find_last_uses();
            place_values();
            for (int i = 0; i < Z.outputs; ++i) {
                p_.outputs[i] = ref(g_.outputs[i]);
            }
        }

    private:
        struct state { // of a node
            region where = region::workspace;
            std::ptrdiff_t offset = 0;
            bool fixed = false; // lies where it must, not where there is room
            int base = -1;      // the node whose memory this one shows; itself, but for views
            int held = -1;      // its block of the workspace
            int last = -1;      // the last step that reads it
        };

        constexpr std::ptrdiff_t elements(extents e) const {
            return e.count() * (e.sample ? batch_ : 1);
        }
        constexpr array_ref ref(int id) const {
            state const& s = state_[state_[id].base];
            return {s.where, s.offset, nodes_[id].size};
        }
        constexpr void fix(int id, region where, std::ptrdiff_t offset) {
            state_[id].where = where;
            state_[id].offset = offset;
            state_[id].fixed = true;
        }
        constexpr std::ptrdiff_t& size(region r) { return p_.size[static_cast<int>(r)]; }

        constexpr void place_parameters() {
            std::ptrdiff_t end = 0;
            for (int trainable = 1; trainable >= 0; --trainable) {
                for (int i = 0; i < Z.parameters; ++i) {
                    parameter const& p = g_.parameters[i];
                    if (p.trainable == (trainable == 1)) {
                        p_.parameters[i] = {p, end};
                        fix(p.node, region::parameters, end);
                        end += aligned(p.count(), alignment_);
                    }
                }
                if (trainable) {
                    p_.trainable = end;
                }
            }
            size(region::parameters) = end;
            size(region::gradients) = g_.differentiated ? p_.trainable : 0;
        }

        constexpr void place_batch() {
            std::ptrdiff_t& end = size(region::batch);
            auto const take = [&](std::ptrdiff_t n) {
                return std::exchange(end, end + aligned(n, alignment_));
            };
            p_.weights = take(batch_);
            p_.presence = take(batch_);
            p_.present = take(1);
            int inputs = 0, targets = 0;
            std::ptrdiff_t largest_image = 0;
            for (int i = 0; i < g_.node_count; ++i) {
                extents const e = nodes_[i].size;
                bool const fed = nodes_[i].kind == op::input || nodes_[i].kind == op::target;
                if (fed && !in_order(nodes_[i]) && e.count() > largest_image) {
                    largest_image = e.count();
                }
                switch (nodes_[i].kind) {
                case op::input:
                    fix(i, region::batch, take(elements(e)));
                    p_.inputs[inputs++] = {region::batch, state_[i].offset, e};
                    break;
                case op::target:
                    fix(i, region::batch, take(elements(e)));
                    p_.targets[targets++] = {region::batch, state_[i].offset, e};
                    break;
                case op::sample_weight:
                    fix(i, region::batch, p_.weights);
                    break;
                case op::presence:
                    fix(i, region::batch, p_.presence);
                    break;
                case op::present_count:
                    fix(i, region::batch, p_.present);
                    break;
                default:
                    break;
                }
            }
            p_.staging = take(largest_image);
        }

        // Gradients and running statistics have their places.
        constexpr void place_results() {
            for (int i = 0; i < Z.parameters; ++i) {
                if (g_.gradients[i] >= 0) {
                    fix(g_.gradients[i], region::gradients, p_.parameters[i].offset);
                }
            }
            for (int i = 0; i < g_.update_count; ++i) {
                graph::update const& u = g_.updates[i];
                fix(u.value, region::parameters, p_.parameters[u.parameter].offset);
            }
        }

        constexpr void find_views() {
            for (int i = 0; i < g_.node_count; ++i) {
                node const& n = nodes_[i];
                state_[i].base = is_view(n, nodes_) ? state_[n.in[0]].base : i;
            }
        }

        constexpr void find_last_uses() {
            for (int i = 0; i < Z.steps; ++i) {
                step const& s = p_.steps[i];
                for (int k = s.first_array; k <= s.output; ++k) {
                    state_[state_[uses_[k].node].base].last = i;
                }
            }
            list<int> const kept = kept_nodes(g_);
            for (int const id : kept) {
                state_[state_[id].base].last = Z.steps;
            }
        }

        constexpr void place_values() {
            block_allocator memory{Z.steps, alignment_};
            for (int i = 0; i < Z.steps; ++i) {
                step const& s = p_.steps[i];
                int const id = uses_[s.output].node;
                state& result = state_[id];
                memory.advance_to(i);
                if (!result.fixed) {
                    int const reused = s.kind == op::map ? dying_operand(s, i) : -1;
                    result.held = reused >= 0
                                      ? memory.take_over(reused, result.last)
                                      : memory.allocate(elements(nodes_[id].size), result.last);
                    result.offset = memory.offset(result.held);
                }
                for (int k = s.first_array; k <= s.output; ++k) {
                    p_.arrays[k] = ref(uses_[k].node);
                }
                if (s.scratch >= 0) {
                    int const room = memory.allocate(uses_[s.scratch].scratch, i);
                    p_.arrays[s.scratch] = {region::workspace, memory.offset(room), {}};
                }
            }
            size(region::workspace) = memory.peak();
        }

        // The block of an operand that nobody reads after this step and that the result may
        // overwrite element by element; -1 if there is none.
        constexpr int dying_operand(step const& s, int now) const {
            extents const size = nodes_[uses_[s.output].node].size;
            for (int k = s.first_array; k < s.output; ++k) {
                int const from = state_[uses_[k].node].base;
                if (state_[from].last == now && state_[from].held >= 0 &&
                    nodes_[uses_[k].node].size == size) {
                    int readers = 0;
                    for (int j = s.first_array; j < s.output; ++j) {
                        readers += state_[uses_[j].node].base == from;
                    }
                    if (readers == 1) {
                        return state_[from].held;
                    }
                }
            }
            return -1;
        }

        plan& p_;
        graph_view g_;
        node const* nodes_;
        array_use const* uses_;
        int batch_;
        std::ptrdiff_t alignment_;
        list<state> states_;
        state* state_; // per node
    };
};

} // namespace castnet
