// Folding of batch normalisation into the product or convolution before it, for graphs in which all
// parameters and statistics are constants: with scale = weight * deviation of the normalisation,
//
//   (x W + b - mean) * scale + bias = x (W * scale) + ((b - mean) * scale + bias).
//
// So the product has a scaled weight and a bias, and nothing normalises its result.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew.
class batch_norm_folding {
public:
    constexpr batch_norm_folding(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        find();
        if (!found_) {
            return;
        }
        old_ = std::move(g_.nodes);
        g_.nodes = {};
        g_.nodes.reserve(2 * old_.size());
        moved_ = list<int>::filled(old_.size(), -1);
        for (int i = 0; i < old_.size(); ++i) {
            if (norm_behind_[i] >= 0) {
                fold(i, norm_behind_[i]);
            } else if (!left_out_[i]) {
                move(i);
            }
        }
        for (int& output : results_.outputs) {
            output = moved_[output];
        }
        for (parameter& p : g_.parameters) {
            p.node = moved_[p.node];
        }
    }

private:
    // Where nobody else reads the product or its sum with a bias.
    constexpr void find() {
        int const count = g_.nodes.size();
        node const* const nodes = g_.nodes.data();
        list<int> reads = list<int>::with_size(count);
        int* const readers = reads.data();
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k < nodes[i].operands; ++k) {
                if (nodes[i].in[k] >= 0) {
                    readers[nodes[i].in[k]] += 1;
                }
            }
        }
        for (int const output : results_.outputs) {
            readers[output] += 1;
        }
        norm_behind_ = list<int>::filled(count, -1);
        left_out_ = list<char>::with_size(count);
        for (int i = 0; i < count; ++i) {
            node const& n = nodes[i];
            if (n.kind != op::map || n.function != fn::normalize || n.derivative >= 0 ||
                n.loop >= 0 || !has_constants(n, nodes) || ends_block(i, nodes, count)) {
                continue;
            }
            int const sum = adds_bias(nodes[n.in[0]], nodes) ? n.in[0] : -1;
            int const product = sum >= 0 ? nodes[sum].in[0] : n.in[0];
            node const& p = nodes[product];
            bool const folds = (p.kind == op::conv || p.kind == op::matmul) &&
                               nodes[p.in[1]].kind == op::parameter && p.size == n.size &&
                               readers[product] == 1 && (sum < 0 || readers[sum] == 1);
            if (folds) {
                norm_behind_[product] = i;
                left_out_[i] = 1;
                if (sum >= 0) {
                    left_out_[sum] = 1;
                }
                found_ = true;
            }
        }
    }

    static constexpr bool has_constants(node const& n, node const* nodes) {
        node const& deviation = nodes[n.in[2]];
        auto const is_constant = [&](int id) {
            return nodes[id].kind == op::parameter || nodes[id].kind == op::constant;
        };
        return nodes[n.in[1]].kind == op::parameter && is_constant(n.in[3]) &&
               is_constant(n.in[4]) && deviation.kind == op::map &&
               deviation.function == fn::inverse_deviation &&
               nodes[deviation.in[0]].kind == op::parameter;
    }
    // The result of a repeated block has to stay its last node.
    static constexpr bool ends_block(int i, node const* nodes, int count) {
        return i + 1 < count && nodes[i + 1].kind == op::repeated;
    }
    static constexpr bool adds_bias(node const& n, node const* nodes) {
        return n.kind == op::map && n.function == fn::add && n.derivative < 0 &&
               nodes[n.in[1]].kind == op::parameter &&
               nodes[n.in[1]].size == extents{false, 1, n.size.channels};
    }

    // The new node of an old one and, before it, those of its operands.
    constexpr int move(int id) {
        if (moved_[id] < 0) {
            node n = old_[id];
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0) {
                    n.in[k] = move(n.in[k]);
                }
            }
            moved_[id] = g_.append(n);
        }
        return moved_[id];
    }

    constexpr void fold(int product, int norm) {
        node const& y = old_[norm];
        g_.repeat = y.repeat;
        int const x = y.in[0];
        int const filters = y.size.channels;
        extents const vector{false, 1, filters};
        int const mean = move(y.in[1]), deviation = move(y.in[2]), gamma = move(y.in[3]),
                  beta = move(y.in[4]);
        int const scale = map_node(g_, fn::multiply, vector, {deviation, gamma});
        int const centre = x == product
                               ? map_node(g_, fn::negate, vector, {mean})
                               : map_node(g_, fn::subtract, vector, {move(old_[x].in[1]), mean});
        int const shift = map_node(g_, fn::add, vector,
                                   {map_node(g_, fn::multiply, vector, {centre, scale}), beta});
        node p = old_[product];
        p.in[0] = move(p.in[0]);
        // Filters lie innermost in the memory of every weight.
        node weight;
        weight.kind = op::reshape;
        weight.attribute = as_stored;
        weight.operands = 1;
        weight.in[0] = move(p.in[1]);
        weight.size = {false, int(old_[p.in[1]].size.count()) / filters, filters};
        p.in[1] = map_node(g_, fn::multiply, weight.size, {g_.push(weight), scale});
        g_.nodes.push(p);
        moved_[product] = g_.nodes.size() - 1;
        moved_[norm] = map_node(g_, fn::add, y.size, {moved_[product], shift});
        g_.repeat = -1;
    }

    graph& g_;
    results& results_;
    bool found_ = false;
    list<int> norm_behind_; // per old node: the normalisation that is folded into it, or -1
    list<char> left_out_;   // per old node: 1 for those that this replaces
    list<node> old_;
    list<int> moved_; // per old node: the new one, or -1
};

} // namespace castnet::ir
