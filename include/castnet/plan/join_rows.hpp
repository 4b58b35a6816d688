// Joining of launches by rows: reductions of rows, and what is computed of the same rows with
// their results, become one launch, in which a row stays in the cache of whoever computes it.
//
// So layer normalisation is one launch, and so are softmax, cross-entropy, its metrics, their sums
// over the samples and its gradient. A row is the channels of one pixel.
#pragma once

#include <castnet/plan/fuse.hpp>
#include <castnet/plan/instruction.hpp>
#include <castnet/plan/views.hpp>

namespace castnet::ir {

class row_joiner {
public:
    // Of groups that plan/join.hpp has joined.
    constexpr row_joiner(graph_view const& g, int* groups, group_end* ends)
        : nodes_{g.nodes}, count_{g.node_count}, group_{groups}, end_{ends},
          first_{list<int>::filled(count_, -1)}, next_{first_},
          carried_{carried_nodes(g.nodes, g.node_count, g.repeat_count)},
          follower_{list<char>::with_size(count_)} {
        for (int i = count_ - 1; i >= 0; --i) {
            if (int const end = group_[i]; end >= 0) {
                next_[i] = first_[end];
                first_[end] = i;
            }
        }
    }

    // Whatever follows joins the first reduction, or what is stored with it, whose place the launch
    // has.
    constexpr void run() {
        for (int id = 0; id < count_; ++id) {
            if (!is_launch(id)) {
                continue;
            }
            space_ = nodes_[id].kind == op::map ? nodes_[id].size : nodes_[nodes_[id].in[0]].size;
            if (!reduces_rows(id) && !is_stored_with_rows(id)) {
                continue;
            }
            size_ = size_of(id);
            int const last = id + near < count_ ? id + near : count_ - 1;
            for (int other = id + 1; other <= last; ++other) {
                if (is_launch(other) && may_follow(other, id)) {
                    join(other, id);
                }
            }
        }
    }

private:
    static constexpr int near = 32;            // nodes from the first launch to the last
    static constexpr int most_channels = 8192; // more would leave too much to one block
    static constexpr int most_results = 8;

    // Counts of a launch's operands and results.
    struct launch_size {
        int arrays = 0, scalars = 0, results = 0;

        constexpr launch_size operator+(launch_size const& other) const {
            return {arrays + other.arrays, scalars + other.scalars, results + other.results};
        }
        constexpr bool fits() const {
            return arrays <= max_arrays && scalars <= max_scalars && results <= most_results;
        }
    };
    constexpr launch_size size_of(int id) const {
        launch_size all;
        for (int k = first_[id]; k >= 0; k = next_[k]) {
            add_operands(k, id, all);
            if (k == id || end_[k] == group_end::joined) {
                all.results += 1;
                all.scalars += nodes_[k].kind == op::reduce ? 2 : 0; // its factor, its result
            }
        }
        return all;
    }
    constexpr void add_operands(int id, int end, launch_size& all) const {
        for (int k = 0; k < nodes_[id].operands; ++k) {
            int const from = nodes_[id].in[k];
            if (from < 0 || group_[from] == end) {
                continue;
            }
            if (is_computed_again(from)) {
                add_operands(from, group_[from], all);
            } else {
                op const kind = nodes_[from].kind;
                bool const drawn = is_drawn(kind);
                all.arrays += kind == op::constant || drawn ? 0 : 1;
                all.scalars += drawn ? 2 : kind == op::constant || kind == op::sample_mask ? 1 : 0;
            }
        }
    }
    constexpr bool is_computed_again(int id) const {
        return group_[id] >= 0 && end_[group_[id]] == group_end::computed_again;
    }

    constexpr bool is_launch(int id) const {
        node const& n = nodes_[id];
        return group_[id] == id && end_[id] == group_end::launched && n.loop < 0 &&
               n.stored == storage::array && (n.kind == op::reduce || n.kind == op::map);
    }
    // To one number for each row of its operand.
    constexpr bool reduces_rows(int id) const {
        node const& n = nodes_[id];
        if (n.kind != op::reduce) {
            return false;
        }
        extents const& from = nodes_[n.in[0]].size;
        return n.size.sample && n.size.channels == 1 && from.channels > 1 &&
               from.channels <= most_channels && n.size.pixels == from.pixels;
    }
    // An array of which sums of rows are results of the same launch.
    constexpr bool is_stored_with_rows(int id) const {
        bool found = false;
        for (int k = nodes_[id].kind == op::map ? first_[id] : -1; k >= 0; k = next_[k]) {
            bool const is_sum = end_[k] == group_end::joined;
            if (is_sum ? !is_row_of_space(k) : nodes_[k].kind != op::map) {
                return false;
            }
            found = found || is_sum;
        }
        return found;
    }
    // A sum over all samples and pixels of what there is one of for each row.
    constexpr bool sums_over_rows(int id) const {
        node const& n = nodes_[id];
        return n.kind == op::reduce && n.reduce == reduction::sum && !n.size.sample &&
               n.size.count() == 1 && is_of_rows(nodes_[n.in[0]].size);
    }
    constexpr bool is_of_rows(extents const& e) const {
        return e.sample && e.channels == 1 && e.pixels == space_.pixels;
    }

    // Whether the launch that ends with `id` can follow the reduction `rows`, in one with it.
    constexpr bool may_follow(int id, int rows) {
        node const& n = nodes_[id];
        if (n.repeat != nodes_[rows].repeat || n.device != nodes_[rows].device ||
            !(size_ + size_of(id)).fits()) {
            return false;
        }
        bool follows = false;
        for (int k = first_[id]; k >= 0; k = next_[k]) {
            bool const is_end = k == id || end_[k] == group_end::joined;
            if (nodes_[k].kind != op::map && nodes_[k].kind != op::reduce) {
                return false;
            }
            if (is_end && (k < rows || carried_[k] || !is_result(k))) {
                return false;
            }
            for (int j = 0; j < nodes_[k].operands; ++j) {
                int const from = nodes_[k].in[j];
                if (from >= 0 && group_[from] != id && !is_there(from, rows, follows)) {
                    return false;
                }
            }
        }
        return follows;
    }
    constexpr bool is_result(int id) const {
        node const& n = nodes_[id];
        return n.kind == op::map ? n.size == space_ || is_of_rows(n.size)
                                 : sums_over_rows(id) || is_row_of_space(id);
    }
    constexpr bool is_row_of_space(int id) const {
        return reduces_rows(id) && nodes_[nodes_[id].in[0]].size == space_;
    }
    // Whether a value is there when the rows are reduced, or made of them; `follows` becomes true
    // if it is one of their results, or made of these.
    constexpr bool is_there(int id, int rows, bool& follows) const {
        node const& n = nodes_[id];
        if (traits_of(n).source) {
            return true;
        }
        if (group_[id] == rows) {
            follows = follows || n.kind == op::reduce || follower_[id] != 0;
            return n.kind == op::map || reduces_rows(id);
        }
        if (is_computed_again(id)) {
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0 && !is_there(n.in[k], rows, follows)) {
                    return false;
                }
            }
            return true;
        }
        int const made = group_[base_of(id, nodes_)];
        return made >= 0 && made < rows;
    }

    constexpr void join(int id, int rows) {
        size_ = size_ + size_of(id);
        for (int k = first_[id]; k >= 0; k = next_[k]) {
            group_[k] = rows;
        }
        end_[id] = group_end::joined;
        follower_[id] = 1;
    }

    node const* nodes_;
    int count_;
    int* group_;
    group_end* end_;
    list<int> first_, next_; // per group, the first of its nodes; per node, the next one there
    list<char> carried_;     // per node
    list<char> follower_;    // per node: the end of a launch that has joined others
    extents space_{};        // of the rows
    launch_size size_{};     // of the launch that grows
};

} // namespace castnet::ir
