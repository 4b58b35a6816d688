// Networks so small that every step is compiled with its sizes, against the same networks with a
// batch so large that they run through the kernels of all networks.
#include <castnet/castnet.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace cn = castnet;

namespace {

template <class Data>
Data samples_of(size_t count, bool weighted) {
    cn::data::detail::random_stream random{0x736d616c, 7, 0};
    std::vector<float> inputs(count * Data::template input_shape<0>::count), targets, weights;
    for (float& x : inputs) {
        x = float(2 * random.uniform() - 1);
    }
    for (size_t i = 0; i < count * Data::template target_shape<0>::count; ++i) {
        if constexpr (cn::data::is_label<typename Data::target_type>) {
            targets.push_back(float(random.below(Data::target_type::classes)));
        } else {
            targets.push_back(float(random.uniform()));
        }
    }
    for (size_t i = 0; i < count; ++i) {
        weights.push_back(i % 3 == 1 ? 0.0F : float(random.uniform()) + 0.25F);
    }
    Data data{inputs, targets};
    return weighted ? data.with_weights(weights) : data;
}

bool close(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

// Largest relative difference below the tolerance; says where not.
template <class Numbers>
void check_close(Numbers const& found, Numbers const& expected, double tolerance) {
    REQUIRE(found.size() == expected.size());
    size_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        wrong += !close(double(found[i]), double(expected[i]), tolerance);
    }
    CHECK(wrong == 0);
}

template <class T, class Network, class Data, auto Loss, class Optimizer, size_t Batch>
void compare(double tolerance) {
    using policy = cn::policy::basic_cpu<T>;
    cn::model<Network, policy, cn::batch<Batch>> small{cn::seed{3}};
    cn::model<Network, policy, cn::batch<65537>> plain{cn::seed{3}};
    auto of_small = cn::compile(small, Loss, Optimizer{});
    auto of_plain = cn::compile(plain, Loss, Optimizer{});
    static_assert(cn::cpu::is_small(small.prediction_plan));
    static_assert(cn::cpu::is_small(of_small.training_plan()));
    static_assert(cn::cpu::is_small(of_small.evaluation_plan()));
    static_assert(!cn::cpu::is_small(of_plain.training_plan()));
    static_assert(!cn::cpu::is_small(of_plain.evaluation_plan()));

    for (bool const weighted : {false, true}) {
        Data const data = samples_of<Data>(Batch, weighted);
        for (size_t const count : {Batch, size_t(1), Batch / 2 + 1, Batch - 1}) {
            CAPTURE(count);
            CAPTURE(weighted);
            std::vector<size_t> samples(count);
            std::iota(samples.begin(), samples.end(), size_t(0));
            auto const a = of_small.step(data, samples, 1e-2);
            auto const b = of_plain.step(data, samples, 1e-2);
            CHECK(a.weight == b.weight);
            CHECK(close(a.loss(), b.loss(), tolerance));
            for (auto const& p : of_small.training_plan().parameters) {
                CAPTURE(p.name.text());
                check_close(of_small.gradient(p.name.text()), of_plain.gradient(p.name.text()),
                            tolerance);
                check_close(small.get(p.name.text()), plain.get(p.name.text()), tolerance);
            }
        }
        CHECK(close(of_small.evaluate(data).loss(), of_plain.evaluate(data).loss(), tolerance));
        check_close(small.predict(data), plain.predict(data), tolerance);
    }
}

template <class Network, class Data, auto Loss, class Optimizer, size_t Batch>
void compare() {
    compare<double, Network, Data, Loss, Optimizer, Batch>(1e-11);
    compare<float, Network, Data, Loss, Optimizer, Batch>(2e-4);
}

using numbers_1 = cn::data::dataset<cn::shape<1>, cn::shape<13>>;

} // namespace

TEST_CASE("a small regression is that of the kernels of all networks") {
    using network = cn::sequential<cn::input<13>, cn::dense<16>, cn::relu, cn::dense<32>, cn::relu,
                                   cn::dense<1>>;
    compare<network, numbers_1, cn::mse, cn::momentum, 128>();
    compare<network, numbers_1, cn::mse, cn::momentum, 5>();
}

TEST_CASE("so is one of odd sizes") {
    using network = cn::sequential<cn::input<3>, cn::dense<7>, cn::tanh, cn::dense<19>, cn::sigmoid,
                                   cn::dense<33>, cn::relu, cn::dense<2>>;
    using data = cn::data::dataset<cn::shape<2>, cn::shape<3>>;
    compare<network, data, cn::mse, cn::momentum, 37>();
}

TEST_CASE("so is a classification with batch normalisation, dropout and penalties") {
    using network = cn::sequential<cn::input<13>, cn::dense<10>, cn::batch_norm, cn::relu,
                                   cn::dropout<0.25F>, cn::dense<64>, cn::gelu, cn::dense<5>>;
    using data = cn::data::dataset<cn::data::label<5>, cn::shape<13>>;
    compare<network, data, cn::cross_entropy, cn::momentum, 64>();
}

TEST_CASE("so is a network of a single number") {
    using network = cn::sequential<cn::input<1>, cn::dense<1>, cn::dense<1>>;
    using data = cn::data::dataset<cn::shape<1>, cn::shape<1>>;
    compare<network, data, cn::mae, cn::sgd, 9>();
}

TEST_CASE("a single sample is predicted alike") {
    using network = cn::sequential<cn::input<13>, cn::dense<16>, cn::relu, cn::dense<32>, cn::relu,
                                   cn::dense<1>>;
    cn::model<network, cn::policy::cpu, cn::batch<1>> one{cn::seed{3}};
    cn::model<network, cn::policy::cpu, cn::batch<65537>> many{cn::seed{3}};
    auto const data = samples_of<numbers_1>(9, false);
    check_close(one.predict(data), many.predict(data), 1e-5);
    float sample[13], found;
    data.copy_input(4, sample);
    one.predict_one(sample, &found);
    CHECK(close(double(found), double(many.predict(data)[4]), 1e-5));
}

TEST_CASE("large networks are not small") {
    using images = cn::sequential<cn::input<1, 4, 4>, cn::conv2d<2, 3>, cn::flatten, cn::dense<2>>;
    using wide = cn::sequential<cn::input<257>, cn::dense<2>>;
    using many = cn::sequential<cn::input<190>, cn::dense<190>>;
    static_assert(
        !cn::cpu::is_small(cn::model<images, cn::policy::cpu, cn::batch<1>>::prediction_plan));
    static_assert(
        !cn::cpu::is_small(cn::model<wide, cn::policy::cpu, cn::batch<2>>::prediction_plan));
    static_assert(
        !cn::cpu::is_small(cn::model<many, cn::policy::cpu, cn::batch<2>>::prediction_plan));
}

TEST_CASE("for a single sample, larger ones are") {
    using many = cn::sequential<cn::input<65>, cn::dense<256>, cn::relu, cn::dense<2>>;
    using too_wide = cn::sequential<cn::input<257>, cn::dense<2>>;
    using one = cn::model<many, cn::policy::cpu, cn::batch<1>>;
    static_assert(cn::cpu::is_small(one::prediction_plan));
    static_assert(
        !cn::cpu::is_small(cn::model<too_wide, cn::policy::cpu, cn::batch<1>>::prediction_plan));
    one const single{cn::seed{3}};
    cn::model<many, cn::policy::cpu, cn::batch<8>> const several{cn::seed{3}};
    std::vector<float> x(65);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) / 50 - 1;
    }
    check_close(single.predict(x), several.predict(x), 1e-5);
}
