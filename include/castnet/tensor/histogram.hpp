// Histograms of tensors. Computed at once, on the host; those of a GPU's are in
// castnet/device/cuda/tensor/order.hpp.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/select.hpp>
#include <castnet/tensor/detail/value_counts.hpp>
#include <castnet/tensor/order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace castnet {

namespace detail {

// The bin of x among `bins` of equal width from low to high, which belongs to the last one; -1 if
// it lies outside or is NaN. Edges are rounded to the type of floating numbers, as NumPy's.
template <class T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr int bin_of(T x, double low, double high, int bins) {
    using number = std::conditional_t<std::is_floating_point_v<T>, T, double>;
    auto const value = static_cast<number>(x);
    bool const inside = (value >= static_cast<number>(low)) & (value <= static_cast<number>(high));
    double const width = (high - low) / bins;
    auto const edge = [&](int bin) { return static_cast<number>(low + bin * width); };
    double const above_low = select(inside, static_cast<double>(x) - low, 0.0);
    int const guess = static_cast<int>(above_low / (high - low) * bins);
    int const bin = guess < bins ? guess : bins - 1;
    int const less = value < edge(bin) ? 1 : 0;
    int const more = ((bin + 1 < bins) & (value >= edge(bin + 1))) ? 1 : 0;
    return select(inside, bin - less + more, -1);
}

template <size_t Bins>
inline constexpr bool has_bins = Bins > 0 && Bins < (size_t{1} << 30);

// How many values integers may have to be counted value by value.
inline constexpr size_t few_values = 4096;

template <class T>
inline constexpr double lowest_of = static_cast<double>(std::numeric_limits<T>::lowest());

template <class T>
constexpr bool has_few_values(double low, double high) {
    constexpr double highest = static_cast<double>(std::numeric_limits<T>::max());
    return high - low < few_values - 1 && low < highest && high > lowest_of<T>;
}

inline void check_range(double low, double high) {
    if (!(low < high) || !detail::is_finite(high - low)) {
        throw error({"castnet: histogram: the range from ", low, " to ", high,
                     low < high ? " has no finite width" : " is empty"});
    }
}

// The numbers of elements with the bins of their values.
template <size_t Bins>
struct bin_counts {
    double low, high;
    size_t* counts;

    template <class T>
    CASTNET_ALWAYS_INLINE int of(T value) const {
        return bin_of(value, low, high, static_cast<int>(Bins));
    }
    void add(int bin, size_t count) const {
        if (bin >= 0) {
            counts[bin] += count;
        }
    }
};

// Calls use(i, bin) for numbers value(i), whose bins are found in vectors.
template <size_t Bins, class Value, class Use>
CASTNET_ALWAYS_INLINE void for_each_bin(size_t count, bin_counts<Bins> const& bins,
                                        Value const& value, Use const& use) {
    constexpr size_t most = 256; // at a time
    int found[most];
    for (size_t first = 0; first < count; first += most) {
        size_t const n = std::min(most, count - first);
        CASTNET_IVDEP
        for (size_t i = 0; i < n; ++i) {
            found[i] = bins.of(value(first + i));
        }
        for (size_t i = 0; i != n; ++i) {
            use(first + i, found[i]);
        }
    }
}

// Adds integers of a small range, each of whose values is counted. (Neighbours have counts of their
// own, so that of equal ones none waits for the one before.)
template <class T, size_t Bins>
void add_by_value(T const* values, size_t count, bin_counts<Bins> const& bins) {
    std::array<size_t, few_values> counts[2] = {};
    auto const least = static_cast<T>(std::ceil(std::max(bins.low, lowest_of<T>)));
    auto const add = [=](T value, auto& of_value) __attribute__((always_inline)) {
        size_t const place = static_cast<size_t>(value) - static_cast<size_t>(least);
        if (place < few_values) {
            ++of_value[place];
        }
    };
    for (size_t i = 0; i + 1 < count; i += 2) {
        add(values[i], counts[0]);
        add(values[i + 1], counts[1]);
    }
    if (count % 2 != 0) {
        add(values[count - 1], counts[0]);
    }
    double const reach = bins.high - static_cast<double>(least);
    for_each_bin(
        reach < 0 ? 0 : static_cast<size_t>(reach) + 1, bins,
        [=](size_t place) { return static_cast<T>(static_cast<size_t>(least) + place); },
        [&](size_t place, int bin) { bins.add(bin, counts[0][place] + counts[1][place]); });
}

// Adds any numbers.
template <class T, size_t Bins>
void add_in_vectors(T const* values, size_t count, bin_counts<Bins> const& bins) {
    for_each_bin(
        count, bins, [=](size_t i) { return values[i]; },
        [&](size_t, int bin) { bins.add(bin, 1); });
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
    auto const values = detail::values_on_host(x);
    detail::bin_counts<Bins> const bins{low, high, counts.data()};
    if constexpr (detail::counts_values<T, X::shape_type::count>) {
        auto const of_values = detail::counts_of_values(values.data(), values.size());
        for (size_t key = 0; key != of_values.size(); ++key) {
            bins.add(bins.of(detail::value_of_count<T>(key)), of_values[key]);
        }
        return counts;
    }
    if constexpr (std::is_integral_v<T> && X::shape_type::count >= detail::few_values) {
        if (detail::has_few_values<T>(low, high)) {
            detail::add_by_value(values.data(), values.size(), bins);
            return counts;
        }
    }
    detail::add_in_vectors(values.data(), values.size(), bins);
    return counts;
}

} // namespace castnet
