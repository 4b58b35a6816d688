// scan: a loop over the steps of a sequence, which carries values from each to the next (JAX's
// lax.scan, Keras' RNN with a cell of one's own).
//
//     // h_t = tanh(x_t W + h_(t-1) R): x is (time, features), h is (time, 32)
//     auto const [h, last] = cn::scan(x, cn::shape<32>{}, [](auto x_t, auto h) {
//         return cn::tanh((x_t | cn::named<"in", cn::dense<32>>) +
//                         (h | cn::named<"back", cn::dense<32>>));
//     });
//
// The cell is traced once and called with the step and the carries: numbers or vectors of a sample.
// It consists of element-wise functions, dense layers, dropout (another mask in each step), concat,
// slice, split and reductions, and may read parameters and, in element-wise functions, anything
// else from outside, where random numbers are others in each step. What concat joins with a value
// of the step is one, too, or a carry that the cell returns unchanged. Its gradient through time is
// derived. What does not depend on a carry is not part of the loop: a product of the sequence with
// a weight is one product for all of time.
#pragma once

#include <castnet/nn/loop_trace.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/time_steps.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

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

// The outputs of all steps, (time, features) or (time), and the last carry, or a tuple of all.
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

template <class S>
using step_shape = std::conditional_t<S::rank == 1, shape<>, shape<channels_of<S>>>;

template <size_t Time, class Step>
struct in_time {
    using type = shape<Time, channels_of<Step>>;
};
template <size_t Time>
struct in_time<Time, shape<>> {
    using type = shape<Time>;
};

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

// The outputs of a scan, as a symbol of all steps.
template <size_t Time, class Step>
constexpr auto outputs_of_steps(ir::graph& g, int id, Step) {
    using result = typename in_time<Time, Step>::type;
    if constexpr (Step::rank == 0) { // numbers become a vector
        return reshaped(symbol<shape<Time, 1>>{&g, id}, result{});
    } else {
        return symbol<result>{&g, id};
    }
}

template <class S, class Cell, class... Initial, size_t... K>
constexpr auto scan(time_steps<S> x, Cell const& cell, std::index_sequence<K...>,
                    Initial... initial) {
    constexpr size_t time = S::extent[0];
    using step = step_shape<S>;
    ir::graph& g = *x.values.g;
    loop_trace loop{g, static_cast<int>(time), x.backward};
    int const sequence = sample_id(x.values);
    int const mask = x.lengths.g ? loop.mask(x.lengths.id) : -1;
    int const begins[] = {initial_id(initial)...};
    symbol<step> const x_t{&g, loop.steps(sequence, static_cast<int>(channels_of<step>))};
    int const delays[] = {
        loop.delay(begins[K], static_cast<int>(carried_t<Initial>::shape_type::count))...};
    int const first = g.nodes.size();
    static_assert(cell_takes<Cell, symbol<step>, carried_t<Initial>...>::checked);
    auto const result = result_of_cell(cell(x_t, carried_t<Initial>{&g, delays[K]}...),
                                       carried_t<Initial>{&g, delays[K]}...);
    constexpr size_t returned = std::tuple_size_v<decltype(result.carries)>;
    static_assert(as_many_carries<sizeof...(Initial), returned>::checked);
    static_assert((carry_keeps_shape<
                       typename carried_t<Initial>::shape_type,
                       typename std::tuple_element_t<K, decltype(result.carries)>::shape_type> &&
                   ...),
                  "castnet: scan: a carry changes its shape from one step to the next; see "
                  "carry_keeps_shape<before, after>");
    loop.spread(x_t.id, first);
    int out = loop.in_all_steps(result.out.id);
    int next[] = {loop.in_all_steps(std::get<K>(result.carries).id)...};
    bool const first_carry = result.out.id == std::get<0>(result.carries).id;
    for (size_t k = 0; k < sizeof...(K); ++k) {
        next[k] = mask < 0 ? next[k] : loop.masked(mask, next[k], delays[k]);
    }
    for (size_t k = 0; k < sizeof...(K); ++k) {
        loop.feedback(delays[k], next[k], x.lengths.g ? x.lengths.id : -1);
    }
    out = mask >= 0 ? loop.masked(mask, out, loop.zero()) : first_carry ? next[0] : out;
    auto const last = one_or_all(std::tuple{carried_t<Initial>{&g, loop.last(next[K])}...});
    auto const outputs =
        outputs_of_steps<time>(g, out, typename decltype(result.out)::shape_type{});
    return scan_result<decltype(outputs), decltype(last)>{outputs, last};
}

template <class X, class All, size_t... K>
constexpr auto scan_with(X x, All const& all, std::index_sequence<K...> numbers) {
    if constexpr ((begins_a_carry<std::remove_cvref_t<std::tuple_element_t<K, All>>>::checked &&
                   ...)) {
        return scan(steps_of(x), std::get<sizeof...(K)>(all), numbers, std::get<K>(all)...);
    }
}

} // namespace detail

// scan(x, initial..., cell) calls cell(x_t, carries...) for every step x_t of the sequence x,
// (time, features) or (time), beginning with the first; backward() and with_lengths() change that.
//
// Every initial value is a symbol, a number or vector of a sample or of all samples, or a shape,
// which stands for zeros. The cell returns as many carries of the same shapes. The result has
// `outputs`, of all steps, and `last`, the carries after the last step.
template <LayerInput X, class... InitialsAndCell>
constexpr auto scan(X x, InitialsAndCell const&... initials_and_cell) {
    static_assert(is_sequence<typename X::shape_type>,
                  "castnet: scan needs a sequence (time, features) or (time); see "
                  "is_sequence<shape found>");
    static_assert(sizeof...(InitialsAndCell) > 1,
                  "castnet: scan needs initial values before the cell, at least one, such as "
                  "shape<16>{} for zeros");
    if constexpr (sizeof...(InitialsAndCell) > 1) {
        return detail::scan_with(x, std::forward_as_tuple(initials_and_cell...),
                                 std::make_index_sequence<sizeof...(InitialsAndCell) - 1>{});
    }
}

} // namespace castnet
