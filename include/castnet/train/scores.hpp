// The loss and the metrics of some samples, as sums that can be added up.
#pragma once

#include <castnet/core/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace castnet {

template <class... Metrics>
class scores {
public:
    static constexpr std::size_t count = 1 + sizeof...(Metrics);
    static constexpr char const* names[] = {"loss", Metrics::name...};

    // Weighted means over the samples; 0 where no sample counts.
    double loss() const { return mean(0); }
    double mean(std::size_t which) const { return weight > 0 ? sum[which] / weight : 0; }

    // By name: "loss" or the name of a metric. Throws castnet::error for any other.
    [[gnu::cold]] double operator[](std::string_view name) const {
        for (std::size_t i = 0; i < count; ++i) {
            if (name == names[i]) {
                return mean(i);
            }
        }
        throw error({"castnet: scores: there is no '", name, "'; give the metric to compile()"});
    }

    scores& operator+=(scores const& other) {
        weight += other.weight;
        for (std::size_t i = 0; i < count; ++i) {
            sum[i] += other.sum[i];
        }
        return *this;
    }

    double weight = 0;
    double sum[count]{};
};

} // namespace castnet
