// Padding of an axis or an image with elements of its own: reflection_pad, replication_pad and
// circular_pad (PyTorch's F.pad and nn.…Pad2d, NumPy's np.pad with modes reflect, edge and wrap).
//
// reflection_pad<1, 2, 2> puts two positions before axis 1 and two after it, and
// reflection_pad2d<sides{…}> so many rows and columns around an image.
#pragma once

#include <castnet/nn/pad2d.hpp>

#include <utility>

namespace castnet {

enum class border : unsigned char {
    reflection,  // mirrored at the first and last position, which are not repeated: c b | a b c
    replication, // the first and last position again: a a | a b c
    circular     // from the other end: b c | a b c
};

// A class, so that every compiler prints its arguments.
template <size_t Positions, size_t Most>
struct border_fits {
    static_assert(Positions <= Most,
                  "castnet: reflection_pad takes fewer positions than the axis has, and "
                  "circular_pad no more; see border_fits<positions, most>");
    static constexpr bool checked = true;
};

namespace detail {

// As many positions as an axis of this extent can lend to a border.
constexpr size_t most_padding(border kind, size_t extent) {
    return kind == border::reflection ? extent - 1 : kind == border::circular ? extent : size_t(-1);
}

template <size_t Axis, class S, size_t... I>
constexpr auto copies(symbol<S> x, std::index_sequence<I...>) {
    if constexpr (sizeof...(I) == 1) {
        return x;
    } else {
        return concatenate<Axis>((static_cast<void>(I), x)...);
    }
}

// Border of an axis: before its first position, or after its last one.
template <border Kind, size_t Axis, size_t Count, bool After, class S>
constexpr auto border_of(symbol<S> x) {
    constexpr size_t n = S::extent[Axis];
    if constexpr (Kind == border::reflection) {
        constexpr size_t first = After ? n - 1 - Count : 1;
        return reverse<Axis>(slice<Axis, first, first + Count>(x));
    } else if constexpr (Kind == border::circular) {
        constexpr size_t first = After ? 0 : n - Count;
        return slice<Axis, first, first + Count>(x);
    } else {
        constexpr size_t only = After ? n - 1 : 0;
        return copies<Axis>(slice<Axis, only, only + 1>(x), std::make_index_sequence<Count>{});
    }
}

} // namespace detail

template <border Kind, size_t Axis, size_t Before, size_t After>
struct border_pad_layer {
    static constexpr char const* name = Kind == border::reflection    ? "reflection_pad"
                                        : Kind == border::replication ? "replication_pad"
                                                                      : "circular_pad";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(tensor_has_axis<S, Axis>,
                      "castnet: reflection_pad, replication_pad and circular_pad: the tensor has "
                      "no such axis; see tensor_has_axis<shape, axis>");
        if constexpr (tensor_has_axis<S, Axis>) {
            return padded(x);
        } else {
            return x;
        }
    }

private:
    template <Shape S>
    static constexpr auto padded(symbol<S> x) {
        constexpr size_t extent = S::extent[Axis], most = detail::most_padding(Kind, extent),
                         wanted = Before > After ? Before : After;
        static_assert(border_fits<wanted, most>::checked);
        if constexpr (wanted > most || wanted == 0) {
            return x;
        } else if constexpr (Before == 0) {
            return concatenate<Axis>(x, detail::border_of<Kind, Axis, After, true>(x));
        } else if constexpr (After == 0) {
            return concatenate<Axis>(detail::border_of<Kind, Axis, Before, false>(x), x);
        } else {
            return concatenate<Axis>(detail::border_of<Kind, Axis, Before, false>(x), x,
                                     detail::border_of<Kind, Axis, After, true>(x));
        }
    }
};
template <size_t Axis, size_t Before, size_t After>
inline constexpr border_pad_layer<border::reflection, Axis, Before, After> reflection_pad{};
template <size_t Axis, size_t Before, size_t After>
inline constexpr border_pad_layer<border::replication, Axis, Before, After> replication_pad{};
template <size_t Axis, size_t Before, size_t After>
inline constexpr border_pad_layer<border::circular, Axis, Before, After> circular_pad{};

// Of an image: (channels, height, width) becomes (channels, top + height + bottom, left + width +
// right).
template <border Kind, sides Around>
struct border_pad2d_layer {
    static constexpr char const* name = Kind == border::reflection    ? "reflection_pad2d"
                                        : Kind == border::replication ? "replication_pad2d"
                                                                      : "circular_pad2d";

    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        return detail::with_borders(x, [](auto image) {
            constexpr border_pad_layer<Kind, 1, Around.top, Around.bottom> rows{};
            constexpr border_pad_layer<Kind, 2, Around.left, Around.right> columns{};
            return columns(rows(image));
        });
    }
};
template <sides Around>
inline constexpr border_pad2d_layer<border::reflection, Around> reflection_pad2d{};
template <sides Around>
inline constexpr border_pad2d_layer<border::replication, Around> replication_pad2d{};
template <sides Around>
inline constexpr border_pad2d_layer<border::circular, Around> circular_pad2d{};

} // namespace castnet
