// Parameters copied from one model to another.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

using net = cn::sequential<cn::input<3>, cn::dense<4>, cn::batch_norm, cn::tanh, cn::dense<2>>;
using first_layers = cn::sequential<cn::input<3>, cn::dense<4>, cn::batch_norm>;
using wider = cn::sequential<cn::input<3>, cn::dense<5>>;
using deeper = cn::sequential<cn::input<3>, cn::dense<4>, cn::batch_norm, cn::dense<1>>;

std::vector<float> const samples{1, -2, 3, 0.5F, 0.25F, -1};

} // namespace

TEST_CASE("a model gets the parameters of another one of the same network") {
    cn::model<net, cn::policy::cpu, cn::batch<4>> from{cn::seed{1}};
    from.set("1.running_mean", std::vector<float>{1, 2, 3, 4});
    cn::model<net, cn::policy::basic_cpu<double>, cn::batch<1>> to{cn::seed{2}};
    cn::copy_parameters(from, to);
    auto const expected = from.predict(samples);
    auto const found = to.predict(std::vector<double>(samples.begin(), samples.end()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
    }
    CHECK(to.get("1.running_mean") == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("a target network follows by a share of the difference") {
    cn::model<net, cn::policy::cpu, cn::batch<4>> from{cn::seed{1}}, to{cn::seed{2}};
    float const a = from.get("0.weight")[5], b = to.get("0.weight")[5];
    cn::copy_parameters(from, to, 0.125);
    CHECK(to.get("0.weight")[5] == doctest::Approx(b + 0.125 * (a - b)));
    auto const before = to.predict(samples);
    cn::copy_parameters(from, to, 0);
    cn::copy_parameters(to, to);
    CHECK(to.predict(samples) == before);
    CHECK_THROWS_WITH_AS(cn::copy_parameters(from, to, 1.5),
                         doctest::Contains("copy_parameters: share is 1.5"), cn::error);
}

TEST_CASE("models of one network on one kind of device copy what they store") {
    using images = cn::sequential<cn::input<2, 3, 3>, cn::conv2d<4, 2>, cn::flatten, cn::dense<5>>;
    cn::model<images, cn::policy::cpu, cn::batch<4>> from{cn::seed{1}};
    cn::model<images, cn::policy::cpu, cn::batch<1>> to{cn::seed{2}};
    cn::model<images, cn::policy::basic_cpu<double>, cn::batch<1>> in_logical_order;
    auto const image = cn::random_normal<float, cn::shape<2, 3, 3>>(3);
    auto const before = to.predict(image); // prepares weights, which are outdated then
    cn::copy_parameters(from, to);
    cn::copy_parameters(from, in_logical_order);
    CHECK_FALSE(cn::allclose(to.predict(image), before));
    CHECK(cn::array_equal(to.predict(image), from.predict(image)));
    for (char const* name : {"0.weight", "0.bias", "2.weight", "2.bias"}) {
        CHECK(to.get(name) == from.get(name));
        auto const doubles = in_logical_order.get(name);
        CHECK(to.get(name) == std::vector<float>(doubles.begin(), doubles.end()));
    }
}

TEST_CASE("the first layers of a network get theirs by name") {
    cn::model<net, cn::policy::cpu, cn::batch<4>> from{cn::seed{1}};
    cn::model<first_layers, cn::policy::cpu, cn::batch<4>> inner{cn::seed{2}};
    cn::copy_parameters(from, inner);
    CHECK(inner.get("0.weight") == from.get("0.weight"));
    CHECK(inner.get("1.bias") == from.get("1.bias"));

    cn::model<deeper, cn::policy::cpu, cn::batch<4>> other{cn::seed{2}};
    auto const before = other.get("0.weight");
    CHECK_THROWS_WITH_AS(cn::copy_parameters(from, other),
                         "castnet: copy_parameters: the first model has no parameter '2.weight', "
                         "which the second one has; copy what both have with castnet::partial",
                         cn::error);
    CHECK(other.get("0.weight") == before);
    cn::model<wider, cn::policy::cpu, cn::batch<4>> wide;
    CHECK_THROWS_WITH_AS(cn::copy_parameters(from, wide),
                         "castnet: copy_parameters: parameter '0.weight' is (4, 3) in one model, "
                         "but (5, 3) in the other",
                         cn::error);
}

TEST_CASE("models that differ get what both have") {
    using names = std::vector<std::string>;
    cn::model<net, cn::policy::cpu, cn::batch<4>> from{cn::seed{1}};
    from.set("1.running_mean", std::vector<float>{1, 2, 3, 4});
    using headed =
        cn::sequential<cn::input<3>, cn::named<"body", cn::block<cn::dense<4>, cn::batch_norm>>,
                       cn::tanh, cn::named<"head", cn::dense<5>>>;
    cn::model<headed, cn::policy::basic_cpu<double>, cn::batch<2>> to{cn::seed{2}};
    auto const kept = to.get("head.weight");
    auto const report =
        cn::copy_parameters(from, to, cn::partial{.rename = cn::replace_prefix{"body.", ""}});
    CHECK(report.loaded == names{"body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias",
                                 "body.1.running_mean", "body.1.running_var"});
    CHECK(report.missing == names{"head.weight", "head.bias"});
    CHECK(report.unexpected == names{"3.weight", "3.bias"});
    CHECK(to.get("body.1.running_mean") == std::vector<double>{1, 2, 3, 4});
    CHECK(to.get("body.0.weight")[5] == doctest::Approx(from.get("0.weight")[5]).epsilon(1e-7));
    CHECK(to.get("head.weight") == kept);

    CHECK_THROWS_WITH_AS(cn::copy_parameters(from, to, cn::partial{}),
                         "castnet: copy_parameters: the first model holds nothing for the network, "
                         "whose first parameter \"body.0.weight\" was looked for as "
                         "\"body.0.weight\"; its own first one is \"0.weight\"; give "
                         "partial::rename a rule from the one to the other",
                         cn::error);

    cn::model<deeper, cn::policy::cpu, cn::batch<4>> other{cn::seed{2}};
    CHECK(cn::copy_parameters(from, other, cn::partial{}).missing == names{"2.weight", "2.bias"});
}
