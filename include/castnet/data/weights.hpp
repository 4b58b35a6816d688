// Weights of the samples of any data set.
#pragma once

#include <castnet/data/adaptor.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/sample_error.hpp>

#include <concepts>
#include <memory>
#include <utility>
#include <vector>

namespace castnet::data {

// Copies share the weights.
template <class Data>
class weighted_set : public adaptor<Data> {
public:
    weighted_set(Data data, std::vector<float> weights)
        : adaptor<Data>{std::move(data)},
          weights_{std::make_shared<std::vector<float> const>(std::move(weights))} {
        detail::check_weights("data::with_weights", *weights_, this->size());
    }

    float weight(size_t sample) const {
        detail::check_sample("data::with_weights", sample, this->size());
        return (*weights_)[sample];
    }

private:
    std::shared_ptr<std::vector<float> const> weights_;
};

// The same samples with these weights in place of their own, as dataset::with_weights: one for
// each, 0 or from least_weight to most_weight. Throws castnet::error for others.
template <class Data>
weighted_set<Data> with_weights(Data data, std::vector<float> weights) {
    return {std::move(data), std::move(weights)};
}
template <class Data, std::same_as<double> Number>
weighted_set<Data> with_weights(Data data, std::vector<Number> const& weights) {
    return {std::move(data), std::vector<float>(weights.begin(), weights.end())};
}

} // namespace castnet::data
