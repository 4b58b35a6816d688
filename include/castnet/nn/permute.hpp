// Permutation of axes, permute<axes…>: axis i of the result is axis axes[i] of the input (PyTorch's
// permute; Keras' Permute counts axes from 1).
//
// permute<1, 0> transposes a matrix, permute<1, 0, 2> makes (heads, time, features) of (time,
// heads, features). An image stays an image, so permute<0, 2, 1> exchanges its height and width.
#pragma once

#include <castnet/graph/emit.hpp>
#include <castnet/graph/op/transpose.hpp>
#include <castnet/nn/scope.hpp>

namespace castnet {

namespace detail {

constexpr bool is_permutation(std::initializer_list<size_t> axes) {
    for (size_t i = 0; i < axes.size(); ++i) {
        bool found = false;
        for (size_t const axis : axes) {
            found = found || axis == i;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

// Node id with its axes, in the order of memory, in another order: they move to their places one by
// one, each past those before it. `size` is the result's, but for samples.
constexpr int permuted_node(ir::graph& g, int id, ir::extents size, ir::list<int> wanted,
                            ir::list<int> now, int const* extent) {
    int const rank = wanted.size();
    size.sample = g.nodes[id].size.sample;
    auto const count = [&](int first, int last) {
        int n = 1;
        for (int i = first; i < last; ++i) {
            n *= extent[now[i]];
        }
        return n;
    };
    for (int i = 0; i < rank; ++i) {
        int from = i;
        while (now[from] != wanted[i]) {
            ++from;
        }
        int const rows = count(i, from), columns = extent[wanted[i]];
        if (rows > 1 && columns > 1) {
            ir::node n;
            n.kind = op::transpose;
            n.size = size;
            n.attribute = g.add_window(exchange(rows, columns, count(from + 1, rank)));
            n.in[n.operands++] = id;
            id = g.push(n);
        }
        for (; from > i; --from) {
            now[from] = now[from - 1];
        }
        now[i] = wanted[i];
    }
    if (g.nodes[id].size == size) {
        return id;
    }
    ir::node n; // nothing moved
    n.kind = op::reshape;
    n.size = size;
    n.attribute = ir::as_stored;
    n.in[n.operands++] = id;
    return g.push(n);
}

} // namespace detail

template <class Input, size_t... Axes>
inline constexpr bool permutes_axes_of =
    sizeof...(Axes) == Input::rank && detail::is_permutation({Axes...});

template <size_t... Axes>
struct permute_layer {
    static constexpr char const* name = "permute";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(permutes_axes_of<S, Axes...>,
                      "castnet: permute needs the number of every axis of its input once, counted "
                      "from 0 without the batch; see permutes_axes_of<input shape, axes...>");
        if constexpr (permutes_axes_of<S, Axes...>) {
            using result = detail::shape_in<order_of<S>, S::extent[Axes]...>;
            ir::list<int> wanted, now;
            int const axes[] = {static_cast<int>(Axes)...};
            constexpr int rank = static_cast<int>(S::rank), first = channels_first<S> ? 1 : 0;
            for (int i = 0; i < rank; ++i) { // channels lie innermost
                int const axis = (i + first) % rank;
                wanted.push(axes[axis]);
                now.push(axis);
            }
            int const id = detail::array_id(x);
            return symbol<result>{x.g, detail::permuted_node(*x.g, id, ir::space_of<result>, wanted,
                                                             now, ir::axes_of<S>.extent)};
        } else {
            return x;
        }
    }
};
template <size_t... Axes>
inline constexpr permute_layer<Axes...> permute{};

} // namespace castnet
