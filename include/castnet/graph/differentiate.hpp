// Reverse-mode differentiation: appends to a graph the nodes that compute the gradient of
// sum over samples of weight * loss by every trainable parameter, and by inputs where asked.
#pragma once

#include <castnet/graph/function_table.hpp>
#include <castnet/graph/reduce.hpp>

namespace castnet {

class differentiation {
public:
    // `by_inputs`: inputs have gradients too, as saliency maps and adversarial samples need them.
    constexpr explicit differentiation(graph& g, bool by_inputs = false)
        : g_{g}, forward_{g.nodes.size()}, gradient_{list<int>::filled(forward_, -1)},
          wanted_{list<char>::filled(forward_, 0)} {
        char* const wanted = wanted_.data();
        for (int i = 0; i < forward_; ++i) {
            node const& n = g.nodes.data()[i];
            wanted[i] = wants(n, wanted) || (by_inputs && n.kind == op::input) ? 1 : 0;
        }
    }

    // Sends `seed` (a node) backwards from `loss`. Returns the gradient's node for each of
    // g.parameters, -1 for those that are frozen or that the loss does not depend on.
    constexpr list<int> run(int loss, int seed) {
        gradient_[loss] = seed;
        g_.nodes.reserve(2 * forward_ + 64);
        for (int i = forward_ - 1; i >= 0; --i) {
            int const gradient = gradient_.data()[i];
            if (gradient >= 0 && wanted_.data()[i]) {
                g_.device = at(i).device;
                visit(i, gradient);
            }
        }
        list<int> result;
        list<char> taken = list<char>::filled(g_.nodes.size(), 0);
        for (parameter const& p : g_.parameters) {
            int gradient = p.trainable ? gradient_[p.node] : -1;
            // each its own array: not the same for two parameters, nor another's in another shape
            if (gradient >= 0 && (taken[gradient] || at(gradient).kind == op::reshape)) {
                g_.device = at(gradient).device;
                gradient = times(gradient, constant_node(g_, 1), at(gradient).size);
            } else if (gradient >= 0) {
                taken[gradient] = 1;
            }
            result.push(gradient);
        }
        return result;
    }

    // The gradient's node for a node of the network after run(), or -1.
    constexpr int by(int id) const { return gradient_[id]; }

private:
    constexpr node const& at(int i) const { return g_.nodes.data()[i]; }
    constexpr bool wanted(int i) const { return wanted_.data()[i]; }

    constexpr bool wants(node const& n, char const* wanted) const {
        switch (n.kind) {
        case op::parameter:
            return g_.parameters[n.attribute].trainable;
        case op::map: {
            unsigned const* const reads = function_table[n.function].reads;
            for (int k = 0; k < n.operands; ++k) {
                if (wanted[n.in[k]] && reads[k] != no_gradient) {
                    return true;
                }
            }
            return false;
        }
        case op::reduce:
            return n.reduce != reduction::argmax && n.reduce != reduction::strict_argmax &&
                   n.attribute != detached && wanted[n.in[0]];
        default:
            for (int k = 0; k < n.operands; ++k) {
                if (wanted[n.in[k]]) {
                    return true;
                }
            }
            return false;
        }
    }

    constexpr int map(fn f, extents size, std::initializer_list<int> operands) {
        return map_node(g_, f, size, operands);
    }
    constexpr int times(int a, int b, extents size) { return map(fn::multiply, size, {a, b}); }

    // gradient * derivative of node i by its input k. `value` is the node that holds its value.
    constexpr int chain(int i, int k, unsigned reads, int gradient) {
        return chain(i, k, reads, gradient, i);
    }
    constexpr int chain(int i, int k, unsigned reads, int gradient, int value) {
        node n = at(i);
        n.size = at(value).size;
        n.derivative = k;
        n.rank = 0;
        n.attribute = -1;
        int const arity = n.operands;
        for (int j = 0; j < arity; ++j) {
            n.in[j] = (reads >> j & 1U) != 0 ? again(n.in[j]) : -1;
        }
        n.in[arity] = (reads >> arity & 1U) != 0 ? value : -1;
        n.in[arity + 1] = gradient;
        n.operands = arity + 2;
        return g_.push(n);
    }

    // The node that the backward pass reads for node i: itself, unless it is a comparison or a
    // difference of one array with sources or with something smaller, which costs less to compute
    // again than to store.
    constexpr int again(int i) {
        node n = at(i);
        if (n.kind != op::map || n.derivative >= 0 || !costs_little(n.function)) {
            return i;
        }
        int arrays = 0;
        for (int k = 0; k < n.operands; ++k) {
            node const& x = at(n.in[k]);
            arrays += x.kind > op::bernoulli && x.size == n.size;
        }
        if (arrays > 1) {
            return i;
        }
        for (int k = 0; k < n.operands; ++k) {
            n.in[k] = again(n.in[k]);
        }
        return g_.push(n);
    }
    static constexpr bool costs_little(fn f) {
        return f == fn::subtract || f == fn::equal || f == fn::less || f == fn::greater;
    }

    // Adds a contribution to the gradient of node i; sums what was broadcast on the way there.
    constexpr void accumulate(int i, int contribution) {
        if (!wanted(i)) {
            return;
        }
        extents const to = at(i).size;
        if (!to.sample && to.pixels == 1 && at(contribution).kind == op::max_pool_gradient) {
            contribution = at(contribution).in[1]; // which has the same sum over the pixels
        }
        if (!(at(contribution).size == to)) {
            contribution = g_.push(reduce_node(contribution, reduction::sum, to));
        }
        int& total = gradient_.data()[i];
        if (total < 0) {
            total = contribution;
        } else { // from several devices: at home
            int const device = at(total).device;
            total = map(fn::add, to, {total, contribution});
            g_.nodes[total].device = at(contribution).device == device ? device : at(i).device;
        }
        node& sum = g_.nodes[total];
        sum.rank = at(i).rank; // a reshape asks whether its operand is an image
        for (int k = 0; k < 4; ++k) {
            sum.dims[k] = at(i).dims[k];
        }
    }

    // An operation whose result has the shape of node `like`.
    constexpr int operation(op kind, int like, int attribute, int a, int b = -1) {
        node n = at(like);
        n.kind = kind;
        n.derivative = -1;
        n.attribute = attribute;
        n.operands = b < 0 ? 1 : 2;
        n.in[0] = a;
        n.in[1] = b;
        return g_.push(n);
    }

    constexpr void visit(int i, int g) {
        node const& n = at(i);
        int const x = n.in[0], attribute = n.attribute;
        switch (n.kind) {
        case op::map:
            if (n.function == fn::normalize && attribute >= 0) {
                batch_norm(i, g);
            } else {
                functions(i, g);
            }
            break;
        case op::reduce:
            reduce(i, g);
            break;
        case op::matmul:
            product(n, g, op::matmul_data, op::matmul_weight);
            break;
        case op::conv:
            product(n, g, op::conv_data, op::conv_weight);
            break;
        case op::max_pool:
            max_pool(i, g);
            break;
        case op::avg_pool:
            accumulate(x, operation(op::avg_pool_gradient, x, attribute, g));
            break;
        case op::upsample:
            accumulate(x, operation(op::upsample_gradient, x, attribute, g));
            break;
        case op::reshape:
            accumulate(x, operation(op::reshape, x, attribute, g));
            break;
        case op::concat:
            split(i, g);
            break;
        case op::slice:
            accumulate(x, operation(op::slice_gradient, x, attribute, g));
            break;
        case op::input:
        case op::target:
        case op::sample_weight:
        case op::present_count:
        case op::parameter:
        case op::constant:
        case op::index:
        case op::presence:
        case op::bernoulli:
            break; // sources: where gradients end
        case op::matmul_data:
        case op::matmul_weight:
        case op::conv_data:
        case op::conv_weight:
        case op::max_pool_winner:
        case op::max_pool_gradient:
        case op::avg_pool_gradient:
        case op::upsample_gradient:
        case op::slice_gradient:
        case op::copy:
        case op::count:
            throw "castnet: an operation of the network has no gradient";
        }
    }

    constexpr void functions(int i, int g) {
        function_entry const& f = function_table[at(i).function];
        for (int k = 0; k < f.arity; ++k) {
            int const x = at(i).in[k];
            unsigned const reads = f.reads[k];
            if (!wanted(x) || reads == no_gradient) {
                continue;
            }
            if (reads != 0) {
                accumulate(x, chain(i, k, reads, g));
            } else { // a constant derivative: 1 or -1
                accumulate(x, f.slope[k] == 1 ? g : map(fn::negate, at(i).size, {g}));
            }
        }
    }

    constexpr void reduce(int i, int g) {
        node const n = at(i);
        int const x = n.in[0];
        extents const size = at(x).size;
        int d = -1;
        switch (n.reduce) {
        case reduction::sum:
            d = constant_node(g_, n.scalar);
            break;
        case reduction::max:
            d = map(fn::equal, size, {x, i});
            break;
        case reduction::log_sum_exp: // softmax
            d = map(fn::exp, size, {map(fn::subtract, size, {again(x), i})});
            break;
        case reduction::argmax:
        case reduction::strict_argmax:
            return;
        }
        int const gradient = times(g, d, size);
        accumulate(x, n.operands == 2 ? times(gradient, n.in[1], size) : gradient);
    }

    // The winners of the windows get the gradient. A function before the pooling whose derivative
    // depends on its value only has that value there after the pooling, too: its derivative is
    // taken on the small image, and the large one need not be kept.
    constexpr void max_pool(int i, int g) {
        int const x = at(i).in[0], attribute = at(i).attribute;
        int const winner = operation(op::max_pool_winner, i, attribute, x, i);
        node const& f = at(x);
        unsigned const by_value = f.kind == op::map ? 1U << f.operands : 0;
        bool const only = f.kind == op::map && f.operands == 1 && gradient_[x] < 0 &&
                          function_table[f.function].reads[0] == by_value && read_once(x);
        int to = x;
        if (only) {
            to = f.in[0];
            g = chain(x, 0, by_value, g, i);
        }
        accumulate(to, operation(op::max_pool_gradient, x, attribute, winner, g));
    }

    // Whether one node only of the network reads this one, and it is no result.
    constexpr bool read_once(int x) const {
        int readers = 0;
        for (int i = x + 1; i < forward_; ++i) {
            for (int k = 0; k < at(i).operands; ++k) {
                readers += at(i).in[k] == x;
            }
        }
        return readers == 1;
    }

    constexpr void product(node const& n, int g, op data, op weight) {
        int const x = n.in[0], w = n.in[1], attribute = n.attribute;
        if (wanted(x)) {
            accumulate(x, operation(data, x, attribute, g, w));
        }
        if (wanted(w)) {
            accumulate(w, operation(weight, w, attribute, x, g));
        }
    }

    constexpr void split(int i, int g) {
        node const n = at(i);
        int first = 0;
        for (int k = 0; k < n.operands; ++k) {
            if (wanted(n.in[k])) {
                accumulate(n.in[k], operation(op::slice, n.in[k], first, g));
            }
            first += at(n.in[k]).size.channels;
        }
    }

    // Batch statistics are functions of x too; the sums for gamma and beta serve x as well.
    constexpr void batch_norm(int i, int g) {
        node const n = at(i);
        extents const per_channel{false, 1, n.size.channels};
        int const x = n.in[0], gamma = n.in[3], beta = n.in[4];
        int const hat = chain(i, 3, function_table[fn::normalize].reads[3], g);
        int const sum_gx = g_.push(reduce_node(hat, reduction::sum, per_channel));
        int const sum_g = g_.push(reduce_node(g, reduction::sum, per_channel));
        accumulate(gamma, sum_gx);
        accumulate(beta, sum_g);
        if (wanted(x)) {
            accumulate(x, map(fn::normalize_gradient, n.size,
                              {g, x, n.in[1], n.in[2], gamma, sum_g, sum_gx, n.attribute}));
        }
    }

    graph& g_;
    int forward_;
    list<int> gradient_;
    list<char> wanted_;
};

} // namespace castnet
