// Reverse-mode differentiation: appends to a graph the nodes that compute the gradient of
// sum over samples of weight * loss by every trainable parameter, and by inputs where asked; or
// that of any node by others.
//
// Each operation's gradient is written beside it (graph/op/), with the functions of this class.
#pragma once

#include <castnet/graph/function_table.hpp>
#include <castnet/graph/operation.hpp>
#include <castnet/graph/slice_gradients.hpp>
#include <castnet/graph/symbol_operators.hpp>

namespace castnet::ir {

// Pushes the derivative of an element-wise function by an input: of a node with all operands, whose
// value is node `value`; -1 where there is none.
using derivative_formula = int (*)(graph&, node const&, int input, int value);

class differentiation {
public:
    // `by_inputs`: inputs have gradients too, as saliency maps and adversarial samples need them.
    constexpr explicit differentiation(graph& g, bool by_inputs = false);

    // By these nodes instead.
    constexpr differentiation(graph& g, list<int> const& by);

    // The gradient shall consist of nodes that can be differentiated again.
    constexpr void use_formula(derivative_formula f) {
        formula_ = f;
        has_formula_ = true;
    }

    // Sends `seed` (a node) backwards from `loss`. Returns the gradient's node for each of
    // g.parameters, -1 for those that are frozen or that the loss does not depend on.
    constexpr list<int> run(int loss, int seed);

    // The gradient's node for a node of the network after run(), or -1.
    constexpr int by(int id) const { return gradient_[id]; }

    constexpr graph& nodes() { return g_; }
    constexpr node const& at(int i) const { return g_.nodes.data()[i]; }

    // Whether the gradient of this node is needed.
    constexpr bool wanted(int i) const { return wanted_.data()[i]; }

    constexpr int map(fn f, extents size, std::initializer_list<int> operands) {
        return map_node(g_, f, size, operands);
    }
    constexpr int times(int a, int b, extents size) { return map(fn::multiply, size, {a, b}); }

    // gradient * derivative of node i with respect to its input k. `value` is the node that holds
    // its value.
    constexpr int chain(int i, int k, unsigned reads, int gradient) {
        return chain(i, k, reads, gradient, i);
    }
    constexpr int chain(int i, int k, unsigned reads, int gradient, int value) {
        if (has_formula_) {
            node const of = at(i);
            int const slope = formula_(g_, of, k, value);
            return slope < 0 ? slope : times(gradient, slope, at(value).size);
        }
        node n = at(i);
        n.size = at(value).size;
        n.derivative = k;
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
            arrays += x.operands > 0 && x.size == n.size; // sources have no operands
        }
        if (arrays > 1) {
            return i;
        }
        for (int k = 0; k < n.operands; ++k) {
            n.in[k] = again(n.in[k]);
        }
        return g_.push(n);
    }

    // Adds a contribution to the gradient of node i; sums what was broadcast on the way there.
    constexpr void accumulate(int i, int contribution) {
        if (!wanted(i) || contribution < 0) {
            return;
        }
        check_block_of(i);
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
    }

    // The same of the channels from `first` on.
    constexpr void accumulate_slice(int i, int first, int contribution) {
        if (wanted(i)) {
            check_block_of(i);
            slices_.add(i, first, contribution);
            accumulate(i, slices_.join(g_, i));
        }
    }

    // A node of operation K whose result has the shape of node `like`.
    template <op K>
    constexpr int emit(int like, int attribute, int a, int b = -1) {
        return push_like(at(like), K, own_operation<K>(), attribute, a, b);
    }
    template <op K>
    constexpr int emit(node const& like, int attribute, int a, int b) {
        return push_like(like, K, own_operation<K>(), attribute, a, b);
    }
    constexpr int sum(int x, extents size) { return g_.push(reduce_node(x, reduction::sum, size)); }

    // Whether a single node of the network reads this one, which is no result, and none has sent it
    // a gradient yet.
    constexpr bool read_once(int x) const {
        node const* const nodes = g_.nodes.data();
        int readers = 0;
        for (int i = x + 1; i < forward_ && readers < 2; ++i) {
            node const& n = nodes[i];
            for (int k = 0; k < n.operands; ++k) {
                readers += n.in[k] == x;
            }
        }
        return readers == 1 && gradient_.data()[x] < 0;
    }

    // Loops: the number of the one that runs back through loop k.
    constexpr int loop_back(int k) const { return g_.loops + k; }

    // Repeated blocks: the number of the one that goes back through block k.
    constexpr int repeat_back(int k) const { return g_.repeats.size() + k; }

    // Both have one way back: whether this run is the first to go through loop (block) k, which no
    // other has made. Else it is a mistake.
    constexpr bool first_through_loop(int k) const {
        return first_through(&node::loop, k, g_.loops);
    }
    constexpr bool first_through_repeat(int k) const {
        return first_through(&node::repeat, k, g_.repeats.size());
    }

    // Whether a gradient has arrived at the loop that ends with feedback i, or at its other ends.
    constexpr bool reaches_loop(int i) const {
        int const loop = at(i).loop;
        int first = at(i).in[0];
        while (first > 0 && at(first - 1).kind == op::delay && at(first - 1).loop == loop) {
            --first;
        }
        for (int k = first; k < i; ++k) {
            if (gradient_.data()[k] >= 0) {
                return true;
            }
        }
        return slices_.any_wait(first, i);
    }

    // The gradient of one step of a node, if that is all that has arrived there, which then is no
    // longer the node's; else -1.
    constexpr int take_step(int i, int step) {
        int const all = gradient_.data()[i];
        int const padded = all >= 0 && at(all).kind == op::reshape ? at(all).in[0] : -1;
        if (padded < 0 || at(padded).kind != op::slice_gradient ||
            at(padded).attribute != step * at(i).size.channels ||
            at(at(padded).in[0]).size.channels != at(i).size.channels) {
            return -1;
        }
        gradient_.data()[i] = -1;
        return at(padded).in[0];
    }

    // The delay in the loop back that repeats the gradient of a delay, and the carry of the block
    // back that has the gradient of a carry; -1 for none.
    constexpr void remember(int delay, int back) { delays_.push({delay, back}); }
    constexpr int remembered(int delay) const {
        for (delay_pair const& p : delays_) {
            if (p.delay == delay) {
                return p.back;
            }
        }
        return -1;
    }

private:
    struct delay_pair {
        int delay, back;
    };

    constexpr int push_like(node n, op kind, operation_entry const* own, int attribute, int a,
                            int b) {
        n.kind = kind;
        n.own = own;
        n.derivative = -1;
        n.attribute = attribute;
        n.operands = b < 0 ? 1 : 2;
        n.in[0] = a;
        n.in[1] = b;
        return g_.push(n);
    }

    constexpr bool first_through(int node::* number, int k, int count) const {
        bool first = k < count;
        for (int i = 0; i < forward_; ++i) {
            first = first && at(i).*number != count + k;
        }
        g_.expect(first, mistake::operation_without_gradient);
        return first;
    }

    // Gradients leave a repeated block by its carry alone: no other adds up those of repetitions.
    constexpr void check_block_of(int i) {
        g_.expect(g_.repeat < 0 || g_.repeat == repeat_back(at(i).repeat),
                  mistake::repeated_block_reads);
    }

    // Slices of node i that the others leave alone.
    constexpr void add_lone_slices(int i) {
        slices_.take(i, [&](int first, int gradient) {
            accumulate(i, emit<op::slice_gradient>(i, first, gradient));
        });
    }

    // The gradient of a parameter is an array of its own: not the same for two parameters, nor
    // another's in another shape.
    constexpr void give_array_of_its_own(int parameter) {
        int& gradient = gradient_.data()[parameter];
        if (gradient < 0) {
            return;
        }
        if (taken_.size() <= gradient) {
            taken_.lengthen(2 * gradient + 2);
        }
        if (taken_[gradient] || at(gradient).kind == op::reshape) {
            g_.device = at(gradient).device;
            gradient = times(gradient, constant_node(g_, 1), at(gradient).size);
        } else {
            taken_[gradient] = 1;
        }
    }

    template <class Begins>
    constexpr void find_wanted(Begins const& begins);
    constexpr bool wants(int i, char const* wanted) const;
    static constexpr bool costs_little(fn f) {
        return f == fn::subtract || f == fn::equal || f == fn::less || f == fn::greater;
    }

    graph& g_;
    int forward_;
    derivative_formula formula_ = nullptr;
    bool has_formula_ = false; // (GCC 12 with sanitizers compares no addresses in constants.)
    list<int> gradient_;
    list<char> wanted_;
    list<char> ends_;  // per node: whether it is one of those that were asked for; else empty
    list<char> taken_; // per node: whether it is the gradient of a parameter
    list<delay_pair> delays_;
    slice_gradients slices_;
};

} // namespace castnet::ir
