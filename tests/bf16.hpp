// A training step whose products read bfloat16, beside the same in double on the CPU.
#pragma once

#include <castnet/castnet.hpp>

#include "parameters.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace check {

using in_double = castnet::policy::basic_cpu<double>;

// `classes` labels and images or vectors of `elements` numbers.
template <std::size_t Classes, class Shape>
auto samples(std::size_t count) {
    std::vector<float> x(count * Shape::count);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = castnet::is_ids<Shape> ? float(i * i % 9) : std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i * 7 % Classes);
    }
    return castnet::data::dataset<castnet::data::label<Classes>, Shape>{std::move(x), y};
}

// More than a tile of queries and keys, and two heads.
inline constexpr castnet::transformer causal_block{
    .feed_forward = 12, .dropout = 0, .causal = true};
template <std::size_t Features>
using attending_with = castnet::sequential<
    castnet::input<70, 4>, castnet::dense<Features>, castnet::multi_head_attention<2>.rotary(),
    castnet::repeat<2, castnet::transformer_encoder_layer<2, causal_block, castnet::gelu>>,
    castnet::permute<1, 0>, castnet::flatten, castnet::dense<3>>;
using attending = attending_with<8>;
using attending_by_eights = attending_with<16>; // features that a GPU moves as they are

// Unfolded slices, of channels that a GPU moves by eights and others; columns; pooled slices.
using volumes =
    castnet::sequential<castnet::input<3, 6, 5, 7>,
                        castnet::conv3d<8, 3, castnet::conv3{.padding = 1}>, castnet::tanh,
                        castnet::conv3d<16, castnet::size3{3, 2, 3}, castnet::conv3{.groups = 2}>,
                        castnet::tanh, castnet::conv3d<8, castnet::size3{2, 1, 1}>, castnet::tanh,
                        castnet::avg_pool3d<2>, castnet::flatten, castnet::dense<5>>;
using of_normalized_weights =
    castnet::sequential<castnet::input<3, 9, 9>, castnet::weight_norm<castnet::conv2d<8, 3>>,
                        castnet::tanh, castnet::spectral_norm<castnet::conv2d<6, 3>>, castnet::tanh,
                        castnet::flatten, castnet::weight_norm<castnet::dense<12>>, castnet::tanh,
                        castnet::spectral_norm<castnet::dense<5>>>;

using recurrent = castnet::sequential<castnet::input<5, 6>, castnet::lstm<8>.return_sequences(),
                                      castnet::bidirectional<castnet::gru<6>>, castnet::dense<3>>;

struct outcome {
    double loss;
    std::vector<double> change; // of all parameters
};

// A step of gradient descent on 5 of 8 samples.
template <class Network, class Policy, class Data>
outcome one_step(Data const& data, castnet::seed seed) {
    castnet::model<Network, Policy, castnet::batch<8>> model{seed};
    auto training =
        castnet::compile(model, castnet::cross_entropy, castnet::sgd{.learning_rate = 1});
    outcome found{0, everything<double>(model)};
    found.loss = training.step(data, {1, 5, 3, 0, 4}).loss();
    auto const after = everything<double>(model);
    for (std::size_t i = 0; i < after.size(); ++i) {
        found.change[i] -= after[i];
    }
    return found;
}

inline double length(std::vector<double> const& x) {
    double sum = 0;
    for (double const v : x) {
        sum += v * v;
    }
    return std::sqrt(sum);
}

// bfloat16 keeps 8 bits: a number is wrong by 0.2 % at most, sums of many by less. (With these
// seeds no number is so near to the kink of relu, and no two pixels of a window are so near to each
// other, that they change sides.)
template <class Network, std::size_t Classes, class Shape, class Policy>
void check_bf16_step(castnet::seed seed, double tolerance) {
    auto const data = samples<Classes, Shape>(8);
    outcome const exact = one_step<Network, in_double>(data, seed);
    outcome const in_bf16 = one_step<Network, Policy>(data, seed);
    CHECK(in_bf16.loss == doctest::Approx(exact.loss).epsilon(0.01));
    CHECK(in_bf16.loss != exact.loss);
    auto difference = exact.change;
    for (std::size_t i = 0; i < difference.size(); ++i) {
        difference[i] -= in_bf16.change[i];
    }
    CHECK(length(difference) < tolerance * length(exact.change));
    CHECK(length(difference) > 1e-5 * length(exact.change));
}

} // namespace check
