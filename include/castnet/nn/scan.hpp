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
//
// Of a sequence of images the steps are written out, and the cell has no such limits; see
// nn/unrolled_scan.hpp.
#pragma once

#include <castnet/nn/cell.hpp>
#include <castnet/nn/loop_trace.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/time_steps.hpp>
#include <castnet/nn/unrolled_scan.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet {

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
    bool const outer = std::exchange(g.in_cell, true);
    auto const result = result_of_cell(cell(x_t, carried_t<Initial>{&g, delays[K]}...),
                                       carried_t<Initial>{&g, delays[K]}...);
    g.in_cell = outer;
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
    constexpr bool begins =
        (begins_a_carry<std::remove_cvref_t<std::tuple_element_t<K, All>>>::checked && ...);
    if constexpr (begins && is_image_sequence<typename X::shape_type>) {
        return unrolled_scan(steps_of(x), std::get<sizeof...(K)>(all), std::get<K>(all)...);
    } else if constexpr (begins) {
        return scan(steps_of(x), std::get<sizeof...(K)>(all), numbers, std::get<K>(all)...);
    }
}

} // namespace detail

// scan(x, initial..., cell) calls cell(x_t, carries...) for every step x_t of the sequence x,
// (time, features), (time) or, of images, (channels, time, height, width), beginning with the
// first; backward() and with_lengths() change that.
//
// Every initial value is a symbol, a number or vector (among images: a tensor) of a sample or of
// all samples, or a shape, which stands for zeros. The cell returns as many carries of the same
// shapes. The result has `outputs`, of all steps, and `last`, the carries after the last step.
template <LayerInput X, class... InitialsAndCell>
constexpr auto scan(X x, InitialsAndCell const&... initials_and_cell) {
    using S = typename X::shape_type;
    static_assert(is_sequence<S> || is_image_sequence<S>,
                  "castnet: scan needs a sequence (time, features) or (time), or one of images, "
                  "(channels, time, height, width); see is_sequence<shape found>");
    static_assert(sizeof...(InitialsAndCell) > 1,
                  "castnet: scan needs initial values before the cell, at least one, such as "
                  "shape<16>{} for zeros");
    if constexpr (sizeof...(InitialsAndCell) > 1) {
        return detail::scan_with(x, std::forward_as_tuple(initials_and_cell...),
                                 std::make_index_sequence<sizeof...(InitialsAndCell) - 1>{});
    }
}

} // namespace castnet
