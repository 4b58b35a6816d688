// Operations that only move elements: reshape, concatenate, slice, reverse, copy to another device.
#pragma once

#include <castnet/core/reshape.hpp>
#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/emit.hpp>

namespace castnet {

// reshape<…>(x) of a symbol.
template <Shape From, Shape To>
constexpr symbol<To> reshaped(symbol<From> x, To) {
    static_assert(same_count<From, To>,
                  "castnet: reshape must keep the number of elements; see same_count<from, to>");
    if constexpr (std::is_same_v<From, To>) {
        return x;
    } else if constexpr (same_count<From, To>) {
        ir::graph& g = *x.g;
        int const id = detail::value_id(x);
        ir::node n = ir::graph::shaped<To>(op::reshape, g.nodes[id].size.sample);
        n.in[n.operands++] = id;
        return emit<To>(g, n);
    } else {
        return symbol<To>{x.g, x.id};
    }
}

// The same elements as seen by the broadcasting rules: (C) as (C, 1, 1).
template <size_t C>
constexpr symbol<shape<C, 1, 1>> along_channels(symbol<shape<C>> x) {
    return {x.g, x.id};
}
// The same beside tensors of shape S: (C, 1, 1) beside images, (C, 1, 1, 1) beside volumes, (C)
// beside what has its channels in the last axis.
template <Shape S, size_t C>
constexpr auto along_channels(symbol<shape<C>> x) {
    if constexpr (channels_first<S>) {
        return symbol<detail::channels_alone<S, C>>{x.g, x.id};
    } else {
        return x;
    }
}

template <>
struct operation<op::reshape> {
    static constexpr char const* name = "reshape";
    static constexpr operation_traits traits{};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::reshape>(x, d.at(i).attribute, g));
    }
};

template <>
struct operation<op::concat> {
    static constexpr char const* name = "concat";
    static constexpr operation_traits traits{.by_pixels = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        int first = 0;
        for (int k = 0; k < n.operands; ++k) {
            if (d.wanted(n.in[k])) {
                d.accumulate(n.in[k], d.emit<op::slice>(n.in[k], first, g));
            }
            first += d.at(n.in[k]).size.channels;
        }
    }
};

template <>
struct operation<op::slice> {
    static constexpr char const* name = "slice";
    static constexpr operation_traits traits{.reads_attribute = true, .by_pixels = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        d.accumulate_slice(d.at(i).in[0], d.at(i).attribute, g);
    }
};
template <>
struct operation<op::slice_gradient> {
    static constexpr char const* name = "slice_gradient";
    static constexpr operation_traits traits{.reads_attribute = true, .by_pixels = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::slice>(x, d.at(i).attribute, g));
    }
};

template <>
struct operation<op::reverse> {
    static constexpr char const* name = "reverse";
    static constexpr operation_traits traits{.reads_attribute = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::reverse>(x, d.at(i).attribute, g));
    }
};

template <>
struct operation<op::copy> {
    static constexpr char const* name = "copy";
    static constexpr operation_traits traits{.stores_bf16 = false};
};

} // namespace castnet
