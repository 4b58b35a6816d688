// Arrays in bfloat16, on a device whose products and convolutions read their factors so.
//
// What a product reads is stored in bfloat16 by the launch that computes it, and so is what a
// convolution writes, every image that an element-wise launch makes of such images (most gradients
// of images, therefore), and what a product makes for functions of which others read only such
// results: what a layer is before its activation, and the gradient of what it is after it.
// Parameters and inputs stay as they are: the first launch of a plan makes a copy of all of them
// that products read. Everything else, and everything that leaves the step (results, gradients,
// statistics) or goes from one repetition of a block to the next, has the device's own type, and so
// has all arithmetic.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/plan/fuse.hpp>
#include <castnet/plan/views.hpp>

namespace castnet::ir {

// Such a device says how many numbers of 16 bits are as long as one of its own:
//   static constexpr int bf16_per_value;
template <class Device>
concept MixedPrecisionDevice = requires { Device::bf16_per_value; };

// A base of devices that compute in T, and may have bfloat16 factors.
template <class T, bool Bf16>
struct factor_storage {};
template <class T>
struct factor_storage<T, true> {
    static constexpr int bf16_per_value = static_cast<int>(sizeof(T) / sizeof(bfloat16));
};

template <class Device>
constexpr int bf16_per_value() {
    if constexpr (MixedPrecisionDevice<Device>) {
        return Device::bf16_per_value;
    } else {
        return 1;
    }
}

// Marks what is copied to other devices, in the device's own type.
constexpr void keep_copied(node const* nodes, int count, list<char>& kept) {
    for (int i = 0; i < count; ++i) {
        if (nodes[i].kind == op::copy) {
            kept[base_of(nodes[i].in[0], nodes)] = 1;
        }
    }
}

// Per node: 1 where its value leaves the step, a repetition of a block or the device.
constexpr list<char> leaving_nodes(graph_view const& g) {
    list<char> leaving = carried_nodes(g.nodes, g.node_count, g.repeat_count);
    for (int const id : kept_nodes(g)) {
        leaving[base_of(id, g.nodes)] = 1;
    }
    keep_copied(g.nodes, g.node_count, leaving);
    return leaving;
}

// Whether a node is the copy of an input that products read.
constexpr bool is_copied_input(node const& n, node const* nodes) {
    return n.kind == op::convert && nodes[base_of(n.in[0], nodes)].kind == op::input;
}

// Inserts copies where an array has to be there in both types: factors that come from outside the
// step, that leave it, or that no kernel can store in bfloat16; and what convolutions write and
// leaves the step.
class copies_for_products {
public:
    constexpr copies_for_products(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        list<node> const old = std::move(g_.nodes);
        g_.nodes = {};
        g_.nodes.reserve(old.size() + 64);
        old_ = old.data();
        kept_ = carried_nodes(old_, old.size(), g_.repeats.size());
        for_each_result(g_, results_, [this](int id) { kept_[base_of(id, old_)] = 1; });
        keep_copied(old_, old.size(), kept_);
        moved_ = list<int>::filled(old.size(), -1);
        copies_ = list<int>::filled(old.size() * g_.devices, -1);
        for (int i = 0; i < old.size(); ++i) {
            node n = old[i];
            g_.repeat = n.repeat;
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0) {
                    n.in[k] = traits_of(n).product ? factor(n.in[k], n.device)
                              : n.kind == op::copy ? leaving_value(n.in[k])
                                                   : moved_[n.in[k]];
                }
            }
            g_.device = n.device;
            moved_[i] = g_.push(n);
            if (n.kind == op::conv_weight && kept_[i]) { // for those who wait for gradients
                copy(i, n.device);
            }
        }
        g_.repeat = -1;
        for_each_result(g_, results_, [this](int& id) { id = leaving_value(id); });
        g_.device = 0;
        for (parameter& p : g_.parameters) {
            p.node = moved_[p.node];
        }
    }

private:
    // For a product on this device.
    constexpr int factor(int id, int device) {
        int const base = base_of(id, old_);
        operation_traits const& is = traits_of(old_[base]);
        bool const kept = kept_[base] != 0 && !is.image; // of images, a copy is kept
        return old_[base].kind == op::parameter || (is.stores_bf16 && !kept) ? moved_[id]
                                                                             : copy(id, device);
    }
    // For what is outside the step, or on another device.
    constexpr int leaving_value(int id) {
        bool const image = traits_of(old_[base_of(id, old_)]).image;
        return image ? copy(id, old_[id].device) : moved_[id];
    }

    // On the device of its reader, which is that of the node itself where that is not everywhere.
    constexpr int copy(int id, int device) {
        int& made = copies_[id * g_.devices + device];
        op const from = old_[base_of(id, old_)].kind;
        g_.device = device;
        if (made < 0 && (from == op::conv_weight || (from == op::input && g_.repeat < 0))) {
            node n;
            n.kind = op::convert;
            n.size = old_[id].size;
            n.operands = 1;
            n.in[0] = moved_[id];
            made = g_.push(n);
        } else if (made < 0) {
            int const one = constant_node(g_, 1);
            made = map_node(g_, fn::multiply, old_[id].size, {moved_[id], one});
        }
        return made;
    }

    graph& g_;
    results& results_;
    node const* old_ = nullptr;
    list<char> kept_;  // per old node: whether it leaves the step or a repetition
    list<int> moved_;  // per old node: its new number
    list<int> copies_; // per old node and device: the number of its copy
};

// Marks the images that element-wise launches make of others in bfloat16, unless they leave the
// step or a repetition of a block. `in_bf16`, `group`: per node, as of bf16_nodes().
constexpr void mark_images_of_bf16(graph_view const& g, int const* group, char* in_bf16) {
    node const* const nodes = g.nodes;
    list<char> const kept = leaving_nodes(g);
    for (int i = 0; i < g.node_count; ++i) { // what a launch reads comes before it
        int const end = group[i];
        if (nodes[i].kind != op::map || end < 0 || nodes[end].kind != op::map || kept[end] ||
            nodes[end].loop >= 0 || !nodes[end].size.sample || nodes[end].size.in_logical_order()) {
            continue;
        }
        for (int k = 0; k < nodes[i].operands; ++k) {
            int const from = nodes[i].in[k] < 0 ? i : base_of(nodes[i].in[k], nodes);
            if (in_bf16[from] && nodes[from].size == nodes[end].size) {
                in_bf16[end] = 1;
            }
        }
    }
}

// Marks what attention reads and makes for products, and only that, and slices and joins of it: it
// multiplies in bfloat16, too. `in_bf16`, `group`: per node, as of bf16_nodes().
constexpr void mark_attended(graph_view const& g, int const* group, char* in_bf16) {
    node const* const nodes = g.nodes;
    list<char> others = leaving_nodes(g); // read it, too
    list<char> wanted = list<char>::with_size(g.node_count);
    for (int i = g.node_count - 1; i >= 0; --i) { // the readers of a node come before it
        node const& n = nodes[i];
        operation_traits const& is = traits_of(n);
        if (group[i] < 0 || is_view(n, nodes)) {
            continue;
        }
        bool const attends = n.kind == op::attention || n.kind == op::attention_gradient,
                   moves = n.kind == op::slice || n.kind == op::concat,
                   stored = is.product || is.beside || attends || moves || n.kind == op::map;
        if (wanted[i] && !others[i] && stored && is.stores_bf16 && n.loop < 0) {
            in_bf16[i] = 1;
        }
        if (is.beside) { // reads nothing itself
            continue;
        }
        bool const reads = (is.product || attends || (moves && in_bf16[i])) && n.loop < 0;
        for (int k = 0; k < n.operands; ++k) {
            if (n.in[k] >= 0) {
                char& marked = (reads ? wanted : others)[base_of(n.in[k], nodes)];
                marked = 1;
            }
        }
    }
}

// Marks what products make for element-wise launches with results in bfloat16, and for nobody else.
// `in_bf16`, `group`: per node, as of bf16_nodes().
constexpr void mark_activated(graph_view const& g, int const* group, char* in_bf16) {
    node const* const nodes = g.nodes;
    list<char> others = leaving_nodes(g); // read it, too
    for (int i = 0; i < g.node_count; ++i) {
        int const end = group[i];
        bool const in_view = is_view(nodes[i], nodes);
        for (int k = 0; k < nodes[i].operands; ++k) {
            int const from = nodes[i].in[k];
            if (from < 0 || group[from] == end) {
                continue;
            }
            bool const rounds = nodes[i].kind == op::map && !in_view && end >= 0 && in_bf16[end] &&
                                nodes[end].kind == op::map && nodes[end].size == nodes[from].size;
            char& marked = others[base_of(from, nodes)];
            marked = marked != 0 || !rounds ? 1 : 0;
        }
    }
    for (int i = 0; i < g.node_count; ++i) {
        operation_traits const& is = traits_of(nodes[i]);
        int const end = group[i];
        if (end >= 0 && is.product && is.stores_bf16 && nodes[i].size.sample && nodes[i].loop < 0 &&
            !others[end] && base_of(end, nodes) == end) {
            in_bf16[end] = 1;
        }
    }
}

// Per node: 1 where its array is bfloat16. `group`: per node the end of its group.
constexpr list<char> bf16_nodes(graph_view const& g, int const* group) {
    list<char> in_bf16 = list<char>::with_size(g.node_count);
    for (int i = 0; i < g.node_count; ++i) {
        node const& n = g.nodes[i];
        if (group[i] < 0 || !traits_of(n).product) {
            continue;
        }
        for (int k = 0; k < n.operands; ++k) {
            in_bf16[base_of(n.in[k], g.nodes)] = 1;
        }
        if (traits_of(n).image) {
            in_bf16[group[i]] = 1;
        }
    }
    mark_images_of_bf16(g, group, in_bf16.data());
    mark_attended(g, group, in_bf16.data());
    mark_activated(g, group, in_bf16.data());
    for (int i = 0; i < g.node_count; ++i) {
        node const& n = g.nodes[i];
        if (n.kind == op::parameter) { // of these, products read copies
            in_bf16[i] = 0;
        } else if (traits_of(n).product && group[i] >= 0 && group[i] != i) {
            in_bf16[i] = in_bf16[group[i]];
        } else if (is_view(n, g.nodes)) {
            in_bf16[i] = in_bf16[base_of(i, g.nodes)];
        }
    }
    return in_bf16;
}

} // namespace castnet::ir
