// Epilogues of products and convolutions: a bias and an activation that are part of the product's
// launch where the device says that it can apply them; and the gradient of a bias, which is part of
// that of the weight.
#pragma once

#include <castnet/plan/kernel_launch.hpp>
#include <castnet/plan/mixed_precision.hpp>

#include <utility>

namespace castnet::ir {

// A device whose kernels or libraries finish results says which chains it gives them.
//   static constexpr bool takes_epilogue(op product, epilogue);
template <class Device>
concept EpilogueDevice = requires { Device::takes_epilogue(op::conv, epilogue{}); };

// One that cannot promise to do so says, when a plan runs, whether a launch's chain was done with
// its product. If not, the kernel of the launch's program runs after it, on its result.
//   static bool finishes(kernel_launch const&, launch_tables const&, context const&);
template <class Device>
concept MayNotFinish = EpilogueDevice<Device> && requires { &Device::finishes; };

// The launch of a product's epilogue by itself: an element-wise one that reads and overwrites the
// product's result, or the reduction of the second factor.
CASTNET_HD constexpr kernel_launch epilogue_launch(kernel_launch s) {
    bool const reduces = s.end.bias_gradient;
    int const unread = reduces ? 1 : 2; // factors
    s.kind = reduces ? op::reduce : op::map;
    s.output += reduces ? 1 : 0;
    s.results = 1;
    s.first_array += unread;
    s.arrays -= unread;
    return s;
}

template <class Device>
class epilogue_finder {
public:
    constexpr epilogue_finder(graph_view const& g, list<int>& groups)
        : g_{g}, nodes_{g.nodes}, count_{g.node_count}, group_{groups.data()}, kept_{kept_nodes(g)},
          carried_{carried_nodes(nodes_, count_, g.repeat_count)},
          readers_{list<int>::with_size(count_)}, functions_{list<int>::with_size(count_)} {}

    // Products and convolutions that are finished by a chain join its group, gradients of biases
    // that of the weight's gradient.
    constexpr void run() {
        int* const readers = readers_.data();
        int* const functions = functions_.data();
        for (int i = 0; i < count_; ++i) {
            node const& n = nodes_[i];
            if (group_[i] >= 0) {
                functions[group_[i]] += 1;
                for (int k = 0; k < n.operands; ++k) {
                    if (n.in[k] >= 0) {
                        readers[n.in[k]] += 1;
                    }
                }
            }
        }
        if constexpr (Device::takes_epilogue(op::matmul_weight, of_bias_gradient)) {
            join_bias_gradients();
        }
        for (int const id : kept_) {
            readers[id] += 1;
        }
        for (int i = 0; i < count_; ++i) {
            if (group_[i] == i && nodes_[i].kind == op::map) {
                join(i);
            }
        }
    }

    // Of the group that ends with node `last` and begins with node `first`.
    static constexpr epilogue between(node const* nodes, int first, int last) {
        return first == last ? epilogue{true} : epilogue{true, true, nodes[last].function};
    }

private:
    static constexpr epilogue of_bias_gradient{.bias_gradient = true};

    // Those that nobody else reads.
    constexpr void join_bias_gradients() {
        list<int> sums = list<int>::filled(count_, -1);
        int* const sum_of = sums.data(); // per node
        for (int i = 0; i < g_.parameter_count; ++i) {
            if (int const id = g_.gradients[i]; id >= 0 && sums_channels(id)) {
                sum_of[nodes_[id].in[0]] = id;
            }
        }
        for (int i = 0; i < count_; ++i) {
            if (nodes_[i].kind == op::matmul_weight && group_[i] == i) {
                if (int const sum = std::exchange(sum_of[nodes_[i].in[1]], -1); sum >= 0) {
                    group_[sum] = i;
                }
            }
        }
    }

    // The operand is materialised, and the sum has no other reader.
    constexpr bool sums_channels(int id) const {
        node const& n = nodes_[id];
        if (n.kind != op::reduce || n.reduce != reduction::sum || n.operands != 1 ||
            n.scalar != 1 || functions_[id] != 1 || readers_[id] != 0) {
            return false;
        }
        extents const& from = nodes_[n.in[0]].size;
        return from.sample && n.size == extents{false, 1, from.channels};
    }

    // If this group is a bias after a product, or a function after that.
    constexpr void join(int last) {
        if (carried_[last]) { // whose memory the product may still read
            return;
        }
        node const* end = nodes_ + last;
        int first = last;
        if (functions_[last] == 2 && end->operands == 1 && end->derivative < 0 && end->in[0] >= 0 &&
            group_[end->in[0]] == last) {
            first = end->in[0];
        } else if (functions_[last] != 1) {
            return;
        }
        node const& sum = nodes_[first];
        if (sum.kind != op::map || sum.function != fn::add || sum.derivative >= 0) {
            return;
        }
        int const product = sum.in[0], bias = sum.in[1];
        node const& p = nodes_[product];
        bool const finishable = (p.kind == op::conv || p.kind == op::matmul) &&
                                p.size == sum.size && readers_[product] == 1;
        if (MixedPrecisionDevice<Device> && p.kind == op::conv && leaves(last)) {
            return; // in the device's own type, which no convolution can write
        }
        // (The copies in bfloat16 are of whole parameters.)
        bool const is_bias = nodes_[bias].kind == op::parameter ||
                             ((nodes_[bias].kind == op::parameter_slice || is_stored_map(bias)) &&
                              !MixedPrecisionDevice<Device>);
        bool const adds_bias = is_bias && nodes_[bias].size == extents{false, 1, p.size.channels};
        if (finishable && adds_bias &&
            Device::takes_epilogue(p.kind, between(nodes_, first, last))) {
            group_[product] = last;
        }
    }

    constexpr bool is_stored_map(int id) const {
        return nodes_[id].kind == op::map && group_[id] == id;
    }

    constexpr bool leaves(int id) const {
        for (int const kept : kept_) {
            if (base_of(kept, nodes_) == id) {
                return true;
            }
        }
        return false;
    }

    graph_view g_;
    node const* nodes_;
    int count_;
    int* group_;
    list<int> kept_;
    list<char> carried_;  // per node
    list<int> readers_;   // per node that something depends on: operands that it is
    list<int> functions_; // per group
};

} // namespace castnet::ir
