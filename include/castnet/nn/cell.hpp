// Cells of scans: what they are called with and what they return, and the results of a scan.
#pragma once

#include <castnet/graph/symbol_operators.hpp>

#include <tuple>
#include <type_traits>

namespace castnet {

// Result of a cell: the new carries, the first of which is its output, too, unless it names
// another one: carry(h, c), carry(h).output(y).
template <class Output, class... Carry>
struct cell_result {
    Output out;
    std::tuple<Carry...> carries;

    template <Symbol Y>
    constexpr cell_result<Y, Carry...> output(Y y) const {
        return {y, carries};
    }
};
template <Symbol First, Symbol... More>
constexpr cell_result<First, First, More...> carry(First first, More... more) {
    return {first, {first, more...}};
}

// The outputs of all steps, (time, features), (time) or (channels, time, height, width), and the
// last carry, or a tuple of all.
template <class Outputs, class Last>
struct scan_result {
    Outputs outputs;
    Last last;
};

// A class, so that every compiler prints the type.
template <class Layer>
struct layer_takes_outputs {
    static_assert(detail::never<Layer>,
                  "castnet: scan and with_state give a result of two members, .outputs of all "
                  "steps and .last: scan(x, shape<16>{}, cell).outputs | cn::dense<2>; see "
                  "layer_takes_outputs<layer>");
};
template <class Outputs, class Last, class Layer>
constexpr auto operator|(scan_result<Outputs, Last> const& x, Layer const& layer) {
    void(layer_takes_outputs<Layer>{});
    return x.outputs | layer;
}

// A class, so that every compiler prints the types.
template <class Cell, class Step, class... Carry>
struct cell_takes {
    static_assert(
        requires(Cell const& cell, Step x, Carry... carry) { cell(x, carry...); },
        "castnet: scan: the cell cannot be called with a step of the sequence and the carries; see "
        "cell_takes<cell, step, carries...>");
    static constexpr bool checked = true;
};
template <class Returned>
struct cell_returns { // likewise
    static_assert(detail::never<Returned>,
                  "castnet: scan: the cell returns a tensor, cn::carry(h, c) where several pass "
                  "on, or cn::carry(h).output(y); see cell_returns<type found>");
};
template <class Before, class After>
inline constexpr bool carry_keeps_shape = std::is_same_v<Before, After>;
// A class, so that every compiler prints the type.
template <class X>
struct begins_a_carry {
    static constexpr bool checked = Symbol<X> || Shape<X>;
    static_assert(checked, "castnet: scan: every initial value is a symbol, or a shape for zeros, "
                           "as in scan(x, shape<16>{}, cell); see begins_a_carry<type found>");
};
// A class, so that every compiler prints the numbers.
template <size_t Initial, size_t Returned>
struct as_many_carries {
    static_assert(Initial == Returned,
                  "castnet: scan: the cell must return as many carries as there are initial "
                  "values; see as_many_carries<initial values, returned>");
    static constexpr bool checked = true;
};

namespace detail {

// The initial value of a carry: a symbol, or a shape for zeros. Its node, -1 for zeros.
template <class S>
constexpr int initial_id(symbol<S> x) {
    return sample_id(x);
}
template <Shape S>
constexpr int initial_id(S) {
    return -1;
}
template <class Initial>
struct carried;
template <Shape S>
struct carried<S> {
    using type = symbol<S>;
};
template <Symbol X>
struct carried<X> {
    using type = symbol<typename X::shape_type>;
};
template <class Initial>
using carried_t = typename carried<Initial>::type;

template <class S, class... Carry>
constexpr auto result_of_cell(symbol<S> x, Carry...) {
    return carry(x);
}
template <class... T, class... Carry>
constexpr auto result_of_cell(cell_result<T...> r, Carry...) {
    return r;
}
template <class Other, class... Carry>
constexpr auto result_of_cell(Other const&, Carry... before) {
    void(cell_returns<Other>{});
    return carry(before...); // so that this mistake is one error
}

template <class Last, class... More>
constexpr auto one_or_all(std::tuple<Last, More...> const& all) {
    if constexpr (sizeof...(More) == 0) {
        return std::get<0>(all);
    } else {
        return all;
    }
}

} // namespace detail

} // namespace castnet
