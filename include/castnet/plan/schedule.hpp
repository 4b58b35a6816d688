// Schedule of a graph: its list of steps after fusion, their programs, and the arrays that every
// step reads and writes; not yet where they lie (plan/plan.hpp).
#pragma once

#include <castnet/plan/epilogue.hpp>
#include <castnet/plan/lower.hpp>
#include <castnet/plan/narrow.hpp>
#include <castnet/plan/step.hpp>

namespace castnet {

// An operand or result of a step: the value of a node, or (node -1) scratch memory for the step.
struct array_use {
    int node = -1;
    std::ptrdiff_t scratch = 0; // elements
    bool narrow = false;        // bfloat16; of a parameter: the copy that products read
};

// All parameters, and the copy of them in bfloat16, as operand and result of a step.
inline constexpr int all_parameters = -2, narrow_parameters = -3;

// An array of that many elements: the number of its entry, -1 for none.
constexpr int scratch_array(list<array_use>& arrays, std::ptrdiff_t elements) {
    if (elements == 0) {
        return -1;
    }
    arrays.push({-1, elements});
    return arrays.size() - 1;
}

struct step_schedule_sizes {
    int steps = 0, arrays = 0, scalars = 0, programs = 0, instructions = 0;
    int unused_parameter = -1, unused_input = -1; // -1: none; else the first

    constexpr bool fit(step_schedule_sizes const& room) const {
        return steps <= room.steps && arrays <= room.arrays && scalars <= room.scalars &&
               programs <= room.programs && instructions <= room.instructions;
    }
};

// Enough for most graphs of so many nodes.
constexpr step_schedule_sizes usual_schedule(int nodes) {
    return {nodes / 2 + 16, 5 * nodes / 2 + 32, nodes / 3 + 16, 48, 256};
}

struct step_schedule_draft {
    list<step> steps;
    list<array_use> arrays;
    list<double> scalars;
    list<list<instruction>> programs;
    step_schedule_sizes sizes;
};

// What a step of its own computes.
constexpr bool is_step(node const& n, node const* nodes) {
    return !is_source(n.kind) && !is_view(n, nodes) && n.kind != op::max_pool_winner;
}

// Device says how much scratch memory its kernels want:
//   static constexpr scratch_size scratch(step const&, window const* windows, instruction const&
//   end);
template <class Device>
class scheduler {
public:
    // `group`: per node the end of its group, as fuse() gives it.
    constexpr scheduler(graph_view const& g, int const* group)
        : g_{g}, nodes_{g.nodes}, group_{group} {
        if constexpr (NarrowDevice<Device>) {
            narrow_ = narrow_nodes(g, group);
        }
    }

    constexpr step_schedule_draft run() {
        find_unused();
        list_steps();
        d_.sizes.steps = d_.steps.size();
        d_.sizes.arrays = d_.arrays.size();
        d_.sizes.scalars = d_.scalars.size();
        d_.sizes.programs = d_.programs.size();
        for (auto const& p : d_.programs) {
            d_.sizes.instructions += p.size();
        }
        return std::move(d_);
    }

private:
    constexpr void find_unused() {
        for (int i = g_.parameter_count - 1; i >= 0; --i) {
            parameter const& p = g_.parameters[i];
            if (group_[p.node] < 0 || (p.trainable && g_.differentiated && g_.gradients[i] < 0)) {
                d_.sizes.unused_parameter = i;
            }
        }
        for (int i = 0; i < g_.node_count; ++i) {
            if (nodes_[i].kind == op::input && group_[i] < 0) {
                d_.sizes.unused_input = nodes_[i].attribute;
            }
        }
    }

    constexpr void list_steps() {
        list<int> firsts = list<int>::filled(g_.node_count, -1), nexts = firsts;
        int *const first = firsts.data(), *const next = nexts.data();
        for (int i = g_.node_count - 1; i >= 0; --i) { // what joins every group, ascending
            if (group_[i] >= 0 && (nodes_[i].kind == op::map || group_[i] != i)) {
                next[i] = first[group_[i]];
                first[group_[i]] = i;
            }
        }
        for (int i = 0; i < g_.node_count; ++i) {
            if (nodes_[i].kind == op::max_pool_winner) {
                winners_.push({nodes_[i].in[1], i});
            }
        }
        lowering lower{g_, narrow_.empty() ? nullptr : narrow_.data()};
        if constexpr (NarrowDevice<Device>) {
            copy_parameters();
        }
        for (int i = 0; i < g_.node_count; ++i) {
            if (group_[i] == i && is_step(nodes_[i], nodes_)) {
                add_step(i, first[i], next, lower);
            }
        }
    }

    // The first step: parameters as products read them.
    constexpr void copy_parameters() {
        std::ptrdiff_t count = 0;
        bool read = false;
        for (int i = 0; i < g_.parameter_count; ++i) {
            count += aligned(g_.parameters[i].count(), Device::alignment);
        }
        for (int i = 0; i < g_.node_count; ++i) {
            for (int k = 0; k < nodes_[i].operands && has_factors(nodes_[i].kind); ++k) {
                read = read || (group_[i] >= 0 && nodes_[nodes_[i].in[k]].kind == op::parameter);
            }
        }
        if (!read) {
            return;
        }
        step s;
        s.kind = op::map;
        s.space = {false, 1, static_cast<int>(count)};
        s.first_array = d_.arrays.size();
        s.arrays = 1;
        s.output = s.first_array + 1;
        list<instruction> code;
        code.push({opcode::load, {}, -1, 0, 7});
        code.push({opcode::store, {}, -1, 1});
        s.program = program_number(code);
        d_.arrays.push({all_parameters});
        d_.arrays.push({narrow_parameters, 0, true});
        d_.steps.push(s);
    }

    constexpr bool is_narrow(int id) const { return !narrow_.empty() && narrow_[id] != 0; }
    constexpr array_use use_of(int id) const { return {id, 0, is_narrow(id)}; }
    // As an operand of a product.
    constexpr array_use factor(int id) const {
        return {id, 0, NarrowDevice<Device> || is_narrow(id)};
    }

    constexpr void add_step(int id, int first, int const* next, lowering& lower) {
        node const& n = nodes_[id];
        step s;
        s.kind = n.kind;
        s.factor = n.scalar;
        s.first_array = d_.arrays.size();
        instruction end;
        int product = id; // what has a kernel of its own
        if (first >= 0 && has_factors(nodes_[first].kind)) {
            product = first;
            first = next[first];
            finish(s, product, id, first);
        }
        if (n.kind == op::map || n.kind == op::reduce) {
            bool const narrow_bias = product != id && is_narrow(id);
            lower.run(id, first, next, narrow_bias);
            if (lower.arrays.size() > max_arrays || lower.scalars.size() > max_scalars) {
                throw "castnet: a fused kernel reads more than it can be given";
            }
            end = lower.code.back();
            s.program = program_number(lower.code);
            s.space = n.kind == op::map ? n.size : nodes_[n.in[0]].size;
            s.flops += s.space.count() * (lower.code.size() - lower.arrays.size() - 1);
            if (n.kind == op::map && s.space.pixels > 1 && lower.varies_as_a_whole()) {
                s.space = {s.space.sample, 1, static_cast<int>(s.space.count())};
            }
            s.first_scalar = d_.scalars.size();
            s.scalars = lower.scalars.size();
            d_.scalars.append(lower.scalars.data(), s.scalars);
            for (int const array : lower.arrays) { // the program finds a product in its result
                array_use const use = use_of(array == product ? id : array);
                d_.arrays.push({use.node, 0, use.narrow || (narrow_bias && array != product)});
            }
            s.arrays = d_.arrays.size() - s.first_array;
        } else {
            describe(s, n);
            s.arrays = n.operands;
            for (int k = 0; k < n.operands; ++k) {
                d_.arrays.push(has_factors(n.kind) ? factor(n.in[k]) : use_of(n.in[k]));
            }
        }
        s.output = d_.arrays.size();
        d_.arrays.push(use_of(id));
        if (n.kind == op::max_pool) {
            add_winner(s, id);
        }
        bool const sums = n.kind == op::matmul_weight && first >= 0;
        scratch_size const wanted =
            sums ? add_bias_gradient(s, first, lower) : Device::scratch(s, g_.windows, end);
        s.scratch = scratch_array(d_.arrays, wanted.shared);
        s.sums = scratch_array(d_.arrays, wanted.sums);
        s.room = scratch_array(d_.arrays, wanted.room);
        d_.steps.push(s);
    }

    // The step of a product that the group from `first` to `last` finishes.
    constexpr void finish(step& s, int product, int last, int first) {
        node const& n = nodes_[product];
        s.kind = n.kind;
        s.end = epilogue_finder<Device>::between(nodes_, first, last);
        describe(s, n);
        d_.arrays.push(factor(n.in[0]));
        d_.arrays.push(factor(n.in[1]));
    }

    // Of the weight gradient's second factor. Returns what it wants by itself.
    constexpr scratch_size add_bias_gradient(step& s, int sum, lowering& lower) {
        lower.run(sum, -1, nullptr);
        s.end.bias_gradient = true;
        s.program = program_number(lower.code);
        s.space = nodes_[nodes_[sum].in[0]].size;
        s.second_output = d_.arrays.size();
        d_.arrays.push(use_of(sum));
        return Device::scratch(epilogue_step(s), g_.windows, lower.code.back());
    }

    constexpr void add_winner(step& s, int pool) {
        for (auto const& w : winners_) {
            if (w.pool == pool && group_[w.winner] >= 0) {
                s.second_output = d_.arrays.size();
                d_.arrays.push({w.winner, 0});
            }
        }
    }

    constexpr void describe(step& s, node const& n) const {
        node const& x = nodes_[n.in[0]];
        switch (n.kind) {
        case op::matmul:
        case op::matmul_data:
            s.flops = 2 * x.size.count() * n.size.channels;
            break;
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
        case op::slice:
        case op::slice_gradient:
            s.first_channel = n.attribute;
            break;
        case op::concat:
        case op::copy:
            break;
        default: { // pooling and up-sampling
            window const& w = g_.windows[n.attribute];
            s.window = n.attribute;
            s.flops = std::ptrdiff_t{1} * w.out_height * w.out_width * w.filters * w.kernel_h *
                      w.kernel_w;
            break;
        }
        }
    }

    // Programs that look alike are one.
    constexpr int program_number(list<instruction> const& code) {
        unsigned hash = 0;
        for (instruction const& i : code) {
            hash = hash * 31U + i.digest();
        }
        int& first = first_with_[static_cast<int>(hash % buckets)];
        for (int p = first; p >= 0; p = next_with_[p]) {
            if (d_.programs[p] == code) {
                return p;
            }
        }
        next_with_.push(first);
        d_.programs.push(code);
        return first = d_.programs.size() - 1;
    }

    static constexpr unsigned buckets = 251;
    graph_view g_;
    node const* nodes_;
    int const* group_;
    list<char> narrow_; // per node; empty where nothing is
    step_schedule_draft d_;
    struct pool_winner {
        int pool, winner; // nodes
    };
    list<pool_winner> winners_;
    list<int> first_with_ = list<int>::filled(buckets, -1); // program of each hash
    list<int> next_with_;                                   // program of the same hash
};

// A schedule as a constant of fixed size. Where Room is not enough, nothing but the sizes is kept.
template <step_schedule_sizes Room>
struct step_schedule {
    step_schedule_sizes sizes;
    step steps[castnet::room(Room.steps)]{};
    array_use arrays[castnet::room(Room.arrays)]{};
    double scalars[castnet::room(Room.scalars)]{};
    instruction instructions[castnet::room(Room.instructions)]{};
    int first_instruction[castnet::room(Room.programs +
                                        1)]{}; // per program; one more for the end of the last

    constexpr explicit step_schedule(step_schedule_draft const& d) : sizes{d.sizes} {
        if (!sizes.fit(Room)) {
            return;
        }
        copy_list(steps, d.steps);
        copy_list(arrays, d.arrays);
        copy_list(scalars, d.scalars);
        int end = 0;
        for (int p = 0; p < sizes.programs; ++p) {
            first_instruction[p] = end;
            for (instruction const& i : d.programs[p]) {
                instructions[end++] = i;
            }
        }
        first_instruction[sizes.programs] = end;
    }

    // Room that is enough.
    constexpr step_schedule_sizes room() const { return sizes.fit(Room) ? Room : sizes; }
};

} // namespace castnet
