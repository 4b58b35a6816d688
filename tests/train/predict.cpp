// Prediction: from numbers in memory, and from several threads with one model.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>
#include <castnet/train/checkpoint.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <thread>
#include <utility>

namespace cn = castnet;

namespace {

struct facts_and_photo {
    constexpr auto operator()(auto photo, auto facts) const {
        auto const seen = photo | cn::on<0, cn::conv2d<8, 3>, cn::relu, cn::global_avg_pool2d>;
        auto const read = facts | cn::on<1, cn::dense<6>, cn::tanh>;
        auto const both = cn::concat(seen, read) | cn::dense<16> | cn::relu;
        return cn::outputs(both | cn::dense<3>, both | cn::dense<2>);
    }
};
using two_inputs = cn::network<facts_and_photo{}, cn::input<3, 8, 8>, cn::input<5>>;
using two_inputs_data = cn::data::dataset<cn::data::label<3>, cn::shape<3, 8, 8>, cn::shape<5>>;
using image = cn::sequential<cn::input<2, 6, 6>, cn::flatten, cn::dense<8>, cn::relu, cn::dense<3>>;
using image_data = cn::data::dataset<cn::data::label<3>, cn::shape<2, 6, 6>>;
using image_model = cn::model<image, cn::policy::cpu, cn::batch<4>>;

std::vector<float> numbers(std::size_t count) {
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = std::sin(float(i * i % 997));
    }
    return x;
}

std::string refusal(auto const& f) {
    try {
        f();
    } catch (cn::error const& e) {
        return e.what();
    }
    return "";
}
bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

// What f() says in another thread, for which this one waits.
std::string refusal_elsewhere(auto const& f) {
    std::string text;
    std::thread{[&] { text = refusal(f); }}.join();
    return text;
}

// Calls a function whenever its first sample is read: in the middle of a prediction or a step.
struct interrupted : image_data {
    std::function<void()> at_first;

    interrupted(std::size_t samples, std::function<void()> f)
        : image_data{numbers(samples * 72), std::vector<int>(samples)}, at_first{std::move(f)} {}
    template <std::size_t I = 0, class T>
    void copy_input(std::size_t sample, T* out) const {
        if (sample == 0) {
            at_first();
        }
        image_data::copy_input(sample, out);
    }
};

} // namespace

TEST_CASE("numbers in memory are predicted as those of a data set") {
    image_model const model{cn::seed{3}};
    auto const x = numbers(10 * 72);
    auto const expected = model.predict(image_data{x, std::vector<int>(10)});
    CHECK(expected.size() == 30);
    CHECK(model.predict(x) == expected);
    CHECK(model.predict(std::span<float const>{x}) == expected);
    std::array<float, 72> one{};
    std::copy_n(x.begin() + 9 * 72, 72, one.begin());
    CHECK(model.predict(one) == std::vector<float>(expected.end() - 3, expected.end()));
    float plain[72];
    std::copy_n(x.begin(), 72, plain);
    CHECK(model.predict(plain) == std::vector<float>(expected.begin(), expected.begin() + 3));
    CHECK(model.predict(std::vector<float>{}).empty());
}

TEST_CASE("a wrong name of a parameter is answered with all of them") {
    using net = cn::sequential<cn::input<2>, cn::dense<3>, cn::relu, cn::dense<1>>;
    cn::model<net, cn::policy::cpu, cn::batch<1>> const model;
    CHECK(refusal([&] { (void)model.get("1.bias"); }) ==
          "castnet: model: the network has no parameter '1.bias'; there are 0.weight, 0.bias, "
          "2.weight, 2.bias");
}

TEST_CASE("numbers in braces are predicted") {
    using net = cn::sequential<cn::input<2>, cn::dense<3>>;
    cn::model<net, cn::policy::cpu, cn::batch<4>> const model{cn::seed{3}};
    CHECK(model.predict({1, 0.1F, 3, 4}) == model.predict(std::vector<float>{1, 0.1F, 3, 4}));
    CHECK(contains(refusal([&] { (void)model.predict({1, 2, 3}); }), "3 numbers"));
    using words = cn::sequential<cn::input_ids<50, 3>, cn::embedding<50, 2>>;
    cn::model<words, cn::policy::cpu, cn::batch<4>> const of_ids{cn::seed{3}};
    CHECK(of_ids.predict({1, 49, 2}) == of_ids.predict(std::vector<int>{1, 49, 2}));
}

TEST_CASE("each input of a network is given by itself") {
    cn::model<two_inputs, cn::policy::cpu, cn::batch<16>> const model{cn::seed{3}};
    auto const photos = numbers(7 * 192), facts = numbers(7 * 5);
    two_inputs_data const data{photos, facts, std::vector<int>(7)};
    CHECK(model.predict(photos, facts) == model.predict(data));
    CHECK(model.predict<1>(photos, facts) == model.predict<1>(data));
    auto const message = refusal([&] { (void)model.predict(photos, numbers(6 * 5)); });
    CHECK(contains(message, "7 samples"));
    CHECK(contains(message, "input 1 holds 6"));
}

TEST_CASE("numbers that are no whole samples are refused with the size of a sample") {
    image_model const model;
    auto const message = refusal([&] { (void)model.predict(numbers(100)); });
    CHECK(contains(message, "castnet: predict: "));
    CHECK(contains(message, "100"));
    CHECK(contains(message, "72"));
}

// Threads that begin together and predict 10,000 samples each, with the model and with predictors
// of their own.
template <class Policy>
void predict_in_threads() {
    constexpr std::size_t samples = 500, rounds = 20;
    cn::model<two_inputs, Policy, cn::batch<16>> const model{cn::seed{3}};
    auto const photos = numbers(samples * 192), facts = numbers(samples * 5);
    auto const expected = model.predict(photos, facts);
    std::atomic<int> ready{0}, wrong{0};
    auto const work = [&](bool own) {
        ready.fetch_add(1);
        while (ready.load() < 4) {
        }
        cn::predictor mine{model};
        for (std::size_t i = 0; i < rounds; ++i) {
            auto const y = own ? mine.predict(photos, facts) : model.predict(photos, facts);
            wrong += y != expected;
        }
    };
    {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back(work, i % 2 == 0);
        }
        for (std::thread& t : threads) {
            t.join();
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a model predicts in several threads at the same time") {
    predict_in_threads<cn::policy::cpu>();
}
TEST_CASE("a model on several devices predicts in several threads at the same time") {
    predict_in_threads<cn::policy::model_parallel<cn::policy::cpu, 2>>();
}

// Training with 8 samples, which has the model to itself.
template <class Policy>
void training_refuses_others() {
    cn::model<image, Policy, cn::batch<4>> model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto other = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const x = numbers(72);
    image_data const plain{numbers(8 * 72), std::vector<int>(8)};
    std::size_t const some[] = {0, 1, 2};
    int epochs = 0;
    training.fit(plain,
                 {.epochs = 2, .verbose = cn::verbosity::silent, .on_epoch_end = [&](auto&) {
                      ++epochs;
                      CHECK(model.predict(x).size() == 3); // a call of the same thread
                      model.set("3.bias", model.get("3.bias"));
                      auto const says = [](auto const& call) {
                          return refusal_elsewhere([&] { (void)call(); });
                      };
                      auto const predict = says([&] { return model.predict(x); });
                      CHECK(contains(predict, "castnet: predict: "));
                      CHECK(contains(predict, "another thread is in fit"));
                      CHECK(contains(says([&] { return model.get("3.bias"); }), "get"));
                      CHECK(contains(says([&] { return other.evaluate(plain); }), "eval"));
                      for (auto* const each : {&training, &other}) {
                          for (auto const& call : std::initializer_list<std::function<void()>>{
                                   [&] { each->fit(plain); }, [&] { each->step(plain, some); },
                                   [&] { each->freeze("*"); }, [&] { each->frozen(); },
                                   [&] { each->gradient("3.bias"); },
                                   [&] { cn::save(*each, "none"); }}) {
                              CHECK(contains(refusal_elsewhere(call), "thread is in fit"));
                          }
                      }
                      CHECK(contains(says([&] {
                                         cn::load(model, "none");
                                         return 0;
                                     }),
                                     "none"));
                  }});
    CHECK(epochs == 2);
    CHECK(refusal_elsewhere([&] { (void)model.predict(x); }).empty());
    CHECK(refusal_elsewhere([&] { other.fit(plain, {.verbose = cn::verbosity::silent}); }).empty());

    interrupted const steps{8, [&] {
                                auto const says =
                                    refusal_elsewhere([&] { (void)model.predict(x); });
                                CHECK(contains(says, "another thread is in step"));
                            }};
    training.step(steps, some);
}

TEST_CASE("a training has the model to itself") {
    training_refuses_others<cn::policy::cpu>();
}
TEST_CASE("a training of several replicas has the model to itself") {
    training_refuses_others<cn::policy::mirrored<cn::policy::cpu, 2>>();
}

TEST_CASE("parameters do not change while a thread predicts") {
    image_model model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const x = numbers(8 * 72);
    image_data const plain{x, std::vector<int>(8)};
    std::size_t const some[] = {0, 1, 2};
    auto const bias = model.get("3.bias"), expected = model.predict(x);
    int calls = 0;
    interrupted const data{
        8, [&] {
            ++calls;
            CHECK(model.predict(x) == expected);
            CHECK(refusal_elsewhere([&] {
                      CHECK(model.predict(x) == expected);
                      CHECK(model.get("3.bias") == bias);
                  }).empty());
            for (auto const& call : std::initializer_list<std::function<void()>>{
                     [&] { model.set("3.bias", bias); }, [&] { training.step(plain, some); },
                     [&] { training.fit(plain); }, [&] { training.evaluate(plain); }}) {
                auto const says = refusal_elsewhere(call);
                CHECK(contains(says, "to itself, but 1 call predicts"));
                CHECK(!refusal(call).empty());
            }
        }};
    CHECK(model.predict(data) == expected);
    CHECK(calls == 1);
    training.step(plain, some); // now it may
    CHECK(model.predict(x) != expected);
}

TEST_CASE("a predictor is used by one call at a time") {
    image_model const model{cn::seed{3}};
    cn::predictor one{model};
    interrupted const data{4, [&] {
                               auto const says =
                                   refusal_elsewhere([&] { (void)one.predict(numbers(72)); });
                               CHECK(contains(says, "make one for each thread"));
                           }};
    CHECK(one.predict(data) == model.predict(numbers(4 * 72)));
}

TEST_CASE("predictors move") {
    image_model const model{cn::seed{3}}, other{cn::seed{4}};
    std::vector<cn::predictor<image_model>> all;
    for (image_model const* each : {&model, &other}) {
        all.emplace_back(*each); // moves the one before
    }
    CHECK(all[0].predict(numbers(72)) == model.predict(numbers(72)));
    all[0] = std::move(all[1]);
    CHECK(all[0].predict(numbers(72)) == other.predict(numbers(72)));
    cn::predictor moved{std::move(all[0])};
    static_assert(std::is_same_v<decltype(moved), cn::predictor<image_model>>);
    CHECK(moved.predict(numbers(72)) == other.predict(numbers(72)));
    CHECK_THROWS_WITH_AS(
        (void)all[0].predict(numbers(72)),
        "castnet: predict: this predictor was moved away; call the one that it was "
        "moved to",
        cn::error);
    all[0] = cn::predictor{model};
    CHECK(all[0].predict(numbers(72)) == model.predict(numbers(72)));
}

// With a rate of 0, so that what is not refused is right whenever it happens.
TEST_CASE("threads that predict and train at the same time disturb nobody") {
    image_model model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto const x = numbers(8 * 72);
    image_data const data{x, std::vector<int>(8)};
    std::size_t const some[] = {0, 1, 2};
    auto const expected = model.predict(x);
    std::atomic<int> wrong{0}, done{0};
    auto const repeat = [&](auto const& call) {
        return std::thread{[&, call] {
            for (int i = 0; i < 300; ++i) {
                try {
                    call();
                    ++done;
                } catch (cn::error const&) {
                }
            }
        }};
    };
    std::thread threads[] = {
        repeat([&] { wrong += model.predict(x) != expected; }),
        repeat([&] { training.step(data, some, 0.0); }),
        repeat([&] { wrong += model.predict(x) != expected; }),
    };
    for (std::thread& t : threads) {
        t.join();
    }
    CHECK(done > 0);
    CHECK(wrong == 0);
}
