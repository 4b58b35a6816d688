// Groups of parameters with rates and weight decays of their own.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

using check::policy, cn::groups, cn::parameter_group;
using network = cn::sequential<cn::input<2>, cn::dense<8>.l2(1e-3F), cn::tanh, cn::dense<8>,
                               cn::tanh, cn::named<"head", cn::dense<3>>>;
using one = cn::model<network, policy, cn::batch<16>>;
using by_two = cn::model<network, cn::policy::logical<policy, 2>, cn::batch<8>>;

auto samples() {
    return cn::data::blobs<3, 2>(60, 1);
}

template <class Model, class Optimizer>
struct run {
    Model model{cn::seed{3}};
    decltype(cn::compile(model, cn::cross_entropy, std::declval<Optimizer>())) training;

    explicit run(Optimizer const& optimizer)
        : training{cn::compile(model, cn::cross_entropy, optimizer)} {}
    void fit(int epochs = 2) {
        training.fit(samples(), {.epochs = epochs, .verbose = cn::verbosity::silent});
    }
};

// The groups' rules, applied to the gradients of single steps.
template <class Model, class Optimizer>
void updates_by_its_groups(Optimizer const& base) {
    CAPTURE(Optimizer::name);
    auto const optimizer = groups(base, parameter_group{.names = "*.bias", .rate = 2, .decay = 0},
                                  parameter_group{.names = "head.*", .rate = 0.25, .decay = 3});
    run<Model, std::remove_cvref_t<decltype(optimizer)>> now{optimizer};
    std::vector<std::vector<double>> slots(std::size(now.training.training_plan().parameters));
    for (std::uint64_t step = 1; step <= 3; ++step) {
        std::vector<std::vector<double>> before;
        for (auto const& p : now.training.training_plan().parameters) {
            auto const w = now.model.get(p.name.text());
            before.emplace_back(w.begin(), w.end());
        }
        now.training.step(samples(), std::vector<std::size_t>{3, 14, 15, 9, 26, 5});
        for (std::size_t i = 0; i < before.size(); ++i) {
            auto const& p = now.training.training_plan().parameters[i];
            std::string const name = p.name.text();
            CAPTURE(name);
            Optimizer own = base;
            bool const bias = name.ends_with(".bias"), head = name.starts_with("head.");
            own.weight_decay *= bias ? 0 : head ? 3 : 1;
            auto const rule = own.template at<double>(step, base.learning_rate * (bias   ? 2
                                                                                  : head ? 0.25
                                                                                         : 1));
            auto const gradient = now.training.gradient(name);
            slots[i].resize(2 * before[i].size());
            for (std::size_t k = 0; k < before[i].size(); ++k) {
                double const g = double(gradient[k]) + 2 * double(p.cost.l2) * before[i][k];
                rule(before[i][k], g, slots[i][2 * k], slots[i][2 * k + 1]);
            }
            auto const w = now.model.get(name);
            CHECK(check::largest_difference(std::vector<double>(w.begin(), w.end()), before[i]) <
                  1e-12);
        }
    }
}

struct file : check::temporary_path {
    file() : temporary_path{"groups.safetensors"} {}
};

} // namespace

TEST_CASE("each group has its rate and decay, the others those of the optimizer") {
    updates_by_its_groups<one>(cn::adamw{.weight_decay = 0.1});
    updates_by_its_groups<one>(cn::adam{.weight_decay = 0.1});
    updates_by_its_groups<by_two>(cn::adamw{.weight_decay = 0.1});
}

TEST_CASE("groups of factors 1 change nothing, whatever is within, and one of rate 0 stays") {
    cn::adam const adam{};
    auto const of = [&](auto const& optimizer, int epochs) {
        run<one, std::remove_cvref_t<decltype(optimizer)>> now{optimizer};
        now.fit(epochs);
        return check::everything(now.model);
    };
    auto const within = cn::ema(cn::clip_norm(adam, 0.1));
    CHECK(of(groups(within, parameter_group{"head.*"}), 2) == of(within, 2));
    CHECK(of(cn::accumulate<1>(groups(adam, parameter_group{"head.*"})), 2) == of(adam, 2));
    auto const still = groups(adam, parameter_group{.names = "*", .rate = 0});
    CHECK(of(still, 2) == of(still, 0));
}

TEST_CASE("frozen parameters of a group stay, and are of it again") {
    auto const optimizer = groups(cn::adamw{}, parameter_group{.names = "head.*", .rate = 10});
    run<one, std::remove_cvref_t<decltype(optimizer)>> some{optimizer}, again{optimizer},
        expected{optimizer};
    some.training.freeze("head.weight");
    auto const before = some.model.get("head.weight");
    some.fit();
    CHECK(some.model.get("head.weight") == before);
    CHECK(some.model.get("head.bias") != again.model.get("head.bias"));
    again.training.freeze("*");
    again.training.unfreeze("*");
    again.fit();
    expected.fit();
    CHECK(check::everything(again.model) == check::everything(expected.model));
}

TEST_CASE("groups that cannot be are refused, and a checkpoint of others, too") {
    one model;
    auto const compiled = [&](auto const& optimizer) {
        return cn::compile(model, cn::cross_entropy, optimizer);
    };
    CHECK_THROWS_WITH_AS(
        compiled(groups(cn::adam{}, parameter_group{"*"}, parameter_group{"head.*"})),
        doctest::Contains("castnet: compile: of the parameter groups *, head.*, number 1 has no "
                          "trained parameter"),
        cn::error);
    CHECK_THROWS_WITH_AS(compiled(groups(cn::adam{}, parameter_group{"top.*"})),
                         doctest::Contains("before; there are 0.weight, 0.bias, 2.weight, "
                                           "2.bias, head.weight, head.bias"),
                         cn::error);
    CHECK_THROWS_WITH_AS(compiled(groups(cn::adam{}, parameter_group{.names = "*", .rate = -1})),
                         doctest::Contains("rate_of_group_0 is -1"), cn::error);
    double const infinity = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH_AS(
        compiled(groups(cn::adam{}, parameter_group{.names = "*", .decay = infinity})),
        doctest::Contains("decay_of_group_0"), cn::error);

    file const f;
    auto whole = compiled(groups(cn::adam{}, parameter_group{.names = "head.*", .rate = 2}));
    cn::save(whole, f.name);
    auto same = compiled(groups(cn::adam{}, parameter_group{.names = "head.*", .rate = 2}));
    cn::load(same, f.name);
    auto faster = compiled(groups(cn::adam{}, parameter_group{.names = "head.*", .rate = 3}));
    CHECK_THROWS_WITH_AS(cn::load(faster, f.name), doctest::Contains("rate_of_group_0 = 2"),
                         cn::file_error);
    auto others = compiled(groups(cn::adam{}, parameter_group{.names = "*.bias", .rate = 2}));
    CHECK_THROWS_WITH_AS(cn::load(others, f.name), doctest::Contains("parameter groups \"head.*\""),
                         cn::file_error);
    auto turned = compiled(
        groups(cn::adam{}, parameter_group{.names = "head.*", .rate = 2, .orthogonal = false}));
    CHECK_THROWS_WITH_AS(cn::load(turned, f.name), doctest::Contains("orthogonal_in_group_0 = 1"),
                         cn::file_error);
}
