// Axes of a tensor in a network: its extents, and the order of its elements in memory.
#pragma once

#include <castnet/core/ids.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace castnet {

// How the elements of one sample lie in memory, and those of a parameter that is no weight of a
// product. The axis that lies innermost is that of the channels (features): dense layers,
// concatenation, softmax and the like work along it. All other axes are pixels to them.
enum class memory_order : std::uint8_t {
    row_major,    // the last axis lies innermost: vectors (features), sequences (time, features)
    channels_last // the first axis does: images (channels, height, width)
};

// Of a tensor that does not say so: three axes are an image.
constexpr memory_order default_order(size_t rank) {
    return rank == 3 ? memory_order::channels_last : memory_order::row_major;
}

// The shape of a symbol or parameter whose order is not the default of its rank.
template <memory_order Order, size_t... D>
struct ordered_shape : shape<D...> {};
template <memory_order Order, size_t... D>
inline constexpr bool is_shape<ordered_shape<Order, D...>> = true;

namespace detail {

template <memory_order Order, size_t... D>
using shape_in = std::conditional_t<Order == default_order(sizeof...(D)), shape<D...>,
                                    ordered_shape<Order, D...>>;

} // namespace detail

// The shape of a tensor whose last axis lies innermost whatever its rank, so that one with three
// axes is no image: row_major_shape<heads, time, features>. Up to six axes. (Functions deduce the
// extents of three axes and more from symbol<ordered_shape<memory_order::row_major, D...>>.)
template <size_t... D>
using row_major_shape = detail::shape_in<memory_order::row_major, D...>;

// A shape without the order in memory, as data has it.
template <class S>
struct logical_shape_of {
    using type = S;
};
template <memory_order Order, size_t... D>
struct logical_shape_of<ordered_shape<Order, D...>> {
    using type = shape<D...>;
};
template <class S>
using logical_shape = typename logical_shape_of<S>::type;

template <class S>
inline constexpr memory_order order_of = default_order(S::rank);
template <memory_order Order, size_t... D>
inline constexpr memory_order order_of<ordered_shape<Order, D...>> = Order;

template <size_t Values, size_t... D>
inline constexpr memory_order order_of<ids<Values, D...>> = memory_order::row_major;

// Whether the channels are the first axis: of images and of volumes.
template <class S>
inline constexpr bool channels_first = order_of<S> == memory_order::channels_last;
template <class S>
inline constexpr bool is_image = channels_first<S> && S::rank == 3;

namespace detail {

template <class S>
inline constexpr size_t channel_axis = channels_first<S> || S::rank == 0 ? 0 : S::rank - 1;

template <class S, size_t Channels, size_t... Axis>
constexpr auto replace_channels(std::index_sequence<Axis...>) {
    return shape_in<order_of<S>, (Axis == channel_axis<S> ? Channels : S::extent[Axis])...>{};
}

template <class S, size_t Channels, size_t... Axis>
constexpr auto channels_beside_ones(std::index_sequence<Axis...>) {
    return shape_in<order_of<S>, (Axis == channel_axis<S> ? Channels : 1)...>{};
}
// The shape of S with so many channels of one pixel.
template <class S, size_t Channels>
using channels_alone =
    decltype(channels_beside_ones<S, Channels>(std::make_index_sequence<S::rank>{}));

} // namespace detail

template <class S>
inline constexpr size_t channels_of = S::rank == 0 ? 1 : S::extent[detail::channel_axis<S>];
template <class S>
inline constexpr size_t pixels_of = S::count / channels_of<S>;

// S with so many channels.
template <class S, size_t Channels>
using with_channels =
    decltype(detail::replace_channels<S, Channels>(std::make_index_sequence<S::rank>{}));

namespace ir {

// The shape of a tensor as a value: a range of extents, and their order.
struct axes {
    static constexpr int max_rank = 6;

    int rank = 0;
    int extent[max_rank]{};
    memory_order order = memory_order::row_major;

    constexpr int const* begin() const { return extent; }
    constexpr int const* end() const { return extent + rank; }
    constexpr int count() const {
        int n = 1;
        for (int i = 0; i < rank; ++i) {
            n *= extent[i];
        }
        return n;
    }
    friend constexpr bool operator==(axes const&, axes const&) = default;
};

constexpr bool counts_in_int(size_t const* extent, size_t rank) {
    size_t most = std::numeric_limits<int>::max();
    for (size_t i = 0; i < rank; ++i) {
        most /= extent[i];
    }
    return most > 0;
}

// A class, so that every compiler prints the shape.
template <class S>
struct elements_are_countable {
    static constexpr bool checked = counts_in_int(S::extent, S::rank);
    static_assert(checked, "castnet: a tensor of a network has less than 2^31 elements for each "
                           "sample, and a parameter as many; see elements_are_countable<shape>");
};

template <class S>
constexpr axes make_axes() {
    static_assert(S::rank <= axes::max_rank, "castnet: a tensor of a network has at most six axes");
    axes a;
    a.rank = S::rank <= axes::max_rank ? static_cast<int>(S::rank) : axes::max_rank;
    for (int i = 0; i < a.rank; ++i) {
        a.extent[i] = elements_are_countable<S>::checked ? static_cast<int>(S::extent[i]) : 1;
    }
    a.order = order_of<S>;
    return a;
}

template <class S>
inline constexpr axes axes_of = make_axes<S>();

} // namespace ir
} // namespace castnet
