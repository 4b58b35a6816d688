// Tensors as samples, predictions, parameters and data sets.
#include <castnet/castnet.hpp>

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

namespace cn = castnet;

namespace {

using net = cn::sequential<cn::input<1, 3, 2>, cn::flatten, cn::dense<4>, cn::tanh, cn::dense<3>>;
using model_type = cn::model<net, cn::policy::cpu, cn::batch<4>>;
template <std::size_t... D>
using floats = cn::tensor<float, cn::shape<D...>>;

struct two_inputs {
    constexpr auto operator()(auto a, auto b) const {
        return (a | cn::dense<2>)+(b | cn::dense<2>);
    }
};

struct own_image {
    constexpr auto operator()(auto x) const {
        return cn::new_parameter<cn::shape<1, 2, 2>>(*x.g, "image", {});
    }
};

} // namespace

TEST_CASE("tensors are predicted as tensors") {
    model_type const model{cn::seed{3}};
    floats<7, 1, 3, 2> const batch = cn::sin(floats<7, 1, 3, 2>::arange());
    auto const all = model.predict(batch);
    static_assert(std::is_same_v<decltype(all), floats<7, 3> const>);
    std::vector<float> const expected =
        model.predict(std::vector<float>(batch.begin(), batch.end()));
    CHECK(std::vector<float>(all.begin(), all.end()) == expected);

    auto const one = model.predict(batch[2]);
    static_assert(std::is_same_v<decltype(one), floats<3> const>);
    CHECK(allclose(one, all[2]));
    CHECK(array_equal(model.predict(cn::sin(floats<7, 1, 3, 2>::arange())), all));
    CHECK(allclose(model.predict(cn::slice<0, 0, 7, 3>(batch)), cn::slice<0, 0, 7, 3>(all)));
    cn::predictor mine{model};
    CHECK(array_equal(mine.predict(batch), all));
}

TEST_CASE("every input of a network may be a tensor") {
    using pair = cn::network<two_inputs{}, cn::input<3>, cn::input<2>>;
    cn::model<pair, cn::policy::cpu, cn::batch<4>> const model;
    auto const y = model.predict(floats<5, 3>::ones(), floats<5, 2>::ones());
    static_assert(std::is_same_v<decltype(y), floats<5, 2> const>);
    auto const one = model.predict(floats<3>::ones(), floats<2>::ones());
    CHECK(array_equal(one, y[4]));
}

TEST_CASE("parameters are tensors of their logical shape") {
    model_type model{cn::seed{3}};
    auto const weight = model.get<"1.weight">();
    static_assert(std::is_same_v<decltype(weight), floats<4, 6> const>);
    std::vector<float> const values = model.get("1.weight");
    CHECK(std::vector<float>(weight.begin(), weight.end()) == values);
    model.set<"1.weight">(2 * weight);
    CHECK(array_equal(model.get<"1.weight">(), 2 * weight));

    auto const doubled = model.get<"1.weight">();
    auto const last = model.get<"3.weight">();
    floats<5, 6> const x = cn::cos(floats<5, 6>::arange());
    floats<5, 4> const hidden =
        cn::tanh(cn::matmul(x, cn::transpose(doubled)) + model.get<"1.bias">());
    auto const by_hand = cn::matmul(hidden, cn::transpose(last)) + model.get<"3.bias">();
    CHECK(allclose(model.predict(cn::reshape<5, 1, 3, 2>(x)), by_hand, 1e-5, 1e-6));
}

TEST_CASE("parameters are set to numbers in braces") {
    cn::model<cn::sequential<cn::input<2>, cn::dense<3>>, cn::policy::cpu, cn::batch<2>> model;
    model.set("0.bias", {1, 2, 0.5F});
    CHECK(model.get("0.bias") == std::vector<float>{1, 2, 0.5F});
    CHECK_THROWS_AS(model.set("0.bias", {1, 2}), cn::error);
    CHECK_THROWS_AS(model.set("0.bias", {}), cn::error);
}

TEST_CASE("tensors are data sets") {
    using small = cn::sequential<cn::input<2>, cn::dense<3>>;
    floats<6, 2> const x = cn::sin(floats<6, 2>::arange());
    cn::tensor<std::uint8_t, cn::shape<6>> const labels{0, 1, 2, 2, 1, 0};
    auto const data = cn::data::of_tensors<cn::data::label<3>>(x, labels);
    cn::data::dataset<cn::data::label<3>, cn::shape<2>> const copied{
        std::vector<float>(x.begin(), x.end()), std::vector<int>{0, 1, 2, 2, 1, 0}};

    cn::model<small, cn::policy::cpu, cn::batch<6>> a{cn::seed{1}}, b{cn::seed{1}};
    auto ours = cn::compile(a, cn::cross_entropy, cn::sgd{.learning_rate = 0.5});
    auto theirs = cn::compile(b, cn::cross_entropy, cn::sgd{.learning_rate = 0.5});
    std::vector<std::size_t> const all{0, 1, 2, 3, 4, 5};
    CHECK(ours.step(data).loss() == theirs.step(copied, all).loss());
    ours.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent});
    theirs.fit(copied, {.epochs = 2, .verbose = cn::verbosity::silent});
    CHECK(array_equal(a.get<"0.weight">(), b.get<"0.weight">()));
    CHECK(ours.evaluate(data).loss() == theirs.evaluate(copied).loss());

    floats<6> const x_sum = cn::sum<1>(x);
    // numbers of one axis are targets of one number
    auto const real = cn::data::of_tensors(x, x_sum);
    static_assert(std::is_same_v<decltype(real)::target_type, cn::shape<1>>);
    cn::tensor<int, cn::shape<6>> const wrong{0, 1, 3, 2, 1, 0};
    CHECK_THROWS_AS(ours.step(cn::data::of_tensors<cn::data::label<3>>(x, wrong)), cn::error);
}

TEST_CASE("several tensors are inputs and targets, in this order") {
    floats<6, 2> const x = cn::sin(floats<6, 2>::arange());
    floats<6, 1, 3, 2> const images = cn::cos(floats<6, 1, 3, 2>::arange());
    cn::tensor<int, cn::shape<6>> const labels{0, 1, 2, 2, 1, 0};
    floats<6> const numbers = floats<6>::arange();

    using both = cn::data::targets<cn::data::label<3>, cn::shape<>>;
    auto const data = cn::data::of_tensors<both>(x, images, labels, numbers);
    using set = decltype(data);
    static_assert(std::remove_cvref_t<set>::input_count == 2);
    static_assert(std::is_same_v<std::remove_cvref_t<set>::input_shape<1>, cn::shape<1, 3, 2>>);
    CHECK(data.size() == 6);
    float image[6], label = 0, number = 0;
    data.copy_input<1>(4, image);
    data.copy_target<0>(4, &label);
    data.copy_target<1>(4, &number);
    CHECK(image[5] == images(4, 0, 2, 1));
    CHECK(label == 1);
    CHECK(number == 4);

    auto const last = cn::data::of_tensors(x, images, numbers); // by default, the last one
    static_assert(std::remove_cvref_t<decltype(last)>::input_count == 2);
    auto const none = cn::data::of_tensors<cn::data::targets<>>(x, images);
    static_assert(std::remove_cvref_t<decltype(none)>::input_count == 2);
}

TEST_CASE("tensors of whole numbers are ids where that is said") {
    using words =
        cn::sequential<cn::input_ids<9, 4>, cn::embedding<9, 3>, cn::flatten, cn::dense<2>>;
    cn::tensor<int, cn::shape<3, 4>> const x{{0, 1, 2, 3}, {8, 7, 6, 5}, {4, 4, 0, 0}};
    cn::tensor<int, cn::shape<3, 4>> const wrong{{0, 1, 2, 3}, {8, 9, 6, 5}, {4, 4, 0, 0}};
    cn::tensor<int, cn::shape<3>> const labels{0, 1, 1};
    using data_set = cn::data::dataset<cn::data::label<2>, cn::ids<9, 4>>;
    data_set const copied{std::vector<int>(x.begin(), x.end()),
                          std::vector<int>(labels.begin(), labels.end())};
    cn::model<words, cn::policy::cpu, cn::batch<3>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    auto const of = [&](auto const& ids) {
        return cn::data::of_tensors<cn::data::label<2>, cn::ids<9, 4>>(ids, labels);
    };
    CHECK(training.evaluate(of(x)).loss() == training.evaluate(copied).loss());
    CHECK_THROWS_AS(training.step(of(wrong)), cn::error);
}

TEST_CASE("a network of parameters alone is trained, whatever its input") {
    cn::model<cn::network<own_image{}, cn::input<1>>, cn::policy::cpu, cn::batch<2>> model;
    auto training = cn::compile(model, cn::mse, cn::sgd{.learning_rate = 1});
    floats<2, 1> const x = floats<2, 1>::full(NAN);
    floats<2, 1, 2, 2> const y = cn::sin(floats<2, 1, 2, 2>::arange());
    for (int step = 0; step < 100; ++step) {
        training.step(cn::data::of_tensors(x, y));
    }
    auto const mean = cn::mean<0>(y);
    CHECK(allclose(model.get<"image">(), mean));
    CHECK(allclose(model.predict(x)[1], mean));
}
