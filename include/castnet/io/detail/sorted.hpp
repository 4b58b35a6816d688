// Sorted order of a list, by qsort: for lists sorted once per file, std::sort would only add
// compile time for every type and order.
#pragma once

#include <castnet/core/language.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace castnet::io::detail {

// Pointers to the elements in their order. `Compare` has no state and gives, for (a, b), a number
// below 0 where a comes first, above 0 where b does, and 0 where they are equal.
template <class T, class Compare>
std::vector<T const*> sorted(T const* list, std::size_t size, Compare) {
    std::vector<T const*> order(size);
    bool in_order = true;
    for (std::size_t i = 0; i < size; ++i) {
        order[i] = list + i;
        in_order = in_order && (i == 0 || Compare{}(list[i - 1], list[i]) <= 0);
    }
    if (!in_order) {
        std::qsort(static_cast<void*>(order.data()), size, sizeof(T const*),
                   [](void const* left, void const* right) -> int {
                       return Compare{}(**static_cast<T const* const*>(left),
                                        **static_cast<T const* const*>(right));
                   });
    }
    return order;
}

// Brings the elements themselves into this order, without room for a second list of them.
template <class T, class Compare>
void sort(T* list, std::size_t size, Compare compare) {
    auto order = sorted(static_cast<T const*>(list), size, compare);
    for (std::size_t first = 0; first < size; ++first) {
        if (order[first] == nullptr || order[first] == list + first) {
            continue;
        }
        // Around one cycle of the permutation.
        T held = std::move(list[first]);
        std::size_t at = first;
        for (;;) {
            auto const from = static_cast<std::size_t>(order[at] - list);
            order[at] = nullptr;
            if (from == first) {
                break;
            }
            list[at] = std::move(list[from]);
            at = from;
        }
        list[at] = std::move(held);
    }
}

} // namespace castnet::io::detail
