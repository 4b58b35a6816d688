// Loss and metrics of samples: sums that can be added up, and the results made of them.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/fixed_string.hpp>
#include <castnet/core/name_argument.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/text.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

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

// The same for a name that should be that of a metric with counts.
template <fixed_string Name, bool Found>
struct metric_has_counts {
    static_assert(Found, "castnet: scores::counts<name>() is of a metric with counts, such as "
                         "cn::confusion_matrix<classes> or cn::auc, by the name of its column: "
                         "these scores have none of this name; see metric_has_counts<name>");
    static constexpr bool checked = true;
};

// The same for scores where a number is needed.
template <class Scores>
struct scores_are_several_numbers {
    static_assert(detail::never<Scores>,
                  "castnet: what evaluate() and step() return are scores, which are no "
                  "number: .loss() is the loss, [\"accuracy\"] a metric by its name");
};

namespace detail {

// A score whose metric has counts().
template <class Score>
concept HasCounts =
    requires(Score const& score, std::span<double const> sums) { score.metric.counts(sums); };

// The first name that is there twice; empty if all differ.
template <class... Metrics>
constexpr auto repeated_column() {
    constexpr std::string_view names[] = {"loss",    "epoch",   "learning_rate",
                                          "seconds", "waiting", Metrics::name...};
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

// Sums over samples of weight * loss and of what the metrics count, which can be added up. There
// are `Count` of them, that of the loss first.
template <std::size_t Count>
struct score_sums {
    static constexpr std::size_t sums = Count;

    // The weighted mean over the samples; 0 where no sample counts.
    double loss() const { return weight > 0 ? sum[0] / weight : 0; }

    score_sums& operator+=(score_sums const& other) {
        weight += other.weight;
        for (std::size_t i = 0; i < Count; ++i) {
            sum[i] += other.sum[i];
        }
        return *this;
    }

    double weight = 0;
    double sum[Count]{};
};

// One of the scores of a step after the loss: a metric, the number of its sums, and its name if
// that is not the metric's own.
template <class Metric, std::size_t Sums = 1, class Named = Metric>
struct score {
    static constexpr char const* name = Named::name;
    static constexpr std::size_t sums = Sums;

    // The metric's result, or else the weighted mean.
    double result(double const* sum, double weight) const {
        if constexpr (requires { &Metric::result; }) {
            return metric.result(std::span<double const>{sum, Sums}, weight);
        } else {
            return *sum / weight;
        }
    }

    [[no_unique_address]] Metric metric;
};

// Scores with the metrics as the program gave them.
template <class... Score>
struct score_list : Score... {};

template <class... Score>
class scores : public score_sums<1 + (std::size_t{0} + ... + Score::sums)> {
public:
    using sums_type = score_sums<1 + (std::size_t{0} + ... + Score::sums)>;
    using metrics_type = score_list<Score...>;
    static constexpr std::size_t count = 1 + sizeof...(Score);
    static constexpr char const* names[] = {"loss", Score::name...};

    scores() = default;
    scores(sums_type const& all, metrics_type const& metrics) : sums_type{all}, metrics_{metrics} {}

    // The loss and the result of each metric, in the order of `names`; 0 where no sample counts.
    double result(std::size_t which) const {
        if (this->weight <= 0) {
            return 0;
        }
        double results[count] = {this->loss()};
        [[maybe_unused]] double* to = results;
        [[maybe_unused]] double const* next = this->sum + 1;
        (..., (*++to = static_cast<Score const&>(metrics_).result(next, this->weight),
               next += Score::sums));
        return results[which];
    }

    // By name: "loss" or the name of a metric. Throws castnet::error for any other.
    [[gnu::noinline]] double operator[](name_argument name) const {
        std::string known;
        for (std::size_t i = 0; i < count; ++i) {
            if (name == names[i]) {
                return result(i);
            }
            castnet::append(known, {i == 0 ? "" : ", ", names[i]});
        }
        throw error({"castnet: scores: there is no '", name, "'; they have ", known,
                     ", and others of metrics that are given to compile()"});
    }

    // A metric's counts besides its result, by the name of its column:
    // counts<"confusion_matrix">(), a confusion_counts, and counts<"auc">(), threshold_counts.
    template <fixed_string Name>
    [[gnu::noinline]] auto counts() const {
        constexpr std::size_t which = number_of(Name.view());
        static_assert(metric_has_counts<Name, detail::HasCounts<score_at<which>>>::checked);
        if constexpr (detail::HasCounts<score_at<which>>) {
            std::size_t const numbers[] = {Score::sums...};
            double const* const first = std::accumulate(numbers, numbers + which, this->sum + 1);
            return static_cast<score_at<which> const&>(metrics_).metric.counts(
                std::span{first, numbers[which]});
        }
    }

    // Only for its message.
    template <std::same_as<double> Number>
    operator Number() const {
        void(scores_are_several_numbers<scores>{});
        return 0;
    }

private:
    // Of the metrics, without the loss.
    static constexpr std::size_t number_of(std::string_view name) {
        std::size_t i = 0;
        bool found = false;
        ((found = found || name == Score::name, i += found ? 0 : 1), ...);
        return i;
    }
    struct no_score {};
    template <std::size_t Which>
    using score_at = std::tuple_element_t<Which, std::tuple<Score..., no_score>>;
    [[no_unique_address]] metrics_type metrics_;
};

// The results in the order of `names`: auto [loss, accuracy] = training.evaluate(data).
template <std::size_t Which, class... Score>
double get(scores<Score...> const& of_samples) {
    return of_samples.result(Which);
}

} // namespace castnet

template <class... Score>
struct std::tuple_size<castnet::scores<Score...>>
    : std::integral_constant<std::size_t, castnet::scores<Score...>::count> {};
template <std::size_t Which, class... Score>
struct std::tuple_element<Which, castnet::scores<Score...>> {
    using type = double;
};
