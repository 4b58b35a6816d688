// Samples in double: castnet's data sets hold floats, golden values need every digit.
#pragma once

#include <castnet/data/label.hpp>

#include "../golden.hpp"

#include <numeric>
#include <tuple>

namespace check {

template <class Target, class... Inputs>
class exact_set {
public:
    using target_type = Target;
    template <std::size_t I>
    using input_shape = std::tuple_element_t<I, std::tuple<Inputs...>>;
    static constexpr std::size_t input_count = sizeof...(Inputs);

    // Inputs and target of all samples, one after the other, in logical order.
    exact_set(std::vector<values> inputs, values target, values weights)
        : inputs_{std::move(inputs)}, target_{std::move(target)}, weights_{std::move(weights)} {}

    std::size_t size() const { return weights_.size(); }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        copy(inputs_[I], sample, out);
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const {
        copy(target_, sample, out);
    }
    float weight(std::size_t sample) const { return static_cast<float>(weights_[sample]); }

    std::vector<std::size_t> samples() const {
        std::vector<std::size_t> all(size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }

private:
    template <class T>
    void copy(values const& from, std::size_t sample, T* out) const {
        std::size_t const count = from.size() / size();
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = static_cast<T>(from[sample * count + i]);
        }
    }

    std::vector<values> inputs_;
    values target_, weights_;
};

} // namespace check
