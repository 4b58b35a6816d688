// The update of all parameters in one pass.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/graph/parameter.hpp>

#include <cstddef>
#include <utility>

namespace castnet::cpu {

// parameters[first, last): gradients are divided by the sum of weights (times `scale`), the
// penalty's gradient is added, and the optimizer's rule applied. Slots lie `slot_stride` apart.
template <int Slots, class Rule, class T>
void optimize(Rule const& rule, penalty const& cost, T scale, T* parameters, T const* gradients,
              T* slots, std::ptrdiff_t slot_stride, std::ptrdiff_t first, std::ptrdiff_t last) {
    constexpr std::ptrdiff_t piece = 4096;
    std::ptrdiff_t const pieces = (last - first + piece - 1) / piece;
    T const l1 = static_cast<T>(cost.l1), l2 = static_cast<T>(2 * cost.l2);
    parallel_for(pieces, 20.0 * double(last - first), [&](std::ptrdiff_t k) {
        std::ptrdiff_t const begin = first + k * piece;
        std::ptrdiff_t const end = begin + piece < last ? begin + piece : last;
        [&]<std::size_t... S>(std::index_sequence<S...>) {
            CASTNET_IVDEP
            for (std::ptrdiff_t i = begin; i < end; ++i) {
                T const p = parameters[i];
                T const g = gradients[i] * scale + l2 * p + (p > 0 ? l1 : p < 0 ? -l1 : T(0));
                rule(parameters[i], g, slots[static_cast<std::ptrdiff_t>(S) * slot_stride + i]...);
            }
        }(std::make_index_sequence<std::size_t(Slots)>{});
    });
}

} // namespace castnet::cpu
