// Launches with several results: reductions of the same elements, an array and sums of it, small
// element-wise launches over the same channels; and what is computed again in each launch that
// reads it, or by the gradient of max pooling, instead of stored.
//
// All of this trades arithmetic for memory and for the starts of kernels; a device asks for it.
#pragma once

#include <castnet/graph/op/pool.hpp>
#include <castnet/plan/fuse.hpp>
#include <castnet/plan/instruction.hpp>
#include <castnet/plan/loaded_arrays.hpp>
#include <castnet/plan/mixed_precision.hpp>

namespace castnet::ir {

// Such a device says so; its programs have several ends (plan/instruction.hpp):
//   static constexpr bool joins_launches = true;
template <class Device>
concept JoiningDevice = requires { requires Device::joins_launches; };

class launch_joiner {
public:
    // `groups`: per node the end of its group, as of fuse().
    constexpr launch_joiner(graph_view const& g, int* groups, group_end* ends)
        : nodes_{g.nodes}, windows_{g.windows}, count_{g.node_count}, group_{groups}, end_{ends},
          loads_{g.nodes, g.node_count}, kept_{list<char>::with_size(g.node_count)},
          carried_{carried_nodes(g.nodes, g.node_count, g.repeat_count)},
          last_reader_{list<int>::filled(g.node_count, -1)},
          first_{list<int>::filled(g.node_count, -1)} {
        for (int const id : kept_nodes(g)) {
            kept_[base_of(id, nodes_)] = 1;
        }
        for (int k = 0; k < count_; ++k) {
            for (int j = 0; j < nodes_[k].operands; ++j) {
                if (int const from = nodes_[k].in[j]; from >= 0) {
                    last_reader_[from] = k;
                }
            }
        }
    }

    constexpr void run() {
        for (int last = count_ - 1; last > 0; --last) {
            if (is_joinable(last)) {
                join_to(last);
            }
        }
        for (int id = 0; id < count_; ++id) {
            int const end = group_[id];
            group_[id] = end >= 0 && end_[end] == group_end::joined ? group_[end] : end;
        }
        for (int id = count_ - 1; id >= 0; --id) {
            if (group_[id] >= 0) {
                first_[group_[id]] = id;
            }
        }
        for (int id = count_ - 1; id > 0; --id) {
            if (group_[id] == id && nodes_[id].kind == op::map && is_outside_of_loops(id)) {
                if (costs_less_again(id)) {
                    end_[id] = group_end::computed_again;
                }
            }
        }
        for (int id = count_ - 1; id > 0; --id) {
            node const& n = nodes_[id];
            if (n.kind == op::reduce && n.reduce == reduction::sum && is_joinable(id)) {
                for (int k = id - 1; k > id - near && k > 0 && group_[id] == id; --k) {
                    sum_where_stored(id, k);
                }
            }
        }
        for (int id = 0; id < count_; ++id) {
            if (nodes_[id].kind == op::max_pool_gradient && group_[id] == id &&
                windows_[nodes_[id].attribute].images == 1 &&
                tiles_image(windows_[nodes_[id].attribute])) {
                spread_where_computed(id, nodes_[id].in[1]);
            }
        }
        for (int id = 0; id < count_; ++id) {
            if (nodes_[id].kind == op::matmul_data && group_[id] == id) {
                multiply_where_read(id);
            }
        }
    }

private:
    static constexpr int near = 12;     // nodes between results of a launch
    static constexpr int most_ends = 6; // results of a program
    // Of a layer whose gradient with respect to its input a program computes.
    static constexpr int most_units = 16, most_features = 4096;

    constexpr bool is_outside_of_loops(int id) const {
        return nodes_[id].loop < 0 && nodes_[id].stored == storage::array;
    }
    // A gradient.
    constexpr bool is_widened(int id) const {
        return nodes_[id].kind == op::convert && !is_copied_input(nodes_[id], nodes_);
    }
    // Reductions, element-wise launches without samples, and gradients to be widened.
    constexpr bool is_joinable(int id) const {
        node const& n = nodes_[id];
        bool const small = n.kind == op::map && !n.size.sample && n.size.pixels == 1;
        return group_[id] == id && is_outside_of_loops(id) &&
               (n.kind == op::reduce || small || is_widened(id));
    }

    // The joined launch comes where `last` is, so nothing before may read what it makes.
    constexpr void join_to(int last) {
        bool const widens = is_widened(last); // for the optimizer, which reads last
        int const first = widens || last < near ? 0 : last - near,
                  most = widens ? most_converted : most_ends;
        int results = 1;
        for (int id = last - 1; id >= first && results < most; --id) {
            if (is_joinable(id) && are_alike(id, last) &&
                (widens ? kept_[id] != 0 : may_join(id, last))) {
                for (int k = id; k >= 0 && k >= id - near; --k) {
                    group_[k] = group_[k] == id ? last : group_[k];
                }
                end_[id] = group_end::joined;
                results += 1;
            }
        }
    }
    constexpr bool are_alike(int id, int last) const {
        node const &a = nodes_[id], &b = nodes_[last];
        bool const same_shape =
            a.kind == op::convert ||
            (a.size == b.size && a.scalar == b.scalar && space_of(id) == space_of(last));
        // (of rows, a thread makes one number, and so different ones as well)
        bool const same_reduction =
            a.kind != op::reduce || a.reduce == b.reduce || (a.size.sample && a.size.channels == 1);
        return a.kind == b.kind && a.repeat == b.repeat && a.device == b.device && same_shape &&
               same_reduction;
    }
    constexpr bool may_join(int id, int last) const {
        return !is_read_between(id, last, nodes_[id].kind == op::reduce) &&
               inputs(id) + inputs(last) <= max_group_inputs;
    }
    constexpr extents space_of(int end) const {
        node const& n = nodes_[end];
        return n.kind == op::reduce ? nodes_[n.in[0]].size : n.size;
    }

    constexpr bool reads(int reader, int id) const {
        for (int k = 0; k < nodes_[reader].operands; ++k) {
            if (nodes_[reader].in[k] == id) {
                return true;
            }
        }
        return false;
    }
    // By an earlier launch than that of `last` or, of a reduction, by that one.
    constexpr bool is_read_between(int id, int last, bool by_itself) const {
        for (int k = id + 1; k <= last; ++k) {
            if (group_[k] >= 0 && group_[k] < last + int(by_itself) && reads(k, id)) {
                return true;
            }
        }
        return false;
    }
    // Operands of a group.
    constexpr int inputs(int end) const {
        int count = 0;
        for (int k = end; k >= 0 && k >= end - 2 * near; --k) {
            count += group_[k] == end ? nodes_[k].operands : 0;
        }
        return count;
    }

    // A sum, and those that have joined it, of what is stored at node `stored` by an element-wise
    // launch, and of what is there then: these are results of that launch, where it is.
    constexpr void sum_where_stored(int sum, int stored) {
        node const& n = nodes_[stored];
        bool const is_launch = n.kind == op::map && group_[stored] == stored &&
                               end_[stored] == group_end::launched && is_outside_of_loops(stored);
        if (!is_launch || n.repeat != nodes_[sum].repeat || n.device != nodes_[sum].device ||
            n.size != space_of(sum) || !n.size.sample ||
            inputs(stored) + inputs(sum) > max_group_inputs) {
            return;
        }
        bool is_read = false;
        int const first = first_[sum] < first_[stored] ? first_[sum] : first_[stored];
        for (int k = stored + near < count_ ? stored + near : count_ - 1; k >= first; --k) {
            for (int j = 0; j < nodes_[k].operands && group_[k] == sum; ++j) {
                int const from = nodes_[k].in[j];
                is_read = is_read || from == stored;
                if (from >= 0 && group_[from] > stored && group_[from] != sum &&
                    !traits_of(nodes_[from]).source) {
                    return;
                }
            }
            bool const other = nodes_[k].kind != op::map || k > stored; // a product, another sum
            if (group_[k] == stored && other) {
                return;
            }
        }
        if (!is_read) {
            return;
        }
        for (int k = sum; k >= first; --k) {
            group_[k] = group_[k] == sum ? stored : group_[k];
        }
        first_[stored] = first;
        end_[sum] = group_end::joined;
    }

    // The gradient of max pooling, of what only that reads of an element-wise launch: it is stored
    // in its place.
    constexpr void spread_where_computed(int pooling, int computed) {
        node const &p = nodes_[pooling], &n = nodes_[computed];
        if (n.kind != op::map || group_[computed] != computed ||
            end_[computed] != group_end::launched || !is_outside_of_loops(computed) ||
            kept_[computed] != 0 || carried_[computed] != 0 || p.repeat != n.repeat ||
            p.device != n.device || inputs(computed) + 1 > max_group_inputs) {
            return;
        }
        for (int k = computed + 1; k <= last_reader_[computed]; ++k) {
            if (k != pooling && group_[k] >= 0 && group_[k] != computed && reads(k, computed)) {
                return;
            }
        }
        group_[pooling] = computed;
        end_[pooling] = group_end::joined;
    }

    // A dense layer's gradient with respect to its input costs an element-wise launch less than to
    // load it where the layer has few units.
    constexpr void multiply_where_read(int product) {
        node const& n = nodes_[product];
        node const &gradient = nodes_[n.in[0]], &weight = nodes_[n.in[1]];
        if (!is_outside_of_loops(product) || kept_[product] != 0 || carried_[product] != 0 ||
            weight.kind != op::parameter || gradient.size.channels > most_units ||
            n.size.count() > most_features ||
            gradient.size.channels == n.size.channels) { // whose memory the result might have
            return;
        }
        int reader = -1;
        for (int k = product + 1; k <= last_reader_[product]; ++k) {
            if (group_[k] >= 0 && reads(k, product)) {
                if (nodes_[k].kind != op::map || (reader >= 0 && group_[k] != reader)) {
                    return;
                }
                reader = group_[k];
            }
        }
        if (reader < 0 || end_[reader] != group_end::launched || !is_outside_of_loops(reader) ||
            space_of(reader) != n.size || nodes_[reader].repeat != n.repeat ||
            nodes_[reader].device != n.device || inputs(reader) + 2 > max_group_inputs) {
            return;
        }
        group_[product] = reader;
    }

    // Counts arrays as large as the value. Stored, it is written once and read by every launch that
    // wants it, and its own launch reads what it is made of; else each of them reads that, unless
    // it does so anyway.
    constexpr bool costs_less_again(int id) {
        node const& n = nodes_[id];
        if (kept_[id] || n.repeat >= 0 || !n.size.sample || n.size.count() == 1) {
            return false;
        }
        list<int> readers;
        for (int k = id + 1; k <= last_reader_[id]; ++k) {
            if (group_[k] < 0 || !reads(k, id)) {
                continue;
            }
            int const reader = group_[k];
            bool const program =
                (nodes_[k].kind == op::map || nodes_[k].kind == op::reduce) && nodes_[k].loop < 0 &&
                nodes_[k].repeat < 0 && nodes_[k].device == n.device &&
                end_[reader] != group_end::computed_again && space_of(reader) == n.size;
            if (!program) {
                return false;
            }
            bool known = false;
            for (int const r : readers) {
                known = known || r == reader;
            }
            if (!known) {
                readers.push(reader);
            }
        }
        if (readers.empty() || readers.size() > 3) {
            return false;
        }
        list<int> parts; // large arrays that it is made of
        if (!find_parts(id, id, parts)) {
            return false;
        }
        int again = 0;
        for (int const reader : readers) {
            loads_.begin(next_question_++, n.size);
            for (int k = reader; k > id && k >= first_[reader]; --k) {
                for (int j = 0; j < nodes_[k].operands && group_[k] == reader; ++j) {
                    loads_.add(nodes_[k].in[j] == id ? -1 : nodes_[k].in[j]);
                }
            }
            for (int const part : parts) {
                again += loads_.has(part) || loads_.give(part) ? 0 : 1;
            }
            if (inputs(reader) + inputs(id) > max_group_inputs) {
                return false;
            }
        }
        return again < 1 + readers.size() + parts.size();
    }
    // False where the value may not be computed again.
    constexpr bool find_parts(int id, int end, list<int>& parts) const {
        node const& n = nodes_[id];
        if (n.kind != op::map || !is_cheap(n.function)) { // a product after it, or a reduction
            return false;
        }
        for (int k = 0; k < n.operands; ++k) {
            int const from = n.in[k];
            if (from < 0) {
                continue;
            }
            if (group_[from] == end) {
                if (!find_parts(from, end, parts)) {
                    return false;
                }
            } else if (is_drawn(nodes_[from].kind)) {
                return false;
            } else if (nodes_[from].size == n.size) {
                bool known = false;
                for (int const part : parts) {
                    known = known || part == from;
                }
                if (!known) {
                    parts.push(from);
                }
            }
        }
        return true;
    }

    node const* nodes_;
    window const* windows_;
    int count_;
    int* group_;
    group_end* end_;
    loaded_arrays loads_;
    int next_question_ = 0;
    list<char> kept_, carried_; // per node
    list<int> last_reader_;     // of each node; -1: none
    list<int> first_;           // node of the group that ends with each; -1: none
};

} // namespace castnet::ir
