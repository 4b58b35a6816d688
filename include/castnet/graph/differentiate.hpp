// The walk of differentiation over all operations of a graph.
#pragma once

#include <castnet/graph/operations.hpp>

namespace castnet::ir {

// Marks all nodes that depend on one that `begins`, in loops and repeated blocks also by carries.
template <class Begins>
constexpr void differentiation::find_wanted(Begins const& begins) {
    char* const wanted = wanted_.data();
    for (int i = 0; i < forward_; ++i) {
        node const& n = g_.nodes.data()[i];
        wanted[i] = begins(i) || wants(i, wanted) ? 1 : 0;
        if ((n.kind == op::feedback || n.kind == op::repeated) && wanted[n.in[1]] &&
            !wanted[n.in[0]]) {
            wanted[n.in[0]] = 1; // and so are its readers
            i = n.in[0];
        }
    }
}

constexpr differentiation::differentiation(graph& g, bool by_inputs)
    : g_{g}, forward_{g.nodes.size()}, gradient_{list<int>::filled(forward_, -1)},
      wanted_{list<char>::with_size(forward_)} {
    find_wanted([&](int i) { return by_inputs && at(i).kind == op::input; });
}

constexpr differentiation::differentiation(graph& g, list<int> const& by)
    : g_{g}, forward_{g.nodes.size()}, gradient_{list<int>::filled(forward_, -1)},
      wanted_{list<char>::with_size(forward_)}, ends_{list<char>::with_size(forward_)} {
    for (int id : by) {
        ends_[id] = 1;
    }
    find_wanted([&](int i) { return ends_[i] == 1; });
}

constexpr bool differentiation::wants(int i, char const* wanted) const {
    node const& n = g_.nodes.data()[i];
    if (n.kind == op::parameter) { // which frozen layers read by nodes of their own
        parameter const& p = g_.parameters[n.attribute];
        return ends_.empty() && p.trainable && p.node == i;
    }
    if (n.kind == op::map) {
        return map_passes_gradient(n, wanted);
    }
    if (n.kind == op::reduce) {
        return (wanted[n.in[0]] || (n.operands == 2 && wanted[n.in[1]])) &&
               reduction_has_gradient(n);
    }
    for (int k = 0; k < n.operands; ++k) {
        if (wanted[n.in[k]]) {
            return true;
        }
    }
    return false;
}

constexpr list<int> differentiation::run(int loss, int seed) {
    gradient_[loss] = seed;
    g_.nodes.reserve(2 * forward_ + 64);
    for (int i = forward_ - 1; i >= 0; --i) {
        g_.repeat = at(i).repeat < 0 ? -1 : repeat_back(at(i).repeat);
        if (slices_.any_wait()) {
            add_lone_slices(i);
        }
        int const gradient = gradient_.data()[i];
        operation_entry const& operation = operation_of(at(i));
        if (!wanted_.data()[i] || (gradient < 0 && !operation.is.recurrent) ||
            (!ends_.empty() && ends_[i] == 1)) {
            continue;
        }
        if (operation.is.source) { // where gradients end
            if (at(i).kind == op::parameter) {
                give_array_of_its_own(i);
            }
            continue;
        }
        if (!operation.has_gradient) {
            g_.report(mistake::operation_without_gradient);
            continue;
        }
        g_.device = at(i).device;
        operation.gradient(*this, i, gradient);
    }
    g_.repeat = -1;
    for (int i = forward_; i < g_.nodes.size() && !g_.repeats.empty(); ++i) {
        if (operation_of(at(i)).is.beside) { // the network's own kernels make it
            g_.nodes[i].repeat = at(at(i).in[0]).repeat;
        }
    }
    list<int> result;
    for (parameter const& p : g_.parameters) {
        result.push(p.trainable ? gradient_[p.node] : -1);
    }
    return result;
}

// Differentiation of the loss, where the results name one.
constexpr void differentiate(graph& g, results& r) {
    if (r.loss >= 0) {
        int const forward = g.nodes.size();
        r.gradients = differentiation{g}.run(r.loss, r.seed);
        r.loss = r.seed = -1;
        node* const nodes = g.nodes.data();
        for (int i = g.nodes.size() - 1; i >= forward; --i) {
            nodes[i].backward = !operation_of(nodes[i]).is.beside;
        }
    }
}

} // namespace castnet::ir
