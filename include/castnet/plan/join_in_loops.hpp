// Joining of the element-wise launches that follow each other in a loop over time: gates and the
// state that they make become one launch, which reads what they have in common once.
#pragma once

#include <castnet/plan/fuse.hpp>
#include <castnet/plan/mixed_precision.hpp>

namespace castnet::ir {

class loop_joiner {
public:
    // Of groups that plan/join.hpp has joined.
    constexpr loop_joiner(graph_view const& g, int* groups, group_end* ends)
        : nodes_{g.nodes}, count_{g.node_count}, group_{groups}, end_{ends},
          first_{list<int>::filled(count_, -1)}, products_{list<char>::filled(count_, 0)} {
        for (int i = count_ - 1; i >= 0; --i) {
            if (int const end = group_[i]; end >= 0) {
                first_[end] = i;
                if (nodes_[i].kind != op::map) {
                    products_[end] = 1;
                }
            }
        }
    }

    // A launch has the place of the last one. Nothing is launched between them, so that nobody
    // reads a result earlier, or overwrites what is read later.
    constexpr void run() {
        for (int last = count_ - 1; last > 0; --last) {
            for (int id = last - 1, results = 1; is_joinable(last) && id >= 0; --id) {
                if (group_[id] != id || !is_launched(nodes_[id], nodes_)) {
                    continue;
                }
                if (!is_joinable(id) || !are_alike(id, last) || results == most_results ||
                    count_inputs(id, last) > max_group_inputs) {
                    break;
                }
                join(id, last);
                ++results;
            }
        }
    }

private:
    static constexpr int most_results = 8;

    constexpr bool is_joinable(int id) const {
        return group_[id] == id && end_[id] == group_end::launched && nodes_[id].loop >= 0 &&
               nodes_[id].kind == op::map && products_[id] == 0;
    }
    constexpr bool are_alike(int id, int last) const {
        node const &a = nodes_[id], &b = nodes_[last];
        return a.loop == b.loop && a.size == b.size && a.repeat == b.repeat && a.device == b.device;
    }

    // Of both groups together.
    constexpr int count_inputs(int id, int last) const {
        list<int> inputs;
        for (int k = first_[id] < first_[last] ? first_[id] : first_[last]; k <= last; ++k) {
            for (int j = 0; j < nodes_[k].operands && (group_[k] == id || group_[k] == last); ++j) {
                int const from = nodes_[k].in[j];
                bool known = from < 0 || group_[from] == id || group_[from] == last;
                for (int const input : inputs) {
                    known = known || input == from;
                }
                if (!known) {
                    inputs.push(from);
                }
            }
        }
        return inputs.size();
    }

    constexpr void join(int id, int last) {
        for (int k = first_[id]; k <= id; ++k) {
            group_[k] = group_[k] == id ? last : group_[k];
        }
        first_[last] = first_[id] < first_[last] ? first_[id] : first_[last];
        end_[id] = group_end::joined;
    }

    node const* nodes_;
    int count_;
    int* group_;
    group_end* end_;
    list<int> first_;     // node of the group that ends with each; -1: none
    list<char> products_; // whether that group has something else than functions
};

} // namespace castnet::ir
