// A plan: everything that a step needs at run time, as a constant of fixed size.
#pragma once

#include <castnet/plan/fixed_places.hpp>
#include <castnet/plan/workspace_places.hpp>

namespace castnet {

struct plan_sizes {
    int inputs = 0, targets = 0;
    int steps = 0, arrays = 0, scalars = 0, windows = 0, programs = 0, instructions = 0;
    int parameters = 0, outputs = 0, stages = 0, devices = 1;
};

constexpr plan_sizes sizes_of(graph_view const& g, step_schedule_sizes const& s, int stages,
                              int devices = 1) {
    plan_sizes z{0,
                 0,
                 s.steps,
                 s.arrays,
                 s.scalars,
                 g.window_count,
                 s.programs,
                 s.instructions,
                 g.parameter_count,
                 g.output_count,
                 stages,
                 devices};
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
    stage stages[room(Z.stages)]{};
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
    device_memory devices[Z.devices]{};
    std::ptrdiff_t weights = 0, presence = 0, present = 0; // offsets in region::batch
    std::ptrdiff_t staging = 0; // one image in logical order, also in region::batch

    template <class Schedule, class Stages>
    constexpr plan(graph_view const& g, Schedule const& s, Stages const& found, int capacity,
                   std::ptrdiff_t alignment, int narrow_per_value)
        : batch{capacity} {
        copy(steps, s.steps, Z.steps);
        copy(stages, found.of, Z.stages);
        copy(scalars, s.scalars, Z.scalars);
        copy(windows, g.windows, Z.windows);
        copy(instructions, s.instructions, Z.instructions);
        copy(first_instruction, s.first_instruction, Z.programs + 1);
<<<<<<< HEAD
        node_places places{g};
        fixed_places<plan> fixed{*this, g, places, alignment};
        fixed.run();
        workspace_places<plan> workspace{*this, g, s.arrays, places, found.lanes, alignment};
        workspace.run();
        for (int i = 0; i < Z.outputs; ++i) {
            outputs[i] = places.ref(g.outputs[i]);
        }
=======
        placement{*this, g, s.arrays, capacity, found.lanes, alignment, narrow_per_value}.run();
>>>>>>> epilogue-ready
    }

    constexpr std::ptrdiff_t elements(region r) const { return size[static_cast<int>(r)]; }
    constexpr std::ptrdiff_t& elements(region r) { return size[static_cast<int>(r)]; }

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
<<<<<<< HEAD
=======

    class placement {
    public:
        constexpr placement(plan& p, graph_view const& g, array_use const* uses, int batch,
                            int lanes, std::ptrdiff_t alignment, int narrow_per_value)
            : p_{p}, g_{g}, nodes_{g.nodes}, uses_{uses}, batch_{batch}, lanes_{lanes},
              alignment_{alignment}, narrow_per_value_{narrow_per_value},
              states_{list<state>::filled(g.node_count, {})}, state_{states_.data()},
              stages_{list<int>::filled(Z.steps + 1, Z.stages)}, stage_of_{stages_.data()} {}

        constexpr void run() {
            place_parameters();
            place_batch();
            place_results();
            find_views();
            find_last_uses();
            std::ptrdiff_t end = 0;
            for (int d = 0; d < Z.devices; ++d) {
                p_.devices[d].workspace.offset = end;
                end = place_values(d, end);
                p_.devices[d].workspace.count = end - p_.devices[d].workspace.offset;
            }
            size(region::workspace) = end;
            if constexpr (Z.devices > 1) {
                enter_copied();
            }
            for (int i = 0; i < Z.outputs; ++i) {
                p_.outputs[i] = ref(g_.outputs[i]);
            }
        }

    private:
        struct state { // of a node
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

        constexpr std::ptrdiff_t elements(extents e) const {
            return e.count() * (e.sample ? batch_ : 1);
        }
        constexpr std::ptrdiff_t narrow_elements(std::ptrdiff_t count) const {
            return (count + narrow_per_value_ - 1) / narrow_per_value_;
        }
        constexpr array_ref ref(int id) const {
            state const& s = state_[state_[id].base];
            return {s.where, s.offset, nodes_[id].size, s.lane_stride, s.narrow};
        }
        constexpr array_ref ref(array_use const& use) const {
            if (use.node < 0) {
                return ref_of_all(use.node);
            }
            array_ref r = ref(use.node);
            if (use.narrow && nodes_[use.node].kind == op::parameter) {
                r.where = region::workspace;
                r.offset = copy_offset_ + r.offset / narrow_per_value_;
                r.narrow = true;
            }
            return r;
        }
        constexpr array_ref ref_of_all(int which) const {
            auto const count = static_cast<int>(p_.elements(region::parameters));
            return which == all_parameters
                       ? array_ref{region::parameters, 0, {false, 1, count}}
                       : array_ref{region::workspace, copy_offset_, {false, 1, count}, 0, true};
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
                for (int d = 0; d < Z.devices; ++d) {
                    device_memory& here = p_.devices[d];
                    element_range& range = trainable ? here.trained : here.others;
                    range.offset = end;
                    for (int i = 0; i < Z.parameters; ++i) {
                        parameter const& p = g_.parameters[i];
                        if (p.trainable == (trainable == 1) && nodes_[p.node].device == d) {
                            p_.parameters[i] = {p, end, d};
                            fix(p.node, region::parameters, end);
                            end += aligned(p.count(), alignment_);
                        }
                    }
                    range.count = end - range.offset;
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
                    if (int const id = uses_[k].node; id < 0) {
                        last_copied_ = i;
                    } else {
                        state_[state_[id].base].last = i;
                        if (uses_[k].narrow && nodes_[id].kind == op::parameter) {
                            last_copied_ = i;
                        }
                    }
                }
                if (s.winner >= 0) {
                    state_[uses_[s.winner].node].last = i;
                }
            }
            if constexpr (Z.devices > 1) { // what is copied stays, since devices do not wait
                for (step const& s : p_.steps) {
                    if (s.kind == op::copy) {
                        state_[state_[uses_[s.first_array].node].base].last = Z.steps;
                    }
                }
            }
            for (int i = 0; i < Z.stages; ++i) {
                for (int k = p_.stages[i].first; k < p_.stages[i].last; ++k) {
                    stage_of_[k] = i;
                }
            }
            list<int> const kept = kept_nodes(g_);
            for (int const id : kept) {
                state_[state_[id].base].last = Z.steps;
            }
        }

        // Memory is shared by stages, not by steps: within a stage, lanes do not wait for each
        // other. Values that leave a stage hold the whole batch; those within lie in the memory of
        // a lane. Those of one device, from `begin` on; returns their end.
        constexpr std::ptrdiff_t place_values(int device, std::ptrdiff_t begin_of_device) {
            block_allocator memory{Z.stages, alignment_, begin_of_device};
            for (int i = 0; i < Z.stages; ++i) {
                stage const& now = p_.stages[i];
                if (now.device != device) {
                    continue;
                }
                memory.advance_to(i);
                block_allocator lane{now.last - now.first, alignment_};
                for (int k = now.first; k < now.last; ++k) {
                    if (int const sums = p_.steps[k].sums; sums >= 0) {
                        int const room = lane.allocate(uses_[sums].scratch, now.last - now.first);
                        p_.arrays[sums].offset = lane.offset(room);
                    }
                }
                for (int k = now.first; k < now.last; ++k) {
                    step const& s = p_.steps[k];
                    lane.advance_to(k - now.first);
                    place_result(uses_[s.output].node, s, k, i, memory, lane);
                    if (s.winner >= 0) {
                        place_result(uses_[s.winner].node, s, k, i, memory, lane);
                    }
                    if (s.scratch >= 0) {
                        int const room = memory.allocate(uses_[s.scratch].scratch, i);
                        p_.arrays[s.scratch].offset = memory.offset(room);
                    }
                    if (s.room >= 0) {
                        int const room = lane.allocate(uses_[s.room].scratch, k - now.first);
                        p_.arrays[s.room].offset = lane.offset(room);
                    }
                }
                std::ptrdiff_t const stride = lane.peak();
                std::ptrdiff_t const begin =
                    stride > 0 ? memory.offset(memory.allocate(lanes_ * stride, i)) : 0;
                for (int k = now.first; k < now.last; ++k) {
                    enter_arrays(p_.steps[k], begin, stride);
                }
            }
            return memory.peak();
        }

        // What copies read lies on devices whose turn comes later, too.
        constexpr void enter_copied() {
            for (step const& s : p_.steps) {
                if (s.kind == op::copy) {
                    p_.arrays[s.first_array] = ref(uses_[s.first_array].node);
                }
            }
        }

        constexpr void place_result(int id, step const& s, int step_number, int stage_number,
                                    block_allocator& memory, block_allocator& lane) {
            if (id < 0) { // the copy of all parameters
                std::ptrdiff_t const count = p_.elements(region::parameters);
                copy_offset_ =
                    memory.offset(memory.allocate(narrow_elements(count), stage_of_[last_copied_]));
                return;
            }
            state& result = state_[id];
            if (result.fixed) {
                return;
            }
            result.narrow = uses_[s.output].node == id && uses_[s.output].narrow;
            stage const& now = p_.stages[stage_number];
            result.in_lane = now.samples_at_once > 0 && nodes_[id].size.sample &&
                             stage_of_[result.last] == stage_number;
            block_allocator& place = result.in_lane ? lane : memory;
            int const last = result.in_lane ? result.last - now.first : stage_of_[result.last];
            int const reused =
                s.kind == op::map ? dying_operand(s, step_number, result.in_lane) : -1;
            extents const e = nodes_[id].size;
            std::ptrdiff_t const count =
                result.in_lane ? e.count() * now.samples_at_once : elements(e);
            result.held =
                reused >= 0 ? place.take_over(reused, last)
                            : place.allocate(result.narrow ? narrow_elements(count) : count, last);
            result.offset = place.offset(result.held);
        }

        // The memory of the lanes begins at `begin`; so much lies between two of them.
        constexpr void enter_arrays(step const& s, std::ptrdiff_t begin, std::ptrdiff_t stride) {
            enter_lane(s.output, begin, stride);
            if (s.winner >= 0) {
                enter_lane(s.winner, begin, stride);
            }
            for (int k = s.first_array; k <= s.output; ++k) {
                p_.arrays[k] = ref(uses_[k]);
            }
            if (s.winner >= 0) {
                p_.arrays[s.winner] = ref(uses_[s.winner].node);
            }
            if (s.scratch >= 0) {
                enter_scratch(s.scratch, 0, 0);
            }
            if (s.sums >= 0) {
                enter_scratch(s.sums, begin, stride);
            }
            if (s.room >= 0) {
                enter_scratch(s.room, begin, stride);
            }
        }
        constexpr void enter_lane(int array, std::ptrdiff_t begin, std::ptrdiff_t stride) {
            if (uses_[array].node >= 0 && state_[uses_[array].node].in_lane) {
                state& result = state_[uses_[array].node];
                result.offset += begin;
                result.lane_stride = stride;
            }
        }
        constexpr void enter_scratch(int array, std::ptrdiff_t begin, std::ptrdiff_t stride) {
            array_ref& r = p_.arrays[array];
            r = {region::workspace,
                 begin + r.offset,
                 {false, 1, static_cast<int>(uses_[array].scratch)},
                 stride};
        }

        // The block of an operand that nobody reads after this step and that the result may
        // overwrite element by element; -1 if there is none.
        constexpr int dying_operand(step const& s, int now, bool in_lane) const {
            extents const size = nodes_[uses_[s.output].node].size;
            bool const narrow = uses_[s.output].narrow;
            for (int k = s.first_array; k < s.output; ++k) {
                state const& from = state_[state_[uses_[k].node].base];
                if (from.last == now && from.held >= 0 && from.in_lane == in_lane &&
                    nodes_[uses_[k].node].size == size && from.narrow == narrow) {
                    int readers = 0;
                    for (int j = s.first_array; j < s.output; ++j) {
                        readers += state_[uses_[j].node].base == state_[uses_[k].node].base;
                    }
                    if (readers == 1) {
                        return from.held;
                    }
                }
            }
            return -1;
        }

        plan& p_;
        graph_view g_;
        node const* nodes_;
        array_use const* uses_;
        int batch_, lanes_;
        std::ptrdiff_t alignment_;
        int narrow_per_value_;
        std::ptrdiff_t copy_offset_ = 0; // of the parameters' copy in bfloat16
        int last_copied_ = 0;            // the last step that reads from it
        list<state> states_;
        state* state_; // per node
        list<int> stages_;
        int* stage_of_; // per step; one more for the end of all
    };
>>>>>>> epilogue-ready
};

} // namespace castnet
