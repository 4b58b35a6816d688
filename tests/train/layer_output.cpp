// Outputs of inner layers, against networks that end there.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "policy.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy;
constexpr auto body = cn::named<
    "body", cn::block<cn::conv2d<4, 3>, cn::batch_norm, cn::relu, cn::residual<cn::conv2d<4, 1>>>>;
using whole = cn::sequential<cn::input<2, 6, 5>, body, cn::max_pool2d<2>, cn::dropout<0.5F>,
                             cn::flatten, cn::frozen<cn::dense<7>, cn::tanh>, cn::dense<3>>;
using to_body = cn::sequential<cn::input<2, 6, 5>, body>;
using to_pool = cn::sequential<cn::input<2, 6, 5>, body, cn::max_pool2d<2>>;
using to_tanh = cn::sequential<cn::input<2, 6, 5>, body, cn::max_pool2d<2>, cn::dropout<0.5F>,
                               cn::flatten, cn::frozen<cn::dense<7>, cn::tanh>>;

struct two_inputs {
    static constexpr auto encoder = cn::shared<"encoder", cn::dense<4>>;
    constexpr auto operator()(auto a, auto b) const {
        auto const left = encoder(a) | cn::tanh;
        return (left - encoder(b)) | cn::named<"head", cn::dense<2>>;
    }
};
using twins = cn::network<two_inputs{}, cn::input<3>, cn::input<3>>;

template <class T>
std::vector<T> numbers(std::size_t count) {
    std::vector<T> x;
    for (std::size_t i = 0; i < count; ++i) {
        x.push_back(T(i * 37 % 101) / 32 - T(1.5));
    }
    return x;
}

template <class Part, class Model>
auto by_part(Model const& model, auto const& x) {
    cn::model<Part, policy, cn::batch<4>> part;
    for (std::size_t i = 0; i < part.parameter_tensors(); ++i) {
        std::string const name = part.parameter_at(i).name.text();
        part.set(name, model.get(name));
    }
    return part.predict(x);
}

template <class Where>
void are_those_of_shorter_networks() {
    cn::model<whole, Where, cn::batch<4>> model{cn::seed{4}};
    auto const x = numbers<typename Where::value_type>(60 * 7);
    auto const same = [](auto const& a, auto const& b) {
        CHECK(check::largest_difference(a, b) < 1e-12);
    };
    same(cn::output_of<"body">(model, x), by_part<to_body>(model, x));
    same(cn::output_of<"1">(model, x), by_part<to_pool>(model, x));
    same(cn::output_of<"5">(model, x), by_part<to_tanh>(model, x));
    same(cn::output_of<"6">(model, x), model.predict(x));
    CHECK(cn::output_of<"body.0">(model, x).size() == 7 * 4 * 4 * 3);
}

} // namespace

TEST_CASE("outputs of inner layers are those of networks that end there") {
    are_those_of_shorter_networks<policy>();
    are_those_of_shorter_networks<cn::policy::logical<policy, 2>>();
}

TEST_CASE("outputs of inner layers of functions, by their names") {
    cn::model<twins, policy, cn::batch<4>> model{cn::seed{4}};
    auto const a = numbers<double>(15), b = numbers<double>(15);
    CHECK(cn::output_of<"head">(model, a, b) == model.predict(a, b));
    auto const encoded = cn::output_of<"encoder">(model, a, b); // of b
    auto const weight = model.get("encoder.weight");
    REQUIRE(encoded.size() == 20);
    CHECK(encoded[5] == doctest::Approx(weight[3] * b[3] + weight[4] * b[4] + weight[5] * b[5]));
}

TEST_CASE("outputs of inner layers follow the training of a model") {
    cn::model<cn::sequential<cn::input<2>, cn::dense<8>, cn::tanh, cn::dense<3>>, policy,
              cn::batch<16>>
        model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    auto const data = cn::data::blobs<3, 2>(20, 1);
    auto const before = cn::output_of<"1">(model, data);
    CHECK(before.size() == 160);
    training.fit(data, {.verbose = cn::verbosity::silent});
    CHECK(cn::output_of<"1">(model, data) != before);
}
