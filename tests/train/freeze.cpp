// Parameters that a program freezes and trains again while the plan stays.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy;
using network = cn::sequential<cn::input<2>, cn::named<"body", cn::dense<8>.l2(1e-3F)>, cn::tanh,
                               cn::dense<8>, cn::tanh, cn::named<"head", cn::dense<3>>>;
using with_frozen_body =
    cn::sequential<cn::input<2>, cn::frozen<cn::named<"body", cn::dense<8>.l2(1e-3F)>>, cn::tanh,
                   cn::dense<8>, cn::tanh, cn::named<"head", cn::dense<3>>>;
template <class Network>
using one = cn::model<Network, policy, cn::batch<16>>;
template <class Network>
using by_two = cn::model<Network, cn::policy::logical<policy, 2>, cn::batch<8>>;

auto samples() {
    return cn::data::blobs<3, 2>(60, 1);
}
auto compiled(auto& model) {
    return cn::compile(model, cn::cross_entropy,
                       cn::clip_norm(cn::adam{.weight_decay = 0.1}, 0.05));
}
template <class Training>
void fit(Training& training, int epochs = 2) {
    training.fit(samples(), {.epochs = epochs, .verbose = cn::verbosity::silent});
}

template <template <class> class Model>
void is_that_of_a_frozen_layer() {
    Model<network> model{cn::seed{3}};
    Model<with_frozen_body> other{cn::seed{3}};
    auto training = compiled(model);
    auto expected = compiled(other);
    auto const body = model.get("body.weight");
    training.freeze("body.*");
    CHECK(training.frozen() == std::vector<std::string>{"body.weight", "body.bias"});
    fit(training);
    fit(expected);
    CHECK(model.get("body.weight") == body);
    for (char const* name : {"body.bias", "2.weight", "head.weight", "head.bias"}) {
        CAPTURE(name);
        CHECK(check::largest_difference(model.get(name), other.get(name)) < 1e-12);
    }

    training.unfreeze("*");
    CHECK(training.frozen().empty());
    fit(training);
    CHECK(model.get("body.weight") != body);
}

struct file : check::temporary_path {
    file() : temporary_path{"freeze.safetensors"} {}
};

} // namespace

TEST_CASE("what is frozen at run time trains as if it were frozen in the network") {
    is_that_of_a_frozen_layer<one>();
    is_that_of_a_frozen_layer<by_two>();
}

TEST_CASE("the names that a pattern means") {
    using castnet::detail::matches;
    CHECK(matches("head.*", "head.0.weight"));
    CHECK(matches("*.bias", "head.0.bias"));
    CHECK(matches("*", ""));
    CHECK(matches("a*b*c", "a.b.b.c"));
    CHECK(matches("a**", "a"));
    CHECK(!matches("head", "head.0"));
    CHECK(!matches("*.bias", "bias"));
    CHECK(!matches("", "a"));
    CHECK(!matches("a*b", "a.b.c"));

    one<network> model;
    auto training = compiled(model);
    CHECK_THROWS_WITH_AS(
        training.freeze("tail.*"),
        "castnet: freeze: no trained parameter has a name that matches 'tail.*'; there "
        "are body.weight, body.bias, 2.weight, 2.bias, head.weight, head.bias",
        cn::error);
    CHECK_THROWS_AS(training.freeze({"head.*", "tail.*"}), cn::error);
    CHECK(training.frozen().empty());
    training.freeze({"head.*", "2.bias"});
    CHECK(training.frozen() == std::vector<std::string>{"2.bias", "head.weight", "head.bias"});
    training.unfreeze({"head.bias"});
    CHECK(training.frozen() == std::vector<std::string>{"2.bias", "head.weight"});
    training.freeze("*");
    auto const before = check::everything(model);
    fit(training);
    CHECK(check::everything(model) == before);
}

TEST_CASE("layers are trained again from an epoch on, and checkpoints know what is frozen") {
    file const f;
    auto const fit = [&](auto& training, int epochs) {
        training.fit(samples(), {.epochs = epochs,
                                 .verbose = cn::verbosity::silent,
                                 .checkpoint = cn::checkpoint(training, f.name),
                                 .on_epoch_end = [&](cn::epoch_report& report) {
                                     if (report.epoch == 2) {
                                         training.unfreeze("body.weight");
                                     }
                                 }});
    };
    one<network> whole{cn::seed{3}}, part{cn::seed{3}}, rest{cn::seed{3}};
    auto all = compiled(whole), begin = compiled(part), end = compiled(rest);
    all.freeze("body.*");
    auto const bias = whole.get("body.bias"), weight = whole.get("body.weight");
    fit(all, 4);
    CHECK(whole.get("body.bias") == bias);
    CHECK(whole.get("body.weight") != weight);
    begin.freeze("body.*");
    fit(begin, 1);
    cn::load(end, f.name);
    CHECK(end.frozen() == std::vector<std::string>{"body.weight", "body.bias"});
    fit(end, 4);
    CHECK(check::everything(rest) == check::everything(whole));
}
