// Scalars of a step's loss and metrics, in the order of its trace.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/graph/scalar.hpp>
#include <castnet/nn/output_losses.hpp>

#include <array>
#include <tuple>

namespace castnet::detail {

template <class LossOrMetric>
struct scalars_of {
    static constexpr size_t count = scalars_in<LossOrMetric> > 0 ? scalars_in<LossOrMetric> : 0;
    static void copy([[maybe_unused]] LossOrMetric const& from, [[maybe_unused]] double*& to) {
        if constexpr (count > 0) {
            check_hyperparameters_of(from);
            for (scalar const& x : list_scalars(from)) {
                *to++ = x.value;
            }
        }
    }
};
template <size_t Output, class Metric>
struct scalars_of<output_metric<Output, Metric>> {
    static constexpr size_t count = scalars_of<Metric>::count;
    static void copy(output_metric<Output, Metric> const& from, double*& to) {
        scalars_of<Metric>::copy(from.metric, to);
    }
};
template <class... Loss>
struct scalars_of<loss_list<Loss...>> {
    static constexpr size_t count = (size_t{0} + ... + scalars_of<Loss>::count);
    static void copy(loss_list<Loss...> const& from, double*& to) {
        std::apply([&](Loss const&... loss) { (..., scalars_of<Loss>::copy(loss, to)); }, from.all);
    }
};
template <class... LossAndMetrics>
inline constexpr size_t scalar_count = (size_t{0} + ... + scalars_of<LossAndMetrics>::count);

// Throws castnet::error where one is out of the range that its loss or metric lists.
template <class... LossAndMetrics>
std::array<double, scalar_count<LossAndMetrics...>> all_scalars(LossAndMetrics const&... from) {
    std::array<double, scalar_count<LossAndMetrics...>> values;
    [[maybe_unused]] double* next = values.data();
    (..., scalars_of<LossAndMetrics>::copy(from, next));
    return values;
}

} // namespace castnet::detail
