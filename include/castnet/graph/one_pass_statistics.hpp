// Mean and variance of a batch by one pass over it, for devices that read memory more slowly than
// they compute. With r the running mean, which is near the mean and the same for all replicas,
//
//   mean = r + E[x - r],   variance = E[(x - r)^2] - E[x - r]^2
//
// (Chan, Golub & LeVeque, "Algorithms for computing the sample variance", 1983: shifted data). So
// neither expectation waits for the other. The variance's relative error is that of the type times
// 1 + (mean - r)^2 / variance: large only in the first steps on data whose mean is many deviations
// from 0, where r begins.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// Appends the nodes anew.
class one_pass_statistics {
public:
    constexpr one_pass_statistics(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        find();
        if (!found_) {
            return;
        }
        old_ = std::move(g_.nodes);
        g_.nodes = {};
        g_.nodes.reserve(old_.size() + 256);
        moved_ = list<int>::filled(old_.size(), -1);
        for (int i = 0; i < old_.size(); ++i) {
            node n = old_[i];
            g_.repeat = n.repeat;
            if (variance_of_[i] >= 0) {
                emit(i, variance_of_[i]);
            }
            if (moved_[i] < 0 && !left_out_[i]) {
                for (int k = 0; k < n.operands; ++k) {
                    n.in[k] = n.in[k] < 0 ? n.in[k] : moved_[n.in[k]];
                }
                g_.device = n.device;
                moved_[i] = g_.push(n);
            }
        }
        g_.repeat = -1;
        g_.device = 0;
        move_all(results_.outputs);
        move_all(results_.gradients);
        for (graph::update& u : g_.updates) {
            u.value = moved_[u.value];
        }
        for (parameter& p : g_.parameters) {
            p.node = moved_[p.node];
        }
    }

private:
    constexpr node const& at(int id) const { return g_.nodes.data()[id]; }

    // Of each mean that a running mean follows, and that nothing reads before its variance.
    constexpr void find() {
        int const count = g_.nodes.size();
        variance_of_ = list<int>::filled(count, -1);
        running_ = variance_of_;
        left_out_ = list<char>::with_size(count);
        for (graph::update const& u : g_.updates) {
            for (int id = u.value; moves_running_mean(at(id)); id = at(id).in[0]) {
                running_[at(id).in[1]] = at(id).in[0];
            }
        }
        for (int i = 0; i < count; ++i) {
            node const& squared = at(i);
            if (squared.kind != op::map || squared.function != fn::squared_difference ||
                squared.derivative >= 0 || running_[squared.in[1]] < 0 || i + 1 >= count) {
                continue;
            }
            int const mean = squared.in[1];
            node const &m = at(mean), &v = at(i + 1);
            bool const both = is_sum(m, squared.in[0]) && is_sum(v, i) &&
                              m.operands == v.operands && m.in[1] == v.in[1] &&
                              m.scalar == v.scalar && m.size == v.size;
            if (both && i == mean + 1) {
                variance_of_[mean] = i + 1;
                left_out_[i] = left_out_[i + 1] = 1;
                found_ = true;
            }
        }
    }
    // (A shared layer does so several times.)
    constexpr bool moves_running_mean(node const& n) const {
        return n.kind == op::map && n.function == fn::lerp && at(n.in[1]).kind == op::reduce;
    }
    static constexpr bool is_sum(node const& n, int of) {
        return n.kind == op::reduce && n.reduce == reduction::sum && n.in[0] == of;
    }

    constexpr void emit(int mean, int variance) {
        node sum = old_[mean];
        g_.device = sum.device;
        int const x = moved_[sum.in[0]], running = moved_[running_[mean]];
        extents const from = old_[sum.in[0]].size, to = sum.size;
        sum.in[1] = sum.operands == 2 ? moved_[sum.in[1]] : -1;
        sum.in[0] = map_node(g_, fn::subtract, from, {x, running});
        node squares = sum;
        squares.in[0] = map_node(g_, fn::squared_difference, from, {x, running});
        int const first = g_.push(sum), second = g_.push(squares);
        moved_[mean] = map_node(g_, fn::add, to, {running, first});
        int const square = map_node(g_, fn::square, to, {first});
        int const difference = map_node(g_, fn::subtract, to, {second, square});
        moved_[variance] =
            map_node(g_, fn::maximum, to, {difference, constant_node(g_, 0)}); // but for rounding
    }

    constexpr void move_all(list<int>& ids) const {
        for (int& id : ids) {
            id = id < 0 ? id : moved_[id];
        }
    }

    graph& g_;
    results& results_;
    bool found_ = false;
    list<int> variance_of_; // per old node: of a mean, or -1
    list<int> running_;     // per old node: the running mean that follows it, or -1
    list<char> left_out_;   // per old node: 1 for those that this replaces
    list<node> old_;
    list<int> moved_; // per old node: the new one, or -1
};

} // namespace castnet::ir
