// Class numbers of all samples of a data set, and weights that make up for their numbers.
#pragma once

#include <castnet/data/subset.hpp>
#include <castnet/data/weighed_classes.hpp>
#include <castnet/data/whole_numbers.hpp>

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

// A class, so that every compiler prints the type.
template <class Data>
struct has_classes {
    using classes = weighed_classes<targets_of<Data>>;
    static constexpr bool checked = classes::target >= 0;
    static_assert(checked,
                  "castnet: data::balanced_class_weight needs one target that has classes: "
                  "data::label<classes>, of samples, steps or pixels, or a single number, 0 or 1; "
                  "see has_classes<data>");
};

// Weights of the classes with which all count the same, for fit_options::class_weight: labels /
// (classes * labels of the class), and 0 for a class without labels (scikit-learn's
// compute_class_weight("balanced")); of samples, or of steps or pixels without those that are
// data::ignored, or of targets that are 0 or 1.
template <class Data>
std::vector<float> balanced_class_weight(Data const& data) {
    using classes = weighed_classes<targets_of<Data>>;
    std::vector<float> weights(classes::count);
    if constexpr (has_classes<Data>::checked) {
        constexpr auto number = std::size_t(classes::target);
        using target = typename targets_of<Data>::template at<number>;
        constexpr std::size_t count = target_shape<target>::count;
        constexpr whole_numbers range =
            is_label<target> ? whole_numbers_of<target> : whole_numbers{"target", 2};
        std::vector<double> found(count), of_class(classes::count);
        double all = 0;
        for (std::size_t sample = 0; sample < data.size(); ++sample) {
            data::copy_target<number>(data, sample, found.data());
            range.check(found.data(), sample, "castnet: data");
            for (double const label : found) {
                if (label >= 0) { // else it is ignored
                    ++of_class[std::size_t(label)];
                    ++all;
                }
            }
        }
        for (std::size_t k = 0; k < classes::count; ++k) {
            weights[k] = of_class[k] > 0 ? float(all / (double(classes::count) * of_class[k])) : 0;
        }
    }
    return weights;
}

} // namespace castnet::data
