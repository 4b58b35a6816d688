// The order of a list, for lists that are sorted once per file: by qsort, which nobody has to
// compile, where std::sort would become functions for every type and order.
#pragma once

#include <castnet/core/language.hpp>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

namespace castnet::io::detail {

// Pointers to the elements in their order. `Compare` has no state and gives, for (a, b), a number
// below 0 where a comes first, above 0 where b does, and 0 where they are equal.
template <class T, class Compare>
std::vector<T*> sorted(std::span<T> list, Compare) {
    std::vector<T*> order;
    order.reserve(list.size());
    bool in_order = true;
    for (T& element : list) {
        in_order = in_order && (order.empty() || Compare{}(*order.back(), element) <= 0);
        order.push_back(&element);
    }
    if (!in_order) {
        std::qsort(static_cast<void*>(order.data()), order.size(), sizeof(T*),
                   [](void const* left, void const* right) -> int {
                       return Compare{}(**static_cast<T* const*>(left),
                                        **static_cast<T* const*>(right));
                   });
    }
    return order;
}

// Brings the elements themselves into this order, without room for a second list of them.
template <class T, class Compare>
void sort(std::span<T> list, Compare compare) {
    auto order = sorted(list, compare);
    for (std::size_t first = 0; first < list.size(); ++first) {
        if (order[first] == nullptr || order[first] == &list[first]) {
            continue;
        }
        // Around one cycle of the permutation.
        T held = std::move(list[first]);
        std::size_t at = first;
        for (;;) {
            T* const from = std::exchange(order[at], nullptr);
            if (from == &list[first]) {
                break;
            }
            list[at] = std::move(*from);
            at = static_cast<std::size_t>(from - list.data());
        }
        list[at] = std::move(held);
    }
}

} // namespace castnet::io::detail
