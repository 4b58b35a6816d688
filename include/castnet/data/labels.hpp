// Class numbers of all samples of a data set, and weights that make up for their numbers.
#pragma once

#include <castnet/data/subset.hpp>

#include <cstddef>
#include <vector>

namespace castnet::data {

// The label of each sample, by the only target that is one. Inputs are not read.
template <class Data>
std::vector<int> labels_of(Data const& data) {
    std::vector<int> labels(data.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<int>(detail::label_of(data, i));
    }
    return labels;
}

// Weights of the classes with which all count the same, for fit_options::class_weight: samples /
// (classes * samples of the class), and 0 for a class without samples (scikit-learn's
// compute_class_weight("balanced")).
template <class Data>
std::vector<float> balanced_class_weight(Data const& data) {
    constexpr std::size_t classes = classes_of<typename detail::label_target<Data>::type>;
    std::vector<float> weights(classes);
    for (int const label : labels_of(data)) {
        weights[std::size_t(label)] += 1;
    }
    for (float& weight : weights) {
        weight = weight > 0 ? float(data.size()) / (float(classes) * weight) : 0;
    }
    return weights;
}

} // namespace castnet::data
