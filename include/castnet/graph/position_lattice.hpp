// Positions of an axis that lie in a lattice: first + stride[0] i + stride[1] j + … for all
// counters i < extent[0], j < extent[1], …, of which i runs fastest. A function of their numbers
// gives them.
#pragma once

#include <castnet/graph/symbol_operators.hpp>

#include <cstddef>
#include <utility>

namespace castnet::detail {

struct position_lattice {
    static constexpr int most_axes = 5;
    int axes = 0;
    std::ptrdiff_t first = 0, extent[most_axes]{}, stride[most_axes]{};
};

// That of so many positions; without axes if they lie in none.
template <class Id>
constexpr position_lattice lattice_of(Id const* ids, std::ptrdiff_t count) {
    position_lattice l;
    auto const beyond_first = [&](std::ptrdiff_t i) {
        return static_cast<std::ptrdiff_t>(ids[i]) - l.first;
    };
    l.first = beyond_first(0);
    for (std::ptrdiff_t inner = 1; inner < count;) {
        std::ptrdiff_t const stride = beyond_first(inner);
        std::ptrdiff_t extent = 2;
        while (extent * inner < count && beyond_first(extent * inner) == extent * stride) {
            ++extent;
        }
        std::ptrdiff_t const end = extent * inner;
        bool found = l.axes < position_lattice::most_axes && count % end == 0;
        for (std::ptrdiff_t i = inner; found && i < end; ++i) {
            found = beyond_first(i) == beyond_first(i - inner) + stride;
        }
        if (!found) {
            return {};
        }
        l.extent[l.axes] = extent;
        l.stride[l.axes++] = stride;
        inner = end;
    }
    return l;
}

// Its positions, of which there are as many as `numbers`, which are 0, 1, 2, …
template <class S>
constexpr symbol<S> places_in(position_lattice const& l, symbol<S> numbers) {
    symbol<S> place = numbers * static_cast<double>(l.stride[0]) + static_cast<double>(l.first);
    std::ptrdiff_t inner = 1;
    for (int k = 1; k < l.axes; ++k) {
        inner *= l.extent[k - 1];
        std::ptrdiff_t const step = l.stride[k] - l.stride[k - 1] * l.extent[k - 1];
        place = place + floor(numbers / static_cast<double>(inner)) * static_cast<double>(step);
    }
    return place;
}

} // namespace castnet::detail
