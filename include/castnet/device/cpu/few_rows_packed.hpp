// Products of no more rows than a tile has with a packed right factor: steps of a loop over time of
// a few samples, whose weights come from the L2 cache again and again.
#pragma once

#include <castnet/cpu/panel.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace castnet::cpu::inline CASTNET_TARGET {

// Panels are read from the last to the first if `backwards`: who alternates finds in the cache what
// was read last. `steps` of the depth are summed up at once, as in multiply_panels.
template <class T>
[[gnu::noinline]] void multiply_few_rows_packed(product<T> const& p, T const* packed,
                                                std::ptrdiff_t steps, bool backwards) {
    constexpr std::ptrdiff_t width = tile_columns<T>;
    std::ptrdiff_t offset[most_steps_at_once];
    std::iota(offset, offset + std::min(steps, p.k), std::ptrdiff_t{0});
    std::ptrdiff_t const panels = panel_count(p.n, width);
    for (std::ptrdiff_t begin = 0; begin < p.k; begin += steps) {
        tile_pointers<T> rows;
        for (std::ptrdiff_t i = 0; i < p.m; ++i) {
            rows.push(p.a.data + i * p.a.row + begin, p.c + i * p.c_row);
        }
        rows.repeat_last();
        std::ptrdiff_t const end = std::min(begin + steps, p.k);
        tile_end<T> mine = end == p.k ? p.end : tile_end<T>{};
        mine.accumulate = p.end.accumulate || begin > 0;
        for (std::ptrdiff_t i = 0; i < panels; ++i) {
            std::ptrdiff_t const left = (backwards ? panels - 1 - i : i) * width;
            tile_panel(&rows, 1, left, static_cast<int>(std::min(width, p.n - left)),
                       {end - begin, offset, packed + left * p.k + begin * width, width}, mine);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
