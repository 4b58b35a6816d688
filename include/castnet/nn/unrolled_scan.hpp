// Scan over a sequence of images, (channels, time, height, width), whose steps are images. Its
// carries are tensors of any shape, and the cell may have any layers. The steps are written out:
// the cell is traced in each, with the same parameters, so what a program takes to compile, and
// what a step of training takes of memory, grows with their number.
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/cell.hpp>
#include <castnet/nn/scope.hpp>
#include <castnet/nn/time_steps.hpp>
#include <castnet/nn/volume.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// The shape of values of all steps.
template <size_t Time, class Step>
struct all_steps {
    using type = row_major_shape<Time, Step::count>; // of tensors of other ranks: a row each
};
template <size_t Time>
struct all_steps<Time, shape<>> {
    using type = shape<Time>;
};
template <size_t Time, size_t Features>
struct all_steps<Time, shape<Features>> {
    using type = shape<Time, Features>;
};
template <size_t Time, size_t C, size_t H, size_t W>
struct all_steps<Time, shape<C, H, W>> {
    using type = volume<C, Time, H, W>;
};

template <class S>
constexpr symbol<S> first_carry(ir::graph&, symbol<S> x) {
    return x;
}
template <Shape S>
constexpr symbol<S> first_carry(ir::graph& g, S) {
    int const zero = constant_node(g, 0);
    return {&g, map_node(g, fn::add, ir::space_of<S>, {zero, zero})};
}

// Calls the cell for one step after another, which find the parameters of the first.
class unrolled_steps {
public:
    constexpr explicit unrolled_steps(ir::graph& g)
        : path_{g.path}, unnamed_{path_.unnamed}, positioned_{path_.positioned} {
        if (g.repeat >= 0) {
            g.report(mistake::repeated_block_shares);
        }
    }
    template <class Cell, class... X>
    constexpr auto operator()(Cell const& cell, X... x) {
        path_.unnamed = unnamed_;
        path_.positioned = positioned_;
        path_.sharing += is_first_ ? 0 : 1;
        auto const result = cell(x...);
        path_.sharing -= is_first_ ? 0 : 1;
        is_first_ = false;
        return result;
    }

private:
    scope& path_;
    int unnamed_;
    bool positioned_, is_first_ = true;
};

template <class Step, class Cell, class... Carry>
constexpr auto result_of_step(unrolled_steps& steps, Cell const& cell, symbol<Step> x,
                              Carry... carry) {
    static_assert(cell_takes<Cell, symbol<Step>, Carry...>::checked);
    auto const result = result_of_cell(steps(cell, x, carry...), carry...);
    using carries = decltype(result.carries);
    static_assert(as_many_carries<sizeof...(Carry), std::tuple_size_v<carries>>::checked);
    return result;
}

// The values of all steps as one, each before the next in memory.
template <class Step, size_t Time, size_t... T>
constexpr auto joined_steps(std::array<symbol<Step>, Time> const& each, std::index_sequence<T...>) {
    using result = typename all_steps<Time, Step>::type;
    ir::graph& g = *each[0].g;
    if constexpr (Time == 1) {
        return symbol<result>{&g, seen_as(g, array_id(each[0]), ir::space_of<result>)};
    } else {
        return join_rows<1, result>(g, each[T]...);
    }
}

template <class S, class Cell, class... Initial>
constexpr auto unrolled_scan(time_steps<S> x, Cell const& cell, Initial... initial) {
    constexpr size_t time = S::extent[1];
    using step = shape<S::extent[0], S::extent[2], S::extent[3]>;
    ir::graph& g = *x.values.g;
    auto const images = as_volume(x.values);
    unrolled_steps steps{g};
    auto const at = [&](size_t t) { return on_rows<op::slice, 1, step>(images, t); };
    auto carries = std::tuple{first_carry(g, initial)...};
    auto const next = [&](size_t t) {
        auto const before = carries;
        auto const result = std::apply(
            [&](auto... carry) { return result_of_step<step>(steps, cell, at(t), carry...); },
            before);
        static_assert(carry_keeps_shape<std::remove_cv_t<decltype(carries)>,
                                        std::remove_cv_t<decltype(result.carries)>>,
                      "castnet: scan: a carry changes its shape from one step to the next; see "
                      "carry_keeps_shape<before, after>");
        carries = result.carries;
        if (x.lengths.g == nullptr) {
            return result.out;
        }
        auto const counts = greater(x.lengths, static_cast<double>(t));
        [&]<size_t... K>(std::index_sequence<K...>) {
            ((std::get<K>(carries) = where(counts, std::get<K>(carries), std::get<K>(before))),
             ...);
        }(std::make_index_sequence<sizeof...(Initial)>{});
        return where(counts, result.out, 0);
    };
    auto const place = [&](size_t i) { return x.backward ? time - 1 - i : i; };
    auto const first = next(place(0));
    std::array<std::remove_cv_t<decltype(first)>, time> outputs{};
    outputs[place(0)] = first;
    for (size_t i = 1; i < time; ++i) {
        outputs[place(i)] = next(place(i));
    }
    auto const all = joined_steps(outputs, std::make_index_sequence<time>{});
    auto const last = one_or_all(carries);
    return scan_result<std::remove_cv_t<decltype(all)>, std::remove_cv_t<decltype(last)>>{all,
                                                                                          last};
}

} // namespace castnet::detail
