// Expressions that contain functions of blocks (block_functions.hpp), evaluated block by block: a
// block of the operand is computed first, then the function of all of it, then the rest of the
// expression reads that.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/tensor/detail/block_functions.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/store.hpp>

#include <tuple>
#include <type_traits>

namespace castnet {

template <fn F, class T, Shape S, class... X>
class elementwise_expression;

namespace detail {

// Whether a function of T is one of blocks, where it is one of blocks of some type. (Roots are
// those of the processor.)
template <fn F, class T>
inline constexpr bool takes_blocks =
    elementary::Vectorized<T> || ((F == fn::sqrt || F == fn::rsqrt) && elementary::Binary<T>);

// Whether an expression is such a function, or has one.
template <class X>
inline constexpr bool is_of_blocks = false;
template <fn F, class T, class S, class X, Number... More>
inline constexpr bool is_of_blocks<elementwise_expression<F, T, S, X, More...>> =
    takes_blocks<F, T> &&
    requires(T* x, More... more) { block_function<F>::template take<1>(x, T(more)...); };
template <fn F, class T, class S, TensorExpression X, TensorExpression Y>
inline constexpr bool is_of_blocks<elementwise_expression<F, T, S, X, Y>> =
    elementary::Vectorized<T> &&
    requires(T* x) { block_function<F>::template take_pairs<1>(x, x); };
template <class X>
inline constexpr bool has_blocks = false;
template <fn F, class T, class S, class... X>
inline constexpr bool has_blocks<elementwise_expression<F, T, S, X...>> =
    is_of_blocks<elementwise_expression<F, T, S, X...>> || (has_blocks<X> || ...);

// How a loop over a result of shape S reads operands: by places in memory order, or along a row.
template <class S>
struct flat_reader {
    template <class X>
    static constexpr bool repeats = X::shape_type::count != S::count;

    template <class X>
    CASTNET_ALWAYS_INLINE auto operator()(X const& x, size_t i) const {
        return flat_element<S>(x, i);
    }
};
template <class... Index>
struct row_reader {
    template <class X>
    static constexpr bool repeats =
        X::shape_type::rank == 0 || X::shape_type::extent[X::shape_type::rank - 1] == 1;

    std::tuple<Index...> row;

    template <class X>
    CASTNET_ALWAYS_INLINE auto operator()(X const& x, size_t i) const {
        return apply_inline([&](auto... at) __attribute__((
                                always_inline)) { return broadcast_element(x, at..., i); },
                            row);
    }
};

template <size_t Count, class X, class Read, class Use>
CASTNET_ALWAYS_INLINE void with_block(X const& x, Read const& read, size_t first, Use const& use);

// Calls use(elements…), in which elements(k) is element first + k of an operand, for k < Count.
template <size_t Count, size_t I = 0, class Operands, class Read, class Use, class... Elements>
CASTNET_ALWAYS_INLINE void with_operands(Operands const& x, Read const& read, size_t first,
                                         Use const& use, Elements const&... elements) {
    if constexpr (I == std::tuple_size_v<Operands>) {
        use(elements...);
    } else {
        with_block<Count>(std::get<I>(x), read, first,
                          [&](auto const& next) __attribute__((always_inline)) {
                              with_operands<Count, I + 1>(x, read, first, use, elements..., next);
                          });
    }
}

// out[k] = element first + k of a function of blocks, for k < Count
template <size_t Count, fn F, class T, class S, class X, class... More, class Read>
CASTNET_ALWAYS_INLINE void take_block(elementwise_expression<F, T, S, X, More...> const& x,
                                      Read const& read, size_t first, T* out) {
    apply_inline(
        [&](X const& of, More... more) __attribute__((always_inline)) {
            with_block<Count>(of, read, first,
                              [&](auto const& elements) __attribute__((always_inline)) {
                                  store<cost_of<X>, Count>(out, elements);
                              });
            block_function<F>::template take<Count>(out, static_cast<T>(more)...);
        },
        x.operands());
}

template <size_t Count, fn F, class T, class S, TensorExpression X, TensorExpression Y, class Read>
CASTNET_ALWAYS_INLINE void take_block(elementwise_expression<F, T, S, X, Y> const& x,
                                      Read const& read, size_t first, T* out) {
    alignas(64) T second[Count];
    auto const keep = [&]<class Operand>(Operand const& of, T* to) __attribute__((always_inline)) {
        with_block<Count>(of, read, first,
                          [&](auto const& elements) __attribute__((always_inline)) {
                              store<cost_of<Operand>, Count>(to, elements);
                          });
    };
    keep(std::get<1>(x.operands()), second); // which may be where the result goes
    keep(std::get<0>(x.operands()), out);
    block_function<F>::template take_pairs<Count>(out, second);
}

template <size_t Count, class X, class Read, class Use>
CASTNET_ALWAYS_INLINE void with_block(X const& x, Read const& read, size_t first, Use const& use) {
    if constexpr (!has_blocks<X>) {
        use([&](size_t k) __attribute__((always_inline)) { return read(x, first + k); });
    } else if constexpr (Read::template repeats<X>) {
        auto const once = read(x, first);
        use([&](size_t) __attribute__((always_inline)) { return once; });
    } else if constexpr (is_of_blocks<X>) {
        alignas(64) typename X::value_type room[Count];
        take_block<Count>(x, read, first, room);
        use([&](size_t k) __attribute__((always_inline)) { return room[k]; });
    } else {
        with_operands<Count>(
            x.operands(), read, first, [&](auto const&... of) __attribute__((always_inline)) {
                use([&](size_t k) __attribute__((always_inline)) { return X::value(of(k)...); });
            });
    }
}

// out[i] = element i of x as `read` reads it, for i < Count
template <size_t Count, class T, class X, class Read>
CASTNET_ALWAYS_INLINE void store_elements(T* out, X const& x, Read const& read) {
    if constexpr (has_blocks<X>) {
        constexpr size_t block = 512, rest = Count % block, few = rest % 16;
        auto const store_block = [&]<size_t Length>(size_t first,
                                                    shape<Length>) __attribute__((always_inline)) {
            if constexpr (is_of_blocks<X> && std::is_same_v<T, typename X::value_type> &&
                          !Read::template repeats<X>) {
                take_block<Length>(x, read, first, out + first);
            } else {
                with_block<Length>(x, read, first,
                                   [&](auto const& elements) __attribute__((always_inline)) {
                                       store<element_cost::high, Length>(out + first, elements);
                                   });
            }
        };
        for (size_t first = 0; first != Count - rest; first += block) {
            store_block(first, shape<block>{});
        }
        if constexpr (rest > few) { // whole vectors
            store_block(Count - rest, shape<rest - few>{});
        }
        if constexpr (few > 0) {
            store_block(Count - few, shape<few>{});
        }
    } else {
        store<cost_of<X>, Count>(out, [&](size_t i)
                                          __attribute__((always_inline)) { return read(x, i); });
    }
}

} // namespace detail

} // namespace castnet
