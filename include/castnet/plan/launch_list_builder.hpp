// Builder of the list of launches (plan/launch_list.hpp) of a graph and its fused groups.
#pragma once

#include <castnet/plan/device_count.hpp>
#include <castnet/plan/epilogue.hpp>
#include <castnet/plan/launch_list.hpp>
#include <castnet/plan/lower.hpp>
#include <castnet/plan/mixed_precision.hpp>
#include <castnet/plan/prepared_values.hpp>
#include <castnet/plan/program_set.hpp>
#include <castnet/plan/unused.hpp>

namespace castnet::ir {

// Device says how much scratch memory its kernels want:
//   static constexpr scratch_size scratch(kernel_launch const&, window const* windows, instruction
//   const& end);
template <class Device>
class launch_list_builder {
public:
    // `keeps`: what depends on parameters alone is computed once.
    constexpr launch_list_builder(graph_view const& g, group_view const& group,
                                  launch_list_begin const& begin = {}, bool keeps = false)
        : g_{g}, nodes_{g.nodes}, group_{group}, begin_{begin} {
        if (keeps) {
            prepared_ = prepared_values(g);
        }
        if constexpr (MixedPrecisionDevice<Device>) {
            in_bf16_ = bf16_nodes(g, group.of);
        }
    }

    // Of the nodes from begin.node to last - 1. The numbers of arrays, scalars and programs go on
    // from the parts before; the draft holds this part's, but all programs.
    constexpr launch_list_draft run(int last) {
        take_programs();
        list_launches(last);
        d_.programs = programs_.take();
        if (begin_.node == 0) {
            d_.sizes.unused_parameter = first_unused_parameter(g_, group_);
            d_.sizes.unused_input = unused_input(g_, group_);
        }
        d_.sizes.launches = d_.launches.size();
        d_.sizes.arrays = d_.arrays.size();
        d_.sizes.scalars = d_.scalars.size();
        d_.sizes.programs = d_.programs.size();
        for (auto const& p : d_.programs) {
            d_.sizes.instructions += p.size();
        }
        return std::move(d_);
    }

    constexpr launch_list_draft run() { return run(g_.node_count); }

private:
    constexpr void take_programs() {
        list<instruction> code;
        for (int p = 0; p < begin_.programs; ++p) {
            int const first = begin_.first_instruction[p];
            code.clear();
            code.append(begin_.instructions + first, begin_.first_instruction[p + 1] - first);
            programs_.number_of(code);
        }
    }

    constexpr void list_launches(int last) {
        list<int> firsts = list<int>::filled(last - begin_.node, -1),
                  nexts = list<int>::with_size(g_.node_count);
        int *const first = firsts.data(), *const next = nexts.data();
        int const* const group = group_.of;
        for (int i = g_.node_count - 1; i >= 0; --i) { // what joins every group, ascending
            int const end = group[i];
            if (end >= begin_.node && end < last && (end != i || nodes_[i].kind == op::map)) {
                int& first_of_group = first[end - begin_.node];
                next[i] = first_of_group;
                first_of_group = i;
            } else if (end == i && nodes_[i].in[0] >= begin_.node && nodes_[i].in[0] < last &&
                       traits_of(nodes_[i]).beside) {
                beside_.push(i);
            }
        }
        lowering lower{g_, group_, in_bf16_.empty() ? nullptr : in_bf16_.data()};
        if constexpr (MixedPrecisionDevice<Device>) {
            if (device_count<Device> == 1) {
                find_copied_inputs();
            }
            if (begin_.node == 0) {
                copy_for_products();
            }
        }
        for (int i = begin_.node; i < last; ++i) {
            if (group_.is_launched(i) && is_launched(nodes_[i], nodes_) && !is_copied(i)) {
                add_launch(i, first[i - begin_.node], next, lower);
            }
        }
    }

    // The first launch, or of several devices each one's: parameters as products read them, and of
    // one device the inputs.
    constexpr void copy_for_products() {
        bool read = false; // parameters are
        for (int i = 0; i < g_.node_count; ++i) {
            for (int k = 0; k < nodes_[i].operands && traits_of(nodes_[i]).product; ++k) {
                read = read || (group_[i] >= 0 &&
                                nodes_[base_of(nodes_[i].in[k], nodes_)].kind == op::parameter);
            }
        }
        constexpr int devices = device_count<Device>;
        bool found = false;
        for (int part = 0; read && part < (devices == 1 ? 1 : 2 * devices); ++part) {
            bool is_there = false;
            for (int i = 0; i < g_.parameter_count; ++i) {
                parameter const& p = g_.parameters[i];
                is_there = is_there || devices == 1 ||
                           (nodes_[p.node].device == part / 2 && p.trainable == (part % 2 == 0));
            }
            if (is_there) {
                convert({all_parameters, part}, {bf16_parameters, part, true});
                found = true;
            }
        }
        if (!found && !copied_.empty()) {
            convert({}, {});
        }
    }
    // Converts a part of the parameters, if any, and the inputs.
    constexpr void convert(array_use const& from, array_use const& to) {
        int const part = from.node == all_parameters ? 1 : 0;
        kernel_launch s;
        s.kind = op::convert;
        s.first_array = next_array();
        s.arrays = s.results = copied_.size() + part;
        s.output = s.first_array + s.arrays;
        if (part > 0) {
            d_.arrays.push(from);
        }
        for (int const id : copied_) {
            d_.arrays.push(use_of(nodes_[id].in[0]));
        }
        if (part > 0) {
            d_.arrays.push(to);
        }
        for (int const id : copied_) {
            d_.arrays.push(use_of(id));
        }
        d_.launches.push(s);
    }
    constexpr void find_copied_inputs() {
        for (int i = 0; i < g_.node_count && copied_.size() + 1 < most_converted; ++i) {
            if (group_[i] == i && is_copied_input(nodes_[i], nodes_)) {
                copied_.push(i);
            }
        }
    }
    constexpr bool is_copied(int id) const {
        for (int const copied : copied_) {
            if (copied == id) {
                return true;
            }
        }
        return false;
    }

    constexpr bool is_prepared(int id) const { return !prepared_.empty() && prepared_[id] != 0; }
    constexpr bool is_bf16(int id) const { return !in_bf16_.empty() && in_bf16_[id] != 0; }
    constexpr array_use use_of(int id) const { return {id, 0, is_bf16(id)}; }
    // As an operand of a product.
    constexpr array_use factor(int id) const {
        return {id, 0, MixedPrecisionDevice<Device> || is_bf16(id)};
    }

    constexpr int next_array() const { return begin_.arrays + d_.arrays.size(); }

    // An array of that many elements: the number of its entry, -1 for none.
    constexpr int scratch_array(std::ptrdiff_t elements) {
        if (elements == 0) {
            return -1;
        }
        d_.arrays.push({-1, elements});
        return next_array() - 1;
    }

    constexpr void add_launch(int id, int first, int const* next, lowering& lower) {
        node const& n = nodes_[id];
        kernel_launch s;
        s.kind = n.kind;
        s.factor = n.scalar;
        s.loop = n.kind == op::delay ? -1 : n.loop;
        s.repeat = n.repeat;
        s.random_streams = n.repeat < 0 ? 0 : g_.repeat_at(n.repeat).random_streams;
        s.first_array = next_array();
        instruction end;
        int product = id; // what has a kernel of its own
        if (first >= 0 && is_finished(nodes_[first])) {
            product = first;
            first = next[first];
            finish(s, product, id, first);
        }
        if (n.kind == op::map || n.kind == op::reduce) {
            bool const bf16_bias = product != id && is_bf16(id);
            lower.run(id, first, next, product == id ? -1 : product, bf16_bias);
            if (lower.arrays.size() > max_arrays || lower.scalars.size() > max_scalars) {
                throw "castnet: a fused kernel reads too many arrays or scalars";
            }
            end = lower.code.back();
            s.phases = phases_of(lower.code.data(), lower.code.size());
            if (n.kind == op::map && (end.code == opcode::reduce || s.phases > 1)) {
                s.kind = op::reduce; // it is stored besides
                s.factor = nodes_[lower.joined.back()].scalar;
            }
            s.program = programs_.number_of(lower.code);
            s.space = n.kind == op::map ? n.size : nodes_[n.in[0]].size;
            s.flops += s.space.count() *
                       (lower.code.size() - lower.arrays.size() - 1 - lower.joined.size());
            if (lower.pooling >= 0) {
                s.window = nodes_[lower.pooling].attribute;
            } else if (s.kind == op::map && s.loop < 0 && s.space.pixels > 1 &&
                       lower.varies_as_a_whole()) {
                s.space = {s.space.sample, 1, static_cast<int>(s.space.count())};
            }
            s.first_scalar = begin_.scalars + d_.scalars.size();
            s.scalars = lower.scalars.size();
            d_.scalars.append(lower.scalars.data(), s.scalars);
            for (int k = 0; k < lower.arrays.size(); ++k) {
                int const array = lower.arrays[k]; // the program finds a product in its result
                array_use const use =
                    k == lower.factor ? factor(array) : use_of(array == product ? id : array);
                d_.arrays.push({use.node, 0, use.is_bf16 || (bf16_bias && array != product)});
            }
            s.arrays = next_array() - s.first_array;
        } else {
            describe(s, n);
            int const first_read = n.kind == op::feedback ? 1 : 0; // it writes to the delay
            if (n.kind == op::feedback) {
                s.space = n.size;
            }
            for (int k = first_read; k < n.operands; ++k) {
                d_.arrays.push(traits_of(n).product ? factor(n.in[k]) : use_of(n.in[k]));
            }
            for (int m = n.kind == op::convert ? first : -1; m >= 0; m = next[m]) {
                d_.arrays.push(use_of(nodes_[m].in[0]));
            }
            s.arrays = next_array() - s.first_array;
        }
        s.output = next_array();
        bool const spreads = s.program >= 0 && lower.pooling >= 0;
        bool const feeds = s.program < 0 && first >= 0 && nodes_[first].kind == op::feedback;
        d_.arrays.push(use_of(spreads ? lower.pooling : array_of(feeds ? first : id)));
        for (int k = beside_.size() - 1; k >= 0; --k) { // ascending
            if (nodes_[beside_[k]].in[0] == id) {
                add_result(s, beside_[k]);
            }
        }
        for (int m = n.kind == op::convert ? first : -1; m >= 0; m = next[m]) {
            add_result(s, m);
        }
        for (int k = 0; s.program >= 0 && k < lower.joined.size(); ++k) {
            add_result(s, lower.joined[k]);
        }
        bool const sums = n.kind == op::matmul_weight && first >= 0;
        scratch_size const wanted =
            sums ? add_bias_gradient(s, first, lower) : Device::scratch(s, g_.windows, end);
        s.scratch = scratch_array(wanted.shared);
        s.sums = scratch_array(wanted.sums);
        s.chunk_scratch = scratch_array(wanted.chunk);
        s.prepared = scratch_array(wanted.prepared);
        s.once = is_prepared(id);
        d_.launches.push(s);
    }

    static constexpr bool is_finished(node const& n) {
        return n.kind == op::conv || n.kind == op::matmul;
    }
    // The launch of a product that the group from `first` to `last` finishes.
    constexpr void finish(kernel_launch& s, int product, int last, int first) {
        node const& n = nodes_[product];
        s.kind = n.kind;
        s.end = epilogue_finder<Device>::between(nodes_, first, last);
        describe(s, n);
        d_.arrays.push(factor(n.in[0]));
        d_.arrays.push(factor(n.in[1]));
    }

    // Of the weight gradient's second factor. Returns what it wants by itself.
    constexpr scratch_size add_bias_gradient(kernel_launch& s, int sum, lowering& lower) {
        lower.run(sum, -1, nullptr);
        s.end.bias_gradient = true;
        s.program = programs_.number_of(lower.code);
        s.space = nodes_[nodes_[sum].in[0]].size;
        add_result(s, sum);
        return Device::scratch(epilogue_launch(s), g_.windows, lower.code.back());
    }

    constexpr void add_result(kernel_launch& s, int id) {
        s.results += 1;
        d_.arrays.push(use_of(array_of(id)));
    }
    // Where a launch leaves a node's value: a feedback's, where the delay's is.
    constexpr int array_of(int id) const {
        return nodes_[id].kind == op::feedback ? nodes_[id].in[0] : id;
    }

    constexpr void describe(kernel_launch& s, node const& n) const {
        operation_entry const& operation = operation_of(n);
        s.flops = operation.has_flops ? operation.flops(n, g_) : 0;
        if (n.operands > 1) {
            s.constant_weight = is_prepared(n.in[1]);
        }
        if (operation.is.product) {
            s.weight = nodes_[n.in[1]].size;
        }
        if (n.kind == op::matmul || n.kind == op::matmul_data) { // of a matrix of any kind
            int const factor = nodes_[n.in[0]].size.channels, result = n.size.channels;
            s.weight.pixels = n.kind == op::matmul ? result : factor;
            s.weight.channels = n.kind == op::matmul ? factor : result;
        }
        s.window = operation.is.windowed ? n.attribute : -1;
        s.attribute = operation.is.reads_attribute ? n.attribute : 0;
    }

    graph_view g_;
    node const* nodes_;
    group_view group_;
    launch_list_begin begin_;
    list<char> in_bf16_;  // per node; empty where nothing is
    list<char> prepared_; // per node; empty where nothing is kept
    launch_list_draft d_;
    list<int> beside_; // nodes that the kernel of their operand computes, descending
    list<int> copied_; // inputs' copies that the first launch makes
    program_set programs_;
};

} // namespace castnet::ir
