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
// It may read parameters and anything else from outside, and consists of element-wise functions,
// dense layers, dropout (another mask in each step), concat, slice_channels and reductions. Its
// gradient through time is derived. What does not depend on a carry is not part of the loop: a
// product of the sequence with a weight is one product for all of time.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/nn/reshape.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet {

// A sequence, and how a scan goes through it.
template <Shape S>
struct time_steps {
    using shape_type = S;
    symbol<S> values;
    bool backward = false;     // from the last step to the first
    symbol<shape<>> lengths{}; // if given: the steps of each sample that count
};
template <class S>
time_steps(symbol<S>) -> time_steps<S>;

template <class X>
inline constexpr bool is_time_steps = false;
template <class S>
inline constexpr bool is_time_steps<time_steps<S>> = true;

namespace detail {

template <class S>
constexpr time_steps<S> steps_of(symbol<S> x) {
    return {x};
}
template <class S>
constexpr time_steps<S> steps_of(time_steps<S> x) {
    return x;
}

} // namespace detail

// The same sequence from its last step to its first. Results lie where their step is in the
// sequence: the first that is computed comes last. (Keras' go_backwards turns them around.)
template <class X>
    requires(is_symbol<X> || is_time_steps<X>)
constexpr auto backward(X x) {
    auto steps = detail::steps_of(x);
    steps.backward = !steps.backward;
    return steps;
}

// The same sequence with only as many steps of each sample as `lengths` says, from 0 to all: behind
// them, carries stay as they are and outputs are 0. In a backward scan the steps that count begin
// with the last of them. (Keras' masks, PyTorch's pack_padded_sequence.)
template <class X>
    requires(is_symbol<X> || is_time_steps<X>)
constexpr auto with_lengths(X x, symbol<shape<>> lengths) {
    auto steps = detail::steps_of(x);
    steps.lengths = lengths;
    return steps;
}

// What a cell returns: the new carries, the first of which is its output, too, unless it names
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

// Whether S is a sequence of vectors, (time, features), or of numbers, (time).
template <class S>
inline constexpr bool is_sequence = S::rank == 1 || S::rank == 2;

// A class, so that every compiler prints the types.
template <class Cell, class Step, class... Carry>
struct cell_takes {
    static_assert(
        requires(Cell const& cell, Step x, Carry... carry) { cell(x, carry...); },
        "castnet: scan: the cell cannot be called with a step of the sequence and the carries; see "
        "cell_takes<cell, step, carries...>");
    static constexpr bool checked = true;
};
template <class Before, class After>
inline constexpr bool carry_keeps_shape = std::is_same_v<Before, After>;
// A class, so that every compiler prints the numbers.
template <size_t Initial, size_t Returned>
struct as_many_carries {
    static_assert(Initial == Returned,
                  "castnet: scan: the cell returns another number of carries than there are "
                  "initial values; see as_many_carries<initial values, returned>");
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
struct carried {
    using type = symbol<Initial>;
};
template <class S>
struct carried<symbol<S>> {
    using type = symbol<S>;
};
template <class Initial>
using carried_t = typename carried<Initial>::type;

template <class S>
constexpr auto result_of_cell(symbol<S> x) {
    return carry(x);
}
template <class... T>
constexpr auto result_of_cell(cell_result<T...> r) {
    return r;
}

// A loop while it is traced.
class loop_trace {
public:
    constexpr loop_trace(ir::graph& g, int time, bool backward)
        : g_{g}, number_{g.loops++}, time_{time}, direction_{backward ? -1 : 1} {}

    // The steps of a sequence, as a node.
    constexpr int steps(int sequence, int features) {
        ir::node n;
        n.kind = op::reshape;
        n.size = over_time(features);
        n.attribute = ir::as_stored;
        n.in[n.operands++] = sequence;
        return g_.push(n);
    }
    constexpr int delay(int initial, int features) {
        return delay_node(g_, over_time(features), number_, direction_, initial);
    }

    // The nodes from `first` on are those of the cell. What depends on steps or delays, the nodes
    // from `changing` on, has a value for each step.
    constexpr void spread(int changing, int first) {
        list<char> changes = list<char>::filled(g_.nodes.size() - changing, 0);
        for (int i = changing; i < g_.nodes.size(); ++i) {
            ir::node& n = g_.nodes[i];
            bool mine = i < first || n.kind == op::bernoulli;
            for (int k = 0; k < n.operands; ++k) {
                mine = mine || (n.in[k] >= changing && changes[n.in[k] - changing] != 0);
            }
            changes[i - changing] = mine ? 1 : 0;
            if (i < first || !mine) {
                continue;
            }
            bool const by_steps = n.kind == op::bernoulli || ir::traits_of(n).by_pixels;
            if (!by_steps || n.size.pixels > 1) {
                g_.report(mistake::cell_of_scan);
            }
            n.size = over_time(n.size.channels);
        }
    }

    // A value for each step, even where it is the same for all.
    constexpr int in_all_steps(int id) {
        ir::extents const size = over_time(g_.nodes[id].size.channels);
        return g_.nodes[id].size == size ? id
                                         : map_node(g_, fn::add, size, {id, constant_node(g_, 0)});
    }

    // 1 in the steps that count, else 0.
    constexpr int mask(int lengths) {
        ir::node index;
        index.kind = op::index;
        index.size = {false, 1, time_};
        int const numbers =
            map_node(g_, fn::add, index.size, {g_.push(index), constant_node(g_, 0)});
        ir::node column;
        column.kind = op::reshape;
        column.size = {false, time_, 1};
        column.attribute = ir::as_stored;
        column.in[column.operands++] = numbers;
        int const step = g_.push(column);
        return map_node(g_, fn::less, over_time(1), {step, lengths});
    }
    // `value` where the mask is 1, else `other`.
    constexpr int masked(int mask, int value, int other) {
        return map_node(g_, fn::where, g_.nodes[value].size, {mask, value, other});
    }
    constexpr int zero() { return constant_node(g_, 0); }

    constexpr void feedback(int delay, int next) { feedback_node(g_, delay, next); }

    constexpr int last(int id) { return step_node(g_, id, direction_ > 0 ? time_ - 1 : 0); }

private:
    template <class T>
    using list = ir::list<T>;

    constexpr ir::extents over_time(int features) const { return {true, time_, features}; }

    ir::graph& g_;
    int number_, time_, direction_;
};

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
    auto const result = result_of_cell(cell(x_t, carried_t<Initial>{&g, delays[K]}...));
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
        loop.feedback(delays[k], next[k]);
    }
    out = mask >= 0 ? loop.masked(mask, out, loop.zero()) : first_carry ? next[0] : out;
    auto const last = one_or_all(std::tuple{carried_t<Initial>{&g, loop.last(next[K])}...});
    auto const outputs =
        outputs_of_steps<time>(g, out, typename decltype(result.out)::shape_type{});
    return scan_result<decltype(outputs), decltype(last)>{outputs, last};
}

template <class X, class All, size_t... K>
constexpr auto scan_with(X x, All const& all, std::index_sequence<K...> numbers) {
    return scan(steps_of(x), std::get<sizeof...(K)>(all), numbers, std::get<K>(all)...);
}

} // namespace detail

// scan(x, initial..., cell) calls cell(x_t, carries...) for every step x_t of the sequence x,
// (time, features) or (time), beginning with the first; backward() and with_lengths() change that.
//
// Every initial value is a symbol, a number or vector of a sample or of all samples, or a shape,
// which stands for zeros. The cell returns as many carries of the same shapes. The result has
// `outputs`, of all steps, and `last`, the carries behind the last step.
template <class X, class... InitialsAndCell>
    requires((is_symbol<X> || is_time_steps<X>) && sizeof...(InitialsAndCell) > 1)
constexpr auto scan(X x, InitialsAndCell const&... initials_and_cell) {
    static_assert(is_sequence<typename X::shape_type>,
                  "castnet: scan needs a sequence (time, features) or (time); see "
                  "is_sequence<shape found>");
    return detail::scan_with(x, std::forward_as_tuple(initials_and_cell...),
                             std::make_index_sequence<sizeof...(InitialsAndCell) - 1>{});
}

} // namespace castnet
