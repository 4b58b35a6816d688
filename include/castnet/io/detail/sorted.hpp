// The order of a list, for lists that are sorted once per file: by qsort, which nobody has to
// compile, where std::sort would become functions for every type and order.
#pragma once

#include <castnet/core/language.hpp>

#include <cstdlib>
#include <span>
#include <vector>

namespace castnet::io::detail {

// Pointers to the elements, in the order of `Before`, which has no state.
template <class T, class Before>
std::vector<T*> sorted(std::span<T> list, Before) {
    std::vector<T*> order;
    order.reserve(list.size());
    for (T& element : list) {
        order.push_back(&element);
    }
    auto const compare = [](void const* left, void const* right) {
        T const& a = **static_cast<T* const*>(left);
        T const& b = **static_cast<T* const*>(right);
        return Before{}(a, b) ? -1 : Before{}(b, a) ? 1 : 0;
    };
    if (!order.empty()) { // qsort wants no null pointer
        std::qsort(static_cast<void*>(order.data()), order.size(), sizeof(T*), compare);
    }
    return order;
}

} // namespace castnet::io::detail
