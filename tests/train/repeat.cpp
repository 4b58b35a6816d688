// Trainings of repeated blocks against those of the same blocks written out.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#ifndef CASTNET_TEST_DEVICE
#include <castnet/policy/model_parallel.hpp>
#endif

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy;

constexpr auto part =
    cn::residual<cn::batch_norm, cn::dense<6>, cn::relu, cn::dropout<0.2F>, cn::dense<4>.l2(1e-3F)>;
template <auto... Parts>
using network = cn::sequential<cn::input<3, 4>, cn::dense<4>, Parts..., cn::flatten, cn::dense<3>>;
using repeated = network<cn::repeat<3, part>>;
using written = network<part, part, part>;
template <class Network>
using one = cn::model<Network, policy, cn::batch<8>>;
template <class Network>
using by_two = cn::model<Network, cn::policy::logical<policy, 2>, cn::batch<4>>;

// Blocks that read what the network's input is, besides.
struct masked_part {
    constexpr auto operator()(auto x, auto mask) const { return part(x) * mask; }
};
template <std::size_t Device>
struct masked {
    constexpr auto operator()(auto x) const {
        auto const positive = cn::greater(x, 0);
        auto const y = cn::on<Device, cn::repeat<3, masked_part{}>>(x | cn::dense<4>, positive);
        return y | cn::flatten | cn::dense<3>;
    }
};
template <std::size_t Device>
using masked_network = cn::network<masked<Device>{}, cn::input<3, 4>>;

// Loops over time of which nobody reads the gradient of the first repetition's sequence; that of
// the others is read after the loop only.
struct loop {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<4>{},
                        [](auto x_t, auto h) {
                            return cn::tanh(x_t + 0.5 * (h | cn::named<"back", cn::dense<4>>));
                        })
            .outputs;
    }
};
template <auto... Parts>
using loops = cn::sequential<cn::input<3, 4>, Parts..., cn::flatten, cn::dense<3>>;

auto samples() {
    std::vector<float> x(20 * 12), y(20);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = float(i % 3);
    }
    return cn::data::dataset<cn::data::label<3>, cn::shape<3, 4>>{x, y};
}

template <class Model>
auto compiled(Model& model) {
    return cn::compile(model, cn::cross_entropy,
                       cn::ema(cn::clip_norm(cn::adam{.weight_decay = 0.1}, 0.5), 0.9));
}
void fit(auto& training, int epochs) {
    training.fit(samples(), {.epochs = epochs, .verbose = cn::verbosity::silent});
}

// Every file of the one can be loaded into the other.
template <template <class> class Model>
void are_the_same() {
    check::temporary_path const place{"repeat.safetensors"};
    std::string const& file = place.name;
    Model<repeated> a{cn::seed{3}};
    Model<written> b{cn::seed{3}};
    CHECK(check::everything(a) == check::everything(b));
    auto first = compiled(a);
    auto second = compiled(b);
    first.freeze("2.1.*");
    second.freeze("2.1.*");
    CHECK(first.frozen() == std::vector<std::string>{"2.1.weight", "2.1.bias"});
    fit(first, 2);
    fit(second, 2);
    CHECK(check::everything(a) == check::everything(b));
    CHECK(a.predict(samples()) == b.predict(samples()));

    fit(first, 1);
    cn::save(first, file);
    cn::load(second, file);
    fit(first, 1);
    fit(second, 1);
    CHECK(check::everything(a) == check::everything(b));
}

} // namespace

TEST_CASE("a repeated block is trained like the same blocks written out") {
    are_the_same<one>();
    are_the_same<by_two>();
    CHECK(repeated::parameter_count == written::parameter_count);
}

TEST_CASE("outputs of the repetitions of a block") {
    one<repeated> a{cn::seed{3}};
    one<written> b{cn::seed{3}};
    auto const x = samples();
    CHECK(cn::output_of<"2">(a, x) == cn::output_of<"2">(b, x));
    CHECK(cn::output_of<"3.1">(a, x) == cn::output_of<"3.1">(b, x));
}

TEST_CASE("repeated loops over time at the beginning of a network") {
    one<loops<cn::repeat<3, loop{}>>> a{cn::seed{3}};
    one<loops<loop{}, loop{}, loop{}>> b{cn::seed{3}};
    auto first = compiled(a);
    auto second = compiled(b);
    fit(first, 2);
    fit(second, 2);
    CHECK(check::everything(a) == check::everything(b));
}

#ifndef CASTNET_TEST_DEVICE
template <class Placed, class Network>
void is_the_same_on_two_devices() {
    using two = cn::policy::model_parallel<policy, 2>;
    cn::model<Placed, two, cn::batch<8>> a{cn::seed{3}};
    one<Network> b{cn::seed{3}};
    auto first = compiled(a);
    auto second = compiled(b);
    fit(first, 2);
    fit(second, 2);
    CHECK(check::everything(a) == check::everything(b));
}

TEST_CASE("a repeated block on a device of several") {
    is_the_same_on_two_devices<network<cn::on<1, cn::repeat<3, part>>>, repeated>();
    is_the_same_on_two_devices<masked_network<1>, masked_network<0>>();
}
#endif
