// Expressions as kernels compute them: the same functions of numbers and of elements in a GPU's
// memory, at places of the result.
//
// A thread computes some neighbours along the last axis at once, its lanes. Where they adjoin in
// memory, they are read and written by one access.
#pragma once

#include <castnet/device/cuda/lanes.hpp>
#include <castnet/expr/function.hpp>
#include <castnet/tensor/elementwise.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace castnet::cuda {

// The axes of a tensor's kernel are numbered in 32 bits where that is enough.
template <class S>
using index_of =
    std::conditional_t<(S::count < (std::uint64_t{1} << 31)), std::uint32_t, std::uint64_t>;

template <class Index, std::size_t Rank>
struct place {
    Index at[Rank];
};

template <class S, std::size_t Axis>
inline constexpr std::uint64_t extent_along = S::extent[Axis];

// The place of element i of S in row-major order.
template <class S, class Index>
CASTNET_HD place<Index, S::rank> place_of(Index i) {
    place<Index, S::rank> p{};
    [&]<std::size_t... FromLast>(std::index_sequence<FromLast...>) {
        (
            [&] {
                constexpr std::size_t axis = S::rank - 1 - FromLast;
                constexpr auto extent = static_cast<Index>(extent_along<S, axis>);
                if constexpr (axis == 0) {
                    p.at[axis] = i;
                } else {
                    p.at[axis] = i % extent;
                    i /= extent;
                }
            }(),
            ...);
    }(std::make_index_sequence<S::rank>{});
    return p;
}

template <class T, int Lanes>
struct lane_values {
    T value[Lanes];
};

// Elements in memory, at these strides along the axes of the result.
template <class T, std::size_t... Step>
struct elements {
    using value_type = std::remove_const_t<T>;
    static constexpr std::size_t rank = sizeof...(Step), widest = sizeof(T);

    T* data;

    // Whether lanes are one access, if the address of the first element is a multiple of its size.
    template <int Lanes>
    static constexpr bool is_wide = [] {
        std::size_t const step[] = {Step...};
        for (std::size_t axis = 0; axis + 1 < rank; ++axis) {
            if (step[axis] % Lanes != 0) {
                return false;
            }
        }
        return Lanes > 1 && step[rank - 1] == 1 && Lanes * sizeof(T) % 4 == 0;
    }();

    template <int Lanes>
    bool is_aligned() const {
        return !is_wide<Lanes> || reinterpret_cast<std::uintptr_t>(data) %
                                          std::min(Lanes * sizeof(T), std::size_t{16}) ==
                                      0;
    }

    template <int Lanes, class Index>
    CASTNET_HD lane_values<value_type, Lanes> get(place<Index, rank> const& p) const {
        lane_values<value_type, Lanes> all;
        T const* const from = first(p);
        if constexpr (is_wide<Lanes>) {
            load_lanes(from, all.value);
        } else {
            for (int i = 0; i < Lanes; ++i) {
                all.value[i] = from[static_cast<std::size_t>(i) * last_step];
            }
        }
        return all;
    }

    template <class U, int Lanes, class Index>
    CASTNET_HD void set(place<Index, rank> const& p, lane_values<U, Lanes> const& all) const {
        T* const to = first(p);
        T value[Lanes];
        for (int i = 0; i < Lanes; ++i) {
            value[i] = static_cast<T>(all.value[i]);
        }
        if constexpr (is_wide<Lanes>) {
            store_lanes(value, to);
        } else {
            for (int i = 0; i < Lanes; ++i) {
                to[static_cast<std::size_t>(i) * last_step] = value[i];
            }
        }
    }

private:
    static constexpr std::size_t last_step = [] {
        std::size_t const step[] = {Step...};
        return step[rank - 1];
    }();

    template <class Index>
    CASTNET_HD T* first(place<Index, rank> const& p) const {
        return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
            return data + ((std::size_t{p.at[Axis]} * Step) + ... + std::size_t{0});
        }(std::make_index_sequence<rank>{});
    }
};

// One number everywhere
template <class T>
struct constant {
    using value_type = T;
    static constexpr std::size_t widest = 1;

    T value;

    template <int>
    bool is_aligned() const {
        return true;
    }
    template <int Lanes, class Place>
    CASTNET_HD lane_values<T, Lanes> get(Place const&) const {
        lane_values<T, Lanes> all;
        for (T& one : all.value) {
            one = value;
        }
        return all;
    }
};

// The operands of a function: what std::tuple is on the host.
template <class... X>
struct operand_list {};
template <class First, class... More>
struct operand_list<First, More...> {
    First first;
    operand_list<More...> more;
};

// F of operands, computed in T.
template <fn F, class T, class... X>
struct call {
    using value_type = T;
    static constexpr std::size_t widest = std::max({X::widest...});

    operand_list<X...> operands;

    template <int Lanes>
    bool is_aligned() const {
        return all_aligned<Lanes>(operands);
    }
    template <int Lanes, class Place>
    CASTNET_HD lane_values<T, Lanes> get(Place const& p) const {
        return evaluate<Lanes>(p, operands);
    }

private:
    template <int Lanes, class First, class... More>
    static bool all_aligned(operand_list<First, More...> const& x) {
        return x.first.template is_aligned<Lanes>() && all_aligned<Lanes>(x.more);
    }
    template <int Lanes>
    static bool all_aligned(operand_list<> const&) {
        return true;
    }

    template <int Lanes, class Place, class... Value>
    CASTNET_HD static lane_values<T, Lanes> evaluate(Place const&, operand_list<> const&,
                                                     Value const&... x) {
        lane_values<T, Lanes> all;
        for (int i = 0; i < Lanes; ++i) {
            all.value[i] = static_cast<T>(castnet::detail::value_in<F, T>(x.value[i]...));
        }
        return all;
    }
    template <int Lanes, class Place, class First, class... More, class... Value>
    CASTNET_HD static lane_values<T, Lanes>
    evaluate(Place const& p, operand_list<First, More...> const& rest, Value const&... x) {
        return evaluate<Lanes>(p, rest.more, x..., rest.first.template get<Lanes>(p));
    }
};

// An expression over the axes of Space as kernels compute it, in numbers of type T. Flat: the
// axes count its elements in memory order, and it has one for each or a single one.
template <class Space, bool Flat, class T, class X>
auto kernel_form(X const& x);

namespace detail {

// The step along an axis of the result, of rank Rank, of a view that is broadcast to it.
template <class S, class Strides, std::size_t Rank>
constexpr std::size_t broadcast_step(std::size_t axis) {
    if (axis + S::rank < Rank) {
        return 0;
    }
    std::size_t const own = axis + S::rank - Rank;
    return S::extent[own] == 1 ? 0 : Strides::step[own];
}

template <class Space, bool Flat, class T, class S, class Strides, std::size_t... Axis>
auto elements_of(tensor_view<T, S, Strides, device::cuda> x, std::index_sequence<Axis...>) {
    if constexpr (!Flat) {
        return elements<T, broadcast_step<S, Strides, Space::rank>(Axis)...>{x.data().get()};
    } else if constexpr (S::count == Space::count) {
        return elements<T, row_major<Space>::step[Axis]...>{x.data().get()};
    } else {
        return elements<T, (static_cast<void>(Axis), std::size_t{0})...>{x.data().get()};
    }
}

template <class Space, bool Flat, class T>
operand_list<> forms_of() {
    return {};
}
template <class Space, bool Flat, class T, class First, class... More>
auto forms_of(First const& first, More const&... more) {
    return operand_list<decltype(kernel_form<Space, Flat, T>(first)),
                        decltype(kernel_form<Space, Flat, T>(more))...>{
        kernel_form<Space, Flat, T>(first), forms_of<Space, Flat, T>(more...)};
}

template <class Space, bool Flat, fn F, class T, class S, class... X>
auto call_of(elementwise_expression<F, T, S, X...> const& x) {
    return std::apply(
        [](X const&... operand) {
            return call<F, T, decltype(kernel_form<Space, Flat, T>(operand))...>{
                forms_of<Space, Flat, T>(operand...)};
        },
        x.operands());
}

} // namespace detail

template <class Space, bool Flat, class T, class X>
auto kernel_form(X const& x) {
    if constexpr (Number<X>) {
        return constant<T>{static_cast<T>(x)};
    } else if constexpr (requires { typename X::strides_type; }) {
        using const_view = tensor_view<typename X::value_type const, typename X::shape_type,
                                       typename X::strides_type, device::cuda>;
        return detail::elements_of<Space, Flat>(const_view{x.data()},
                                                std::make_index_sequence<Space::rank>{});
    } else {
        return detail::call_of<Space, Flat>(x);
    }
}

// As many lanes as 16 bytes have of the largest elements, or as divide the last axis.
template <class Space, std::size_t Bytes>
constexpr int lanes_along(bool divide) {
    std::size_t lanes = Bytes < 16 ? 16 / Bytes : 1;
    while (divide ? Space::extent[Space::rank - 1] % lanes != 0 : Space::count < lanes) {
        lanes /= 2;
    }
    return static_cast<int>(lanes);
}

} // namespace castnet::cuda
