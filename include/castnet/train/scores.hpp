// Loss and metrics of samples, as weighted sums that can be added up.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/fixed_string.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace castnet {

// A class, so that every compiler prints the name.
template <fixed_string Name>
struct column_is_unique {
    static_assert(Name.view().empty(),
                  "castnet: two metrics have the same name, or that of another column of scores "
                  "and histories; leave one out, or give it another `name`; see "
                  "column_is_unique<name>");
    static constexpr bool checked = true;
};

namespace detail {

// The first name that is there twice; empty if all differ.
template <class... Metrics>
constexpr auto repeated_column() {
    constexpr std::string_view names[] = {"loss", "epoch", "learning_rate", "seconds",
                                          Metrics::name...};
    constexpr std::string_view found = [&] {
        for (std::size_t i = 0; i < std::size(names); ++i) {
            for (std::size_t k = 0; k < i; ++k) {
                if (names[i] == names[k]) {
                    return names[i];
                }
            }
        }
        return std::string_view{};
    }();
    char text[found.size() + 1]{};
    std::copy(found.begin(), found.end(), text);
    return fixed_string{text};
}

} // namespace detail

template <class... Metrics>
class scores {
    static_assert(column_is_unique<detail::repeated_column<Metrics...>()>::checked);

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
