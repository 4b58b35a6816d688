// Reverse-mode differentiation: appends to a graph the nodes that compute the gradient of
// sum over samples of weight * loss by every trainable parameter, and by inputs where asked.
#pragma once

#include <castnet/graph/function_table.hpp>
#include <castnet/graph/reduce.hpp>

#include <castnet/core/list.hpp>

namespace castnet {

class differentiation {
public:
    // `by_inputs`: inputs have gradients too, as saliency maps and adversarial samples need them.
    constexpr explicit differentiation(graph& g, bool by_inputs = false)
        : g_{g}, forward_{g.nodes.size()}, gradient_{list<int>::filled(g.nodes.size(), -1)},
          wanted_{list<char>::filled(g.nodes.size(), 0)} {
        for (int i = 0; i < forward_; ++i) {
            wanted_[i] = wants(i) || (by_inputs && at(i).kind == op::input);
        }
    }

    // Sends `seed` (a node) backwards from `loss`. Returns the gradient's node for each of
    // g.parameters, -1 for those that are frozen or that the loss does not depend on.
    constexpr list<int> run(int loss, int seed) {
        gradient_[loss] = seed;
        for (int i = forward_ - 1; i >= 0; --i) {
            if (gradient_[i] >= 0 && wanted_[i]) {
                visit(i, gradient_[i]);
            }
        }
        list<int> result;
        for (parameter const& p : g_.parameters) {
            result.push(p.trainable ? own(gradient_[p.node], result) : -1);
        }
        return result;
    }

    // The gradient's node for a node of the network after run(), or -1.
    constexpr int by(int id) const { return gradient_[id]; }

private:
    constexpr node const& at(int i) const { return g_.nodes[i]; }

    constexpr bool wants(int i) const {
        node const& n = at(i);
        if (n.kind == op::parameter) {
            return g_.parameters[n.attribute].trainable;
        }
        if (n.kind == op::reduce && n.reduce == reduction::argmax) {
            return false;
        }
        for (int k = 0; k < n.operands; ++k) {
            bool const blocked =
                n.kind == op::map && function_table[n.function].reads[k] == no_gradient;
            if (!blocked && wanted_[n.in[k]]) {
                return true;
            }
        }
        return false;
    }

    // Two parameters whose gradients are the same node each need their own copy.
    constexpr int own(int gradient, list<int> const& taken) {
        for (int other : taken) {
            if (gradient >= 0 && other == gradient) {
                return times(gradient, constant_node(g_, 1), at(gradient).size);
            }
        }
        return gradient;
    }

    constexpr int map(fn f, extents size, std::initializer_list<int> operands) {
        return g_.push(
            map_node(g_, f, size, operands.begin(), static_cast<int>(operands.size())));
    }
    constexpr int times(int a, int b, extents size) { return map(fn::multiply, size, {a, b}); }

    // Adds a contribution to the gradient of node i; sums what was broadcast on the way there.
    constexpr void accumulate(int i, int contribution) {
        if (!wanted_[i]) {
            return;
        }
        extents const to = at(i).size;
        if (at(contribution).size != to) {
            contribution = g_.push(reduce_node(contribution, reduction::sum, to));
        }
        int& total = gradient_[i];
        total = total < 0 ? contribution : map(fn::add, to, {total, contribution});
        node& sum = g_.nodes[total];
        sum.rank = at(i).rank; // a reshape asks whether its operand is an image
        for (int k = 0; k < 4; ++k) {
            sum.dims[k] = at(i).dims[k];
        }
    }

    constexpr int operation(op kind, int like, int attribute, std::initializer_list<int> operands) {
        node n = at(like);
        n = node{.kind = kind, .rank = n.rank, .dims = {n.dims[0], n.dims[1], n.dims[2], n.dims[3]},
                 .size = n.size, .attribute = attribute};
        for (int id : operands) {
            n.in[n.operands++] = id;
        }
        return g_.push(n);
    }

    constexpr void visit(int i, int g) {
        node const n = at(i);
        int const x = n.in[0];
        switch (n.kind) {
        case op::map:
            n.function == fn::normalize && n.attribute >= 0 ? batch_norm(n, g) : functions(n, i, g);
            break;
        case op::reduce: reduce(n, i, g); break;
        case op::matmul: product(n, g, op::matmul_data, op::matmul_weight); break;
        case op::conv: product(n, g, op::conv_data, op::conv_weight); break;
        case op::max_pool:
            accumulate(x, operation(op::max_pool_gradient, x, n.attribute, {x, g}));
            break;
        case op::avg_pool:
            accumulate(x, operation(op::avg_pool_gradient, x, n.attribute, {g}));
            break;
        case op::upsample:
            accumulate(x, operation(op::upsample_gradient, x, n.attribute, {g}));
            break;
        case op::reshape: accumulate(x, operation(op::reshape, x, -1, {g})); break;
        case op::concat: {
            int first = 0;
            for (int k = 0; k < n.operands; ++k) {
                if (wanted_[n.in[k]]) {
                    accumulate(n.in[k], operation(op::slice, n.in[k], first, {g}));
                }
                first += at(n.in[k]).size.channels;
            }
            break;
        }
        default: break;
        }
    }

    constexpr void functions(node const& n, int i, int g) {
        function_entry const& f = function_table[n.function];
        for (int k = 0; k < n.operands; ++k) {
            if (!wanted_[n.in[k]] || f.reads[k] == no_gradient) {
                continue;
            }
            if (f.reads[k] == 0) { // a constant derivative: 1 or -1
                accumulate(n.in[k], f.slope[k] == 1 ? g : map(fn::negate, n.size, {g}));
                continue;
            }
            node d = map_node(g_, n.function, n.size, n.in, n.operands);
            d.derivative = k;
            d.in[d.operands++] = i;
            for (int j = 0; j < d.operands; ++j) {
                if ((f.reads[k] >> j & 1U) == 0) {
                    d.in[j] = -1;
                }
            }
            accumulate(n.in[k], times(g, g_.push(d), n.size));
        }
    }

    constexpr void reduce(node const& n, int i, int g) {
        int const x = n.in[0];
        extents const size = at(x).size;
        switch (n.reduce) {
        case reduction::sum: accumulate(x, times(g, constant_node(g_, n.scalar), size)); break;
        case reduction::max:
            accumulate(x, times(g, map(fn::equal, size, {x, i}), size));
            break;
        case reduction::log_sum_exp: { // softmax
            int const d = map(fn::exp, size, {map(fn::subtract, size, {x, i})});
            accumulate(x, times(g, d, size));
            break;
        }
        case reduction::argmax: break;
        }
    }

    constexpr void product(node const& n, int g, op data, op weight) {
        if (wanted_[n.in[0]]) {
            accumulate(n.in[0], operation(data, n.in[0], n.attribute, {g, n.in[1]}));
        }
        if (wanted_[n.in[1]]) {
            accumulate(n.in[1], operation(weight, n.in[1], n.attribute, {n.in[0], g}));
        }
    }

    // Batch statistics are functions of x too; the sums for gamma and beta serve x as well.
    constexpr void batch_norm(node const& n, int g) {
        int const x = n.in[0], mean = n.in[1], deviation = n.in[2], gamma = n.in[3], beta = n.in[4];
        node hat = map_node(g_, fn::normalize, n.size, n.in, n.operands);
        hat.derivative = 3;
        hat.in[hat.operands++] = -1;
        hat.in[3] = hat.in[4] = -1;
        extents const per_channel{false, 1, n.size.channels};
        int const sum_g = g_.push(reduce_node(g, reduction::sum, per_channel));
        int const sum_gx =
            g_.push(reduce_node(times(g, g_.push(hat), n.size), reduction::sum, per_channel));
        accumulate(gamma, sum_gx);
        accumulate(beta, sum_g);
        if (wanted_[x]) {
            accumulate(x, map(fn::normalize_gradient, n.size,
                              {g, x, mean, deviation, gamma, sum_g, sum_gx, n.attribute}));
        }
    }

    graph& g_;
    int forward_;
    list<int> gradient_;
    list<char> wanted_;
};

} // namespace castnet
