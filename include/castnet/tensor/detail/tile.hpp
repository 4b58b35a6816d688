// Tile: a few rows of a result, or parts of them, with the operands of an expression as they lie
// there. Operands that lie in another order are copied to memory of the tile, in vectors where
// these can turn or repeat them; so the expression is computed in vectors, too.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/expr/function.hpp>
#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/row_vectors.hpp>
#include <castnet/tensor/detail/transpose.hpp>
#include <castnet/tensor/view.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace castnet {

template <fn F, class T, Shape S, class... X>
class elementwise_expression;

namespace detail {

// The last of the axes of X but FromLast, as one of a result: its step, 0 where X is repeated.
template <class X, size_t FromLast>
constexpr size_t step_from_last() {
    using S = typename X::shape_type;
    if constexpr (FromLast >= S::rank) {
        return 0;
    } else {
        constexpr size_t axis = S::rank - 1 - FromLast;
        return S::extent[axis] == 1 ? 0 : X::strides_type::step[axis];
    }
}

// How the elements of a view lie in a tile: in one place, in order, in order along the rows, in
// lines across them, one for each row, or otherwise.
enum class tile_order : std::uint8_t { one, flat, along, across, repeated, scattered };

template <class X, size_t Rows, size_t Columns>
constexpr tile_order order_in_tile() {
    constexpr size_t down = step_from_last<X, 1>(), along = step_from_last<X, 0>();
    if constexpr (along == 0) {
        return down == 0 ? tile_order::one : tile_order::repeated;
    } else if constexpr (along == 1) {
        return down == Columns ? tile_order::flat : tile_order::along;
    } else {
        return down == 1 && along >= Rows && TurnedInVectors<typename X::value_type>
                   ? tile_order::across
                   : tile_order::scattered;
    }
}

// The address of the element of x that belongs to an index of the result.
template <class X, size_t Rank>
CASTNET_ALWAYS_INLINE auto address_in(X const& x, std::array<size_t, Rank> const& at) {
    using S = typename X::shape_type;
    auto const* first = x.data();
    for (size_t axis = 0; axis != S::rank; ++axis) {
        if (S::extent[axis] != 1) {
            first += at[Rank - S::rank + axis] * X::strides_type::step[axis];
        }
    }
    return first;
}

// An operand on a tile: at its first element, with what a matrix's tiles have in common, and then
// taken from one to the other. A number.
template <class Tile, bool Flat, class X>
class on_tile {
public:
    template <size_t Rank>
    on_tile(X const& x, std::array<size_t, Rank> const&) : value_{x} {}
    template <size_t Rank>
    void take(X const&, std::array<size_t, Rank> const&) {}
    X get() const { return value_; }

private:
    X value_;
};

// Elements in memory. Flat: the tile is one row, and what does not lie like this is copied.
template <size_t Rows, size_t Columns, bool Flat, class X>
    requires requires { typename X::strides_type; }
class on_tile<shape<Rows, Columns>, Flat, X> {
    using T = typename X::value_type;
    using S = typename X::shape_type;
    static constexpr size_t down = step_from_last<X, 1>(), along = step_from_last<X, 0>();
    static constexpr tile_order order = order_in_tile<X, Rows, Columns>();
    static constexpr bool stays =
        order == tile_order::one || order == tile_order::flat ||
        (!Flat && (order == tile_order::along || order == tile_order::repeated));
    static constexpr bool is_common = !stays && Flat && down == 0;
    // and what a last vector writes after them
    static constexpr size_t room = stays ? 1 : Rows * Columns + 64 / sizeof(T);

public:
    template <size_t Rank>
    CASTNET_ALWAYS_INLINE on_tile(X const& x, std::array<size_t, Rank> const& at)
        : first_{address_in(x, at)} {
        if constexpr (is_common) {
            copy();
        }
    }
    template <size_t Rank>
    CASTNET_ALWAYS_INLINE void take(X const& x, std::array<size_t, Rank> const& at) {
        if constexpr (!is_common) {
            first_ = address_in(x, at);
        }
        if constexpr (!is_common && !stays) {
            copy();
        }
    }

    auto get() const {
        if constexpr (order == tile_order::one) {
            return tensor_view<T const, shape<>>{first_};
        } else if constexpr (!stays) {
            return tensor_view<T const, shape<Rows, Columns>>{copies_};
        } else {
            return tensor_view<T const, shape<Rows, Columns>, strides<down, along>>{first_};
        }
    }

private:
    CASTNET_ALWAYS_INLINE void copy() {
        if constexpr (order == tile_order::across) {
            transpose_fixed<Rows, Columns, memory_after::undetermined>(first_, along, copies_,
                                                                       Columns);
        } else if constexpr (TurnedInVectors<T> && order != tile_order::scattered) {
            constexpr size_t lanes = size_t{cpu::simd<T>::width};
            constexpr size_t at_once = // rows of neighbouring numbers
                repeats_lanes && order == tile_order::repeated && down == 1 ? Rows / lanes * lanes
                                                                            : 0;
            if constexpr (at_once > 0) {
                for (size_t row = 0; row < at_once; row += lanes) {
                    repeat_lanes<Columns>(first_ + row, copies_ + row * Columns);
                }
            }
            row_vectors<Columns, T> all;
            if constexpr (down == 0) {
                all.load(first_, false);
            }
            for (size_t row = at_once; row < Rows; ++row) {
                if constexpr (order == tile_order::repeated) {
                    all.fill(first_[row * down]);
                } else if constexpr (down != 0) {
                    all.load(first_ + row * down, row + 1 < Rows);
                }
                all.store(copies_ + row * Columns, true);
            }
        } else {
            for (size_t row = 0; row < Rows; ++row) {
                for (size_t i = 0; i < Columns; ++i) {
                    copies_[row * Columns + i] = first_[row * down + i * along];
                }
            }
        }
    }

    T const* first_;
    alignas(64) T copies_[room];
};

// The same of some small matrices of a batch, as one row.
template <size_t Depth, size_t Rows, size_t Columns, class X>
    requires requires { typename X::strides_type; }
class on_tile<shape<Depth, Rows, Columns>, true, X> {
    using T = typename X::value_type;
    static constexpr size_t deep = step_from_last<X, 2>(), down = step_from_last<X, 1>(),
                            along = step_from_last<X, 0>();
    static constexpr bool is_one = deep == 0 && down == 0 && along == 0;
    static constexpr bool stays =
        is_one || (deep == Rows * Columns && down == Columns && along == 1);
    static constexpr bool is_common = !stays && deep == 0;

public:
    template <size_t Rank>
    CASTNET_ALWAYS_INLINE on_tile(X const& x, std::array<size_t, Rank> const& at)
        : first_{address_in(x, at)} {
        if constexpr (is_common) {
            copy();
        }
    }
    template <size_t Rank>
    CASTNET_ALWAYS_INLINE void take(X const& x, std::array<size_t, Rank> const& at) {
        if constexpr (!is_common) {
            first_ = address_in(x, at);
        }
        if constexpr (!is_common && !stays) {
            copy();
        }
    }

    auto get() const {
        if constexpr (is_one) {
            return tensor_view<T const, shape<>>{first_};
        } else {
            return tensor_view<T const, shape<Depth, Rows, Columns>>{stays ? first_ : copies_};
        }
    }

private:
    CASTNET_ALWAYS_INLINE void copy() {
        for (size_t i = 0; i < Depth; ++i) {
            for (size_t row = 0; row < Rows; ++row) {
                for (size_t k = 0; k < Columns; ++k) {
                    copies_[(i * Rows + row) * Columns + k] =
                        first_[i * deep + row * down + k * along];
                }
            }
        }
    }

    T const* first_;
    alignas(64) T copies_[stays ? 1 : Depth * Rows * Columns];
};

// The operands of a function, each made in its place.
template <class Tile, bool Flat, class... X>
class operands_on_tile {
public:
    template <class Operands, class At, size_t... I>
    operands_on_tile(Operands const&, At const&, std::index_sequence<I...>) {}
    template <class Operands, class At, size_t... I>
    void take(Operands const&, At const&, std::index_sequence<I...>) {}
    template <class Function, class... Value>
    CASTNET_ALWAYS_INLINE auto apply(Function const& f, Value const&... values) const {
        return f(values...);
    }
};
template <class Tile, bool Flat, class First, class... More>
class operands_on_tile<Tile, Flat, First, More...> {
public:
    template <class Operands, class At, size_t I, size_t... Others>
    CASTNET_ALWAYS_INLINE operands_on_tile(Operands const& x, At const& at,
                                           std::index_sequence<I, Others...>)
        : first_{std::get<I>(x), at}, more_{x, at, std::index_sequence<Others...>{}} {}
    template <class Operands, class At, size_t I, size_t... Others>
    CASTNET_ALWAYS_INLINE void take(Operands const& x, At const& at,
                                    std::index_sequence<I, Others...>) {
        first_.take(std::get<I>(x), at);
        more_.take(x, at, std::index_sequence<Others...>{});
    }

    template <class Function, class... Value>
    CASTNET_ALWAYS_INLINE auto apply(Function const& f, Value const&... values) const {
        return more_.apply(f, values..., first_.get());
    }

private:
    on_tile<Tile, Flat, First> first_;
    operands_on_tile<Tile, Flat, More...> more_;
};

// An expression.
template <class Tile, bool Flat, fn F, class T, class S, class... X>
class on_tile<Tile, Flat, elementwise_expression<F, T, S, X...>> {
public:
    template <size_t Rank>
    CASTNET_ALWAYS_INLINE on_tile(elementwise_expression<F, T, S, X...> const& x,
                                  std::array<size_t, Rank> const& at)
        : operands_{x.operands(), at, std::index_sequence_for<X...>{}} {}
    template <size_t Rank>
    CASTNET_ALWAYS_INLINE void take(elementwise_expression<F, T, S, X...> const& x,
                                    std::array<size_t, Rank> const& at) {
        operands_.take(x.operands(), at, std::index_sequence_for<X...>{});
    }

    CASTNET_ALWAYS_INLINE auto get() const {
        return operands_.apply([](auto const&... x) {
            return elementwise_expression<F, T, Tile, std::remove_cvref_t<decltype(x)>...>{
                function<F>{}, x...};
        });
    }

private:
    operands_on_tile<Tile, Flat, X...> operands_;
};

// Calls body(x on a tile, index of its first element…) for all matrices of a result of shape S, of
// which a tile has some.
template <class S, size_t Depth, class X, class Body>
CASTNET_ALWAYS_INLINE void for_each_tile_of_matrices(X const& x, Body const& body) {
    constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1],
                     matrices = S::extent[S::rank - 3], rest = matrices % Depth;
    for_each_index<decltype(without_last(without_last(without_last(S{}))))>([&](auto... at) {
        auto const take = [&]<size_t Matrices>(shape<Matrices>, size_t first, size_t end) {
            using index = std::array<size_t, S::rank>;
            on_tile<shape<Matrices, rows, columns>, true, X> tile(x, index{at..., first, 0, 0});
            for (; first != end; first += Matrices) {
                tile.take(x, index{at..., first, 0, 0});
                body(tile.get(), at..., first, size_t{0}, size_t{0});
            }
        };
        take(shape<Depth>{}, 0, matrices - rest);
        if constexpr (rest > 0) {
            take(shape<rest>{}, matrices - rest, matrices);
        }
    });
}

// The same for all tiles of Height x Width or less.
template <class S, bool Flat, size_t Height, size_t Width, class X, class Body>
CASTNET_ALWAYS_INLINE void for_each_tile(X const& x, Body const& body) {
    constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1];
    constexpr size_t rest = rows % Height, more = columns % Width;
    for_each_index<decltype(without_last(without_last(S{})))>([&](auto... at) {
        auto const take = [&]<size_t Rows, size_t Columns>(shape<Rows, Columns>, size_t top,
                                                           size_t end, size_t left) {
            using index = std::array<size_t, S::rank>;
            on_tile<shape<Rows, Columns>, Flat, X> tile(x, index{at..., top, left});
            for (; top != end; top += Rows) {
                tile.take(x, index{at..., top, left});
                body(tile.get(), at..., top, left);
            }
        };
        auto const take_rows = [&]<size_t Rows>(shape<Rows>, size_t top, size_t end) {
            for (size_t left = 0; left != columns - more; left += Width) {
                take(shape<Rows, Width>{}, top, end, left);
            }
            if constexpr (more > 0) {
                take(shape<Rows, more>{}, top, end, columns - more);
            }
        };
        if constexpr (Flat) {
            take_rows(shape<Height>{}, 0, rows - rest);
        } else { // all that a row's tiles have in common lies in memory
            for (size_t top = 0; top != rows - rest; top += Height) {
                take_rows(shape<Height>{}, top, top + Height);
            }
        }
        if constexpr (rest > 0) {
            take_rows(shape<rest>{}, rows - rest, rows);
        }
    });
}

// Whether rows shorter than a vector are better computed as one row of a tile.
template <class S, class T>
inline constexpr bool has_short_rows = S::rank > 1 && S::count >= 64 &&
                                       S::extent[S::rank > 0 ? S::rank - 1 : 0] > 1 &&
                                       S::extent[S::rank > 1 ? S::rank - 2 : 0] > 1 &&
                                       S::extent[S::rank > 0 ? S::rank - 1 : 0] * sizeof(T) < 64;
// And whether rows of a few vectors that do not fill the last one may be.
template <class S, class T>
inline constexpr bool has_uneven_rows = [] {
    if constexpr (std::is_floating_point_v<T> && S::rank > 1 && S::count >= 64) {
        constexpr size_t width = S::extent[S::rank - 1] * sizeof(T);
        return S::extent[S::rank - 2] > 1 && width < 256 && width % size_t{cpu::vector_bytes} != 0;
    }
    return false;
}();
// They are, if their elements cost more than a copy, or if little has to be copied: rows that all
// others share, once, or numbers of rows that are not much longer than a vector.
template <class S, class X>
inline constexpr bool copies_little = true;
template <class S, TensorExpression X>
    requires(S::rank > 1 && requires { typename X::strides_type; })
inline constexpr bool copies_little<S, X> = [] {
    constexpr size_t columns = S::extent[S::rank - 1];
    constexpr tile_order order = order_in_tile<X, S::extent[S::rank - 2], columns>();
    return order == tile_order::one || order == tile_order::flat ||
           (order == tile_order::along && step_from_last<X, 1>() == 0) ||
           (order == tile_order::repeated && columns * sizeof(typename X::value_type) < 128);
}();
template <class S, fn F, class T, class Own, class... X>
inline constexpr bool copies_little<S, elementwise_expression<F, T, Own, X...>> =
    (copies_little<S, X> && ...);

// How many rows, or small matrices, of so many elements a tile has: those that fill vectors.
template <class T>
constexpr size_t count_in_tile(size_t elements) {
    constexpr size_t most = 512, lanes = 64 / sizeof(T);
    return std::max(lanes, most / elements / lanes * lanes);
}

// Calls body(x on a tile, index of its first element…) for all tiles of a result of shape S with
// such rows: tiles of many rows, where matrices are small those of several.
template <class S, class X, class Body>
CASTNET_ALWAYS_INLINE void for_each_tile_of_rows(X const& x, Body const& body) {
    constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1];
    using T = typename X::value_type;
    if constexpr (S::rank > 2 && rows * columns <= 64) {
        constexpr size_t depth = std::min(S::extent[S::rank - 3], count_in_tile<T>(rows * columns));
        for_each_tile_of_matrices<S, depth>(x, body);
    } else {
        for_each_tile<S, true, std::min(rows, count_in_tile<T>(columns)), columns>(x, body);
    }
}

} // namespace detail

} // namespace castnet
