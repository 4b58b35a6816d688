// Joining of the element-wise launches that follow each other in a loop over time: gates and the
// state that they make become one launch, which reads what they have in common once, and which
// leaves the state where the next step reads it.
#pragma once

#include <castnet/plan/fuse.hpp>
#include <castnet/plan/views.hpp>

namespace castnet::ir {

class loop_joiner {
public:
    // Of groups that plan/join.hpp has joined.
    constexpr loop_joiner(graph_view const& g, int* groups, group_end* ends)
        : nodes_{g.nodes}, count_{g.node_count}, group_{groups}, end_{ends},
          first_{list<int>::filled(count_, -1)}, products_{list<char>::with_size(count_)},
          results_{list<int>::filled(count_, 1)}, kept_{kept_nodes(g)} {
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
            for (int id = last - 1; is_joinable(last) && id >= 0; --id) {
                if (group_[id] != id || !is_launched(nodes_[id], nodes_)) {
                    continue;
                }
                if (!is_joinable(id) || !are_alike(id, last) || results_[last] == most_results ||
                    count_inputs(id, last) > max_group_inputs) {
                    break;
                }
                join(id, last);
            }
        }
        keep_what_is_read();
        for (int id = 0; id < count_; ++id) {
            if (nodes_[id].kind == op::feedback && group_[id] == id) {
                join_feedback(id);
            }
        }
        keep_what_is_read();
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
        results_[last] += results_[id];
    }

    // What an element-wise launch makes for the next step, too, or a product for nobody else.
    constexpr void join_feedback(int id) {
        node const& n = nodes_[id];
        int const made = n.in[1], state = n.in[0], last = made < 0 ? -1 : group_[made];
        if (last < 0 || end_[last] != group_end::launched || nodes_[last].loop != n.loop ||
            nodes_[last].device != n.device || nodes_[last].repeat != n.repeat ||
            nodes_[state].stored == storage::over_slice) {
            return;
        }
        // (a product reads all of a state for each of its results)
        int const before = is_product(last) ? last - 1 : last;
        if (nodes_[state].stored != storage::array && is_read_from(state, before)) {
            return;
        }
        bool const is_result = made == last || end_[made] == group_end::joined;
        if (is_joinable(last) ? is_result && results_[last] < most_results
                              : is_product(made) && nodes_[state].stored == storage::one_step &&
                                    !is_read_elsewhere(made, id)) {
            group_[id] = last;
            end_[id] = group_end::joined;
            results_[last] += 1;
        }
    }
    // On its own.
    constexpr bool is_product(int id) const {
        op const kind = nodes_[id].kind;
        return (kind == op::matmul || kind == op::matmul_data) && group_[id] == id &&
               first_[id] == id;
    }
    // Whether launches after this one read an array or, through a view, this one or those: it would
    // be that of the next step.
    constexpr bool is_read_from(int id, int last) const {
        for (int k = 0; k < count_; ++k) {
            for (int j = nodes_[k].kind == op::feedback ? 1 : 0; j < nodes_[k].operands; ++j) {
                if (nodes_[k].in[j] == id &&
                    (is_view(nodes_[k], nodes_) ? is_read_from(k, last - 1)
                                                : group_[k] < 0 || group_[k] > last)) {
                    return true;
                }
            }
        }
        return false;
    }
    // Results that only their launch reads become functions like its others.
    constexpr void keep_what_is_read() {
        for (int id = 0; id < count_; ++id) {
            node const& n = nodes_[id];
            if (n.kind == op::map && n.loop >= 0 && group_[id] >= 0 && group_[id] != id &&
                end_[id] == group_end::joined && !is_read_elsewhere(id)) {
                end_[id] = group_end::launched;
                results_[group_[id]] -= 1;
            }
        }
    }
    // Than in its own launch, or by this node.
    constexpr bool is_read_elsewhere(int id, int reader = -1) const {
        for (int const kept : kept_) {
            if (base_of(kept, nodes_) == id) {
                return true;
            }
        }
        for (int k = 0; k < count_; ++k) {
            for (int j = 0; j < nodes_[k].operands && group_[k] != group_[id]; ++j) {
                if (nodes_[k].in[j] == id && k != reader) {
                    return true;
                }
            }
        }
        return false;
    }

    node const* nodes_;
    int count_;
    int* group_;
    group_end* end_;
    list<int> first_;     // node of the group that ends with each; -1: none
    list<char> products_; // whether that group has something else than functions
    list<int> results_;   // of that group
    list<int> kept_;      // nodes that are read after the plan
};

} // namespace castnet::ir
