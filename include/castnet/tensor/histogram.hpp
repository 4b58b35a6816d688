// Histograms of tensors. Computed at once, on the host; those of a GPU's are in
// castnet/device/cuda/tensor/order.hpp.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/tensor/detail/value_counts.hpp>
#include <castnet/tensor/order.hpp>

#include <type_traits>

namespace castnet {

namespace detail {

// The bin of x among `bins` of equal width from low to high, which belongs to the last one; -1 if
// it lies outside or is NaN. Edges are rounded to the type of floating numbers, as NumPy's.
template <class T>
CASTNET_HD constexpr int bin_of(T x, double low, double high, int bins) {
    using number = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    auto const value = static_cast<number>(x);
    if (!(value >= static_cast<number>(low) && value <= static_cast<number>(high))) {
        return -1;
    }
    double const width = (high - low) / bins;
    auto const edge = [&](int bin) { return static_cast<number>(low + bin * width); };
    int const guess = static_cast<int>((static_cast<double>(x) - low) / (high - low) * bins);
    int const bin = guess < bins ? guess : bins - 1;
    return value < edge(bin) ? bin - 1 : bin + 1 < bins && value >= edge(bin + 1) ? bin + 1 : bin;
}

template <size_t Bins>
inline constexpr bool has_bins = Bins > 0 && Bins < (size_t{1} << 30);

inline void check_range(double low, double high) {
    if (!(low < high) || !detail::is_finite(high - low)) {
        throw error({"castnet: histogram: the range from ", low, " to ", high,
                     low < high ? " has no finite width" : " is empty"});
    }
}

} // namespace detail

// How many elements lie in each of Bins bins of equal width from low to high, which belongs to the
// last bin, as numpy.histogram(x, Bins, (low, high)): others do not count. Throws castnet::error if
// low is not less than high, or their distance is not finite.
template <size_t Bins, TensorExpression X>
auto histogram(X const& x, double low, double high) {
    static_assert(detail::has_bins<Bins>, "castnet: a histogram has at least one bin");
    detail::check_range(low, high);
    using T = typename X::value_type;
    tensor<size_t, shape<Bins>> counts;
    auto const values = detail::value_on_host(x);
    auto const add = [&](T value, size_t count) {
        int const bin = detail::bin_of(value, low, high, static_cast<int>(Bins));
        if (bin >= 0) {
            counts.data()[bin] += count;
        }
    };
    if constexpr (detail::counts_values<T, X::shape_type::count>) {
        auto const of_values = detail::counts_of_values(values.data(), values.size());
        for (size_t key = 0; key != of_values.size(); ++key) {
            add(detail::value_of_count<T>(key), of_values[key]);
        }
    } else {
        for (T const value : values) {
            add(value, 1);
        }
    }
    return counts;
}

} // namespace castnet
