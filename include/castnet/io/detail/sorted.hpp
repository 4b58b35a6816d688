// The order of a list, for lists that are sorted once per file: by qsort, which nobody has to
// compile, where std::sort would become functions for every type and order.
#pragma once

#include <cstdlib>
#include <span>
#include <vector>

namespace castnet::io::detail {

// Pointers to the elements, in the order of `Before`, which has no state.
template <class T, class Before>
std::vector<T const*> sorted(std::span<T const> list, Before) {
    std::vector<T const*> order;
    order.reserve(list.size());
    for (T const& element : list) {
        order.push_back(&element);
    }
    auto const compare = [](void const* left, void const* right) {
        T const& a = **static_cast<T const* const*>(left);
        T const& b = **static_cast<T const* const*>(right);
        return Before{}(a, b) ? -1 : Before{}(b, a) ? 1 : 0;
    };
    std::qsort(order.data(), order.size(), sizeof(T const*), compare);
    return order;
}

} // namespace castnet::io::detail
