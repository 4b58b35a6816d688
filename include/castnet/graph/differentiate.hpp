// The walk of differentiation over all operations of a graph.
#pragma once

#include <castnet/graph/operations.hpp>

namespace castnet::ir {

constexpr differentiation::differentiation(graph& g, bool by_inputs)
    : g_{g}, forward_{g.nodes.size()}, gradient_{list<int>::filled(forward_, -1)},
      wanted_{list<char>::filled(forward_, 0)} {
    char* const wanted = wanted_.data();
    for (int i = 0; i < forward_; ++i) {
        node const& n = g.nodes.data()[i];
        wanted[i] = wants(n, wanted) || (by_inputs && n.kind == op::input) ? 1 : 0;
        loops_ = n.loop < loops_ ? loops_ : n.loop + 1;
        if (n.kind == op::feedback && wanted[n.in[1]] && !wanted[n.in[0]]) {
            wanted[n.in[0]] = 1; // and so are its readers
            i = n.in[0];
        }
    }
}

constexpr bool differentiation::wants(node const& n, char const* wanted) const {
    if (n.kind == op::parameter) {
        return g_.parameters[n.attribute].trainable;
    }
    if (n.kind == op::map) {
        return map_passes_gradient(n, wanted);
    }
    if (n.kind == op::reduce) {
        return wanted[n.in[0]] && reduction_has_gradient(n);
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
        if (waiting_ > 0) {
            add_lone_slices(i);
        }
        int const gradient = gradient_.data()[i];
        operation_entry const& operation = operation_of(at(i));
        if (!wanted_.data()[i] || (gradient < 0 && !operation.is.recurrent)) {
            continue;
        }
        if (operation.is.source) { // where gradients end
            continue;
        }
        if (!operation.has_gradient) {
            throw "castnet: an operation of the network has no gradient";
        }
        g_.device = at(i).device;
        operation.gradient(*this, i, gradient);
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

// Differentiation of the loss, where the results name one.
constexpr void differentiate(graph& g, results& r) {
    if (r.loss >= 0) {
        r.gradients = differentiation{g}.run(r.loss, r.seed);
        r.loss = r.seed = -1;
    }
}

} // namespace castnet::ir
