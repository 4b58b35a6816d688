// A dense layer reads flattened images as they lie in memory. It must compute what it computes of a
// vector that no longer shows which image it was.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/conv2d.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/dropout.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/optim/optimizers.hpp>
#include <castnet/train/compile.hpp>

#include "../parameters.hpp"
#include "policy.hpp"

#include <cmath>
#include <doctest/doctest.h>

namespace cn = castnet;
using check::everything, check::largest_difference;
using cn::block, cn::conv2d, cn::dense, cn::input, cn::reshape;

namespace {

using image = cn::shape<3, 4, 5>;
using data_set = cn::data::dataset<cn::data::label<3>, image>;

template <std::size_t Features>
constexpr auto in_order = block<cn::flatten, reshape<Features>>;

template <auto Flat>
using of_input = cn::sequential<input<3, 4, 5>, Flat, dense<3>>;

template <auto Flat>
using of_convolution =
    cn::sequential<input<3, 4, 5>, conv2d<4, 2>, Flat, dense<6>, cn::tanh, dense<3>>;

// dropout does nothing in predictions, so there the dense layer follows at once
template <auto Flat>
using behind_dropout =
    cn::sequential<input<3, 4, 5>, conv2d<4, 2>, Flat, cn::dropout<0.3F>, dense<3>>;

template <auto Flat>
struct two_readers {
    constexpr auto operator()(auto x) const {
        auto const flat = x | cn::named<"conv", conv2d<4, 2>> | Flat;
        auto const both =
            cn::concat(flat | cn::named<"a", dense<5>>, flat | cn::named<"b", dense<4>>);
        return cn::concat(both, cn::relu(flat)) | cn::named<"head", dense<3>>;
    }
};

template <auto Flat, bool VectorFirst>
struct met_in_several_forms {
    constexpr auto operator()(auto x) const {
        constexpr auto shared = cn::shared<"shared", block<Flat, dense<3>>>;
        auto const tall = x | cn::named<"conv", conv2d<4, 2>>;
        auto const deep = tall | reshape<12, 2, 2>;
        auto const vector = tall | cn::flatten | reshape<48>;
        if constexpr (VectorFirst) {
            return cn::tanh(vector | shared) + (deep | shared) + (tall | shared);
        } else {
            return cn::tanh(tall | shared) + (deep | shared) + (vector | shared);
        }
    }
};

template <auto F>
using of_function = cn::network<F, input<3, 4, 5>>;

data_set samples() {
    std::vector<float> x(12 * image::count);
    std::vector<int> y(12);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 101));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = int(i * 2 % 3);
    }
    return data_set{std::move(x), y};
}

// Parameters at the start, after some steps, and predictions then.
template <class Network>
std::vector<double> course() {
    auto const data = samples();
    cn::model<Network, check::policy, cn::batch<8>> model{cn::seed{7}};
    std::vector<double> all = everything(model);
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01});
    training.step(data, std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
    training.step(data, std::vector<std::size_t>{8, 9, 10, 11, 2});
    auto const after = everything(model);
    all.insert(all.end(), after.begin(), after.end());
    all.push_back(training.evaluate(data).loss());
    return all;
}

template <class Flattened, class InOrder>
void same_course() {
    CHECK(largest_difference(course<Flattened>(), course<InOrder>()) < 1e-12);
}

} // namespace

TEST_CASE("images flattened for one dense layer") {
    same_course<of_input<cn::flatten>, of_input<in_order<60>>>();
    same_course<of_convolution<cn::flatten>, of_convolution<in_order<48>>>();
    same_course<behind_dropout<cn::flatten>, behind_dropout<in_order<48>>>();
}

TEST_CASE("flattened images that others read, too") {
    same_course<of_function<two_readers<cn::flatten>{}>,
                of_function<two_readers<in_order<48>>{}>>();
}

TEST_CASE("a shared layer that meets a vector and flattened images of several sizes") {
    same_course<of_function<met_in_several_forms<cn::flatten, false>{}>,
                of_function<met_in_several_forms<in_order<48>, false>{}>>();
    same_course<of_function<met_in_several_forms<cn::flatten, true>{}>,
                of_function<met_in_several_forms<in_order<48>, true>{}>>();
}

TEST_CASE("weights have the order of PyTorch's flatten: channels, rows, columns") {
    cn::model<of_input<cn::flatten>, check::policy, cn::batch<1>> model;
    std::vector<double> weight(3 * image::count);
    for (std::size_t i = 0; i < weight.size(); ++i) {
        weight[i] = std::cos(double(i));
    }
    model.set("1.weight", weight);
    CHECK(model.get("1.weight") == weight);
    std::vector<float> x(image::count);
    std::vector<double> expected(3);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i) / 64;
        for (std::size_t unit = 0; unit < 3; ++unit) {
            expected[unit] += double(x[i]) * weight[unit * x.size() + i];
        }
    }
    auto const y = model.predict(data_set{x, std::vector<int>{0}});
    for (std::size_t unit = 0; unit < 3; ++unit) {
        CHECK(double(y[unit]) == doctest::Approx(expected[unit]));
    }
}
