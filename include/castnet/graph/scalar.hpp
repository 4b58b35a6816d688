// scalar: a number of a loss or metric that a step is given at run time.
//
//     struct pinball_loss {
//         static constexpr char const* name = "pinball";
//         static constexpr bool labels = false;
//         cn::scalar quantile = 0.5;
//
//         constexpr auto operator()(auto prediction, auto target) const {
//             auto const error = target - prediction;
//             return cn::mean(cn::maximum(quantile * error, (quantile - 1) * error));
//         }
//     };
//     auto training = cn::compile(model, pinball_loss{.quantile = 0.9}, cn::adam{});
//
// A network is traced by the compiler, with the loss; what is known only when the program runs is a
// source of the step then, as its samples are. So a step is compiled once for all values. While it
// is traced, a scalar of the loss or metric stands for that source: it computes with symbols and
// numbers, as a number would, and has no gradient. Any other is the number that it was made of.
#pragma once

#include <castnet/graph/graph.hpp>

#include <array>
#include <bit>
#include <limits>
#include <type_traits>
#include <utility>

namespace castnet {

// (All members are public, so that objects with scalars may be template arguments.)
struct scalar {
    constexpr scalar(double number) : value{number} {}
    constexpr scalar(ir::graph& graph, int node) : g{&graph}, id{node} {}

    double value = std::numeric_limits<double>::quiet_NaN(); // unknown where it is a node
    ir::graph* g = nullptr;
    int id = -1;
};

namespace detail {

template <class T, size_t... I>
constexpr bool made_of_scalars(std::index_sequence<I...>) {
    return requires { T{scalar{double(I)}...}; };
}
// How many scalars an object consists of; -1 if it has other members.
template <class T>
constexpr int count_scalars() {
    if constexpr (std::is_empty_v<T>) {
        return 0;
    } else if constexpr (std::is_aggregate_v<T> && std::is_trivially_copyable_v<T> &&
                         sizeof(T) % sizeof(scalar) == 0) {
        constexpr size_t count = sizeof(T) / sizeof(scalar);
        return made_of_scalars<T>(std::make_index_sequence<count>{}) ? int(count) : -1;
    } else {
        return -1;
    }
}

} // namespace detail

// How many scalars a loss or metric has.
template <class LossOrMetric>
inline constexpr int scalars_in = detail::count_scalars<LossOrMetric>();

// A class, so that every compiler prints the type.
template <class LossOrMetric>
struct members_are_scalars {
    static_assert(scalars_in<LossOrMetric> >= 0,
                  "castnet: a loss or metric has members other than cn::scalar, which a step that "
                  "is compiled from its type cannot know: declare its numbers as cn::scalar, "
                  "public and without a constructor, or make them template arguments; see "
                  "members_are_scalars<type>");
    static constexpr bool checked = true;
};

namespace detail {

constexpr scalar new_scalar(ir::graph& g) {
    ir::node n = ir::graph::shaped<shape<>>(op::scalar, false);
    n.attribute = g.scalars++;
    return {g, g.push(n)};
}

template <class T, size_t... I>
constexpr T of_new_scalars(ir::graph& g, std::index_sequence<I...>) {
    return T{(void(I), new_scalar(g))...}; // braces: in this order
}

// A loss or metric whose scalars are sources of this graph.
template <class T>
constexpr T in_trace(ir::graph& g) {
    static_assert(members_are_scalars<T>::checked);
    if constexpr (scalars_in<T> > 0) {
        return of_new_scalars<T>(g, std::make_index_sequence<size_t(scalars_in<T>)>{});
    } else {
        return T{};
    }
}

// The scalars of a loss or metric that has some, in the order of their declaration.
template <class T>
auto list_scalars(T const& object) {
    return std::bit_cast<std::array<scalar, size_t(scalars_in<T>)>>(object);
}

} // namespace detail
} // namespace castnet
