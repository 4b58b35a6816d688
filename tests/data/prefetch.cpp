#include <castnet/castnet.hpp>
#include <castnet/data.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../io/hostile.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <thread>

namespace cn = castnet;
using doctest::Contains;

namespace {

using net = cn::sequential<cn::input<1, 4, 4>, cn::flatten, cn::dense<8>, cn::tanh,
                           cn::dropout<0.2F>, cn::dense<3>>;
using images = cn::data::dataset<cn::data::label<3>, cn::shape<1, 4, 4>>;

images some_images(size_t count) {
    std::vector<float> x(count * 16);
    std::vector<int> labels(count);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * i % 89) / 89;
    }
    for (size_t i = 0; i < count; ++i) {
        labels[i] = int(i % 3);
    }
    return images{std::move(x), std::move(labels)};
}

// Counts how many samples are read, at the same time too; can be slow, and fail.
struct watched : cn::data::adaptor<images> {
    struct log {
        std::atomic<int> now = 0, most = 0, reads = 0;
    };
    std::shared_ptr<log> seen = std::make_shared<log>();
    int microseconds = 0;
    size_t fails_at = ~size_t{0};

    using adaptor::adaptor;
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        int const now = ++seen->now;
        int most = seen->most;
        while (most < now && !seen->most.compare_exchange_weak(most, now)) {
        }
        ++seen->reads;
        if (microseconds > 0) {
            std::this_thread::sleep_for(std::chrono::microseconds{microseconds});
        }
        --seen->now;
        if (sample == fails_at) {
            throw cn::file_error("picture.jpg", "cannot decode the JPEG");
        }
        adaptor::copy_input<I>(sample, out);
    }
};

template <class Policy = cn::policy::cpu>
struct run {
    cn::model<net, Policy, cn::batch<8>> model{cn::seed{4}};
    decltype(cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy)) training =
        cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);

    auto fit(auto const& data, int epochs = 3) {
        return training.fit(data, {.epochs = epochs, .verbose = cn::verbosity::silent});
    }
    auto weights() const { return model.get("4.weight"); }
};

auto augmented(auto data) {
    return cn::data::augment(std::move(data), cn::data::random_flip{}, cn::data::random_shift{1});
}

} // namespace

TEST_CASE("what is trained does not depend on prefetching, or on the number of workers") {
    run<> plain;
    auto const expected = plain.fit(augmented(some_images(45)));
    for (unsigned const workers : {0U, 1U, 2U, 5U}) {
        for (size_t const ahead : {size_t{0}, size_t{1}, size_t{100}}) {
            run<> r;
            auto const data = cn::data::prefetch(augmented(some_images(45)),
                                                 {.workers = workers, .ahead = ahead});
            CHECK(r.fit(data)["loss"] == expected["loss"]);
            CHECK(r.weights() == plain.weights());
            CHECK(data.workers() == 0); // they have ended
        }
    }
}

TEST_CASE("every sample is read once in an epoch, by workers at the same time") {
    watched source{some_images(60)};
    source.microseconds = 300;
    run<> r;
    r.fit(cn::data::prefetch(source, {.workers = 4}), 2);
    CHECK(source.seen->reads == 120);
    CHECK(source.seen->most > 1);
    CHECK(source.seen->most <= 4);
}

TEST_CASE("the time that the training waits is known, and brings workers") {
    watched source{some_images(60)};
    source.microseconds = 2000;
    auto const data = cn::data::prefetch(source);
    run<> r;
    auto const history = r.fit(data, 1);
    CHECK(data.seconds_waited() > 0.01);
    CHECK(data.seconds_waited() <= history["seconds"][0]);
    CHECK(history["waiting"][0] == data.seconds_waited());
    CHECK(run<>{}.fit(some_images(60), 1)["waiting"][0] == 0);
    if (std::thread::hardware_concurrency() > 1) {
        CHECK(source.seen->most > 1);
    }
}

TEST_CASE("an exception in a worker reaches the caller, and nothing hangs") {
    watched source{some_images(60)};
    source.fails_at = 37;
    auto const data = cn::data::prefetch(source, {.workers = 3});
    run<> r;
    CHECK_THROWS_WITH_AS(r.fit(data), Contains("picture.jpg"), cn::file_error);
    CHECK(data.workers() == 0);
    run<> mended;
    CHECK(mended.fit(cn::data::prefetch(some_images(60)))["loss"].size() == 3);
}

TEST_CASE("what a program's own function throws comes with the sample's number and the epoch") {
    auto const failing = [](int after) { // reads
        return cn::data::map<cn::shape<1, 4, 4>>(
            some_images(20), [left = std::make_shared<std::atomic<int>>(after)](auto in, auto out) {
                if (--*left < 0) {
                    throw std::out_of_range("no such colour");
                }
                std::copy(in.begin(), in.end(), out.begin());
            });
    };
    auto const check = [](auto const& data) {
        run<> r;
        try {
            r.training.fit(data, {.epochs = 4, .shuffle = false, .verbose = cn::verbosity::silent});
            FAIL("nothing was thrown");
        } catch (cn::sample_error const& e) {
            CHECK(std::string{e.what()} ==
                  "castnet: fit: epoch 3: sample 7 of the data: no such colour");
            CHECK(e.sample == 7);
            CHECK_THROWS_AS(std::rethrow_if_nested(e), std::out_of_range);
        }
    };
    check(failing(47));
    check(cn::data::prefetch(failing(47), {.workers = 1}));
}

TEST_CASE("so it does outside of a fit") {
    auto const failing = cn::data::generated<cn::data::label<3>, cn::shape<1, 4, 4>>(
        9, [](size_t, auto x) { std::fill(x.begin(), x.end(), 0.0F); },
        [](size_t i, auto y) {
            if (i == 5) {
                throw i;
            }
            y[0] = 0;
        });
    std::string const expected =
        "castnet: sample 5 of the data: its data set threw something that is not a std::exception";
    run<> r;
    CHECK_THROWS_WITH_AS(r.training.evaluate(failing), expected.c_str(), cn::sample_error);
    CHECK_THROWS_WITH_AS(cn::data::filter(failing, [](auto s) { return s.label() == 0; }),
                         expected.c_str(), cn::sample_error);
    castnet::testing::temporary_directory const folder;
    CHECK_THROWS_WITH_AS(cn::data::cache(failing, {.file = folder / "cache"}), expected.c_str(),
                         cn::sample_error);
    CHECK(r.model.predict(failing).size() == 27); // which reads no target
    CHECK(r.training.evaluate(cn::data::take(failing, 5)).weight == 5);
}

TEST_CASE("a fit that ends by a callback or an exception ends the workers") {
    struct failure {};
    auto const data = cn::data::prefetch(some_images(60), {.workers = 2});
    run<> r;
    CHECK_THROWS_AS(r.training.fit(data, {.epochs = 3,
                                          .verbose = cn::verbosity::silent,
                                          .on_epoch_end = [](auto&) { throw failure{}; }}),
                    failure);
    CHECK(data.workers() == 0);
    r.training.fit(data, {.epochs = 3,
                          .verbose = cn::verbosity::silent,
                          .on_epoch_end = [](auto& e) { e.stop = true; }});
    CHECK(data.workers() == 0);
}

TEST_CASE("evaluation reads ahead, too, and samples come outside of a fit") {
    auto const data = cn::data::prefetch(some_images(45), {.workers = 2});
    run<> r;
    CHECK(r.training.evaluate(data).loss() == r.training.evaluate(some_images(45)).loss());
    float x[16], expected[16];
    data.copy_input(7, x);
    some_images(45).copy_input(7, expected);
    CHECK(std::equal(x, x + 16, expected));
    CHECK(r.training.step(data, std::vector<size_t>{1, 2, 3}).weight == 3);
    CHECK(r.model.predict(data).size() == 45 * 3);
}

TEST_CASE("trainings in several threads do not share what reads ahead") {
    auto const data = cn::data::prefetch(some_images(20));
    run<> one;
    std::string message;
    auto const train_another = [&] {
        run<> another;
        try {
            another.fit(data);
        } catch (cn::error const& e) {
            message = e.what();
        }
    };
    one.training.fit(data, {.verbose = cn::verbosity::silent,
                            .callbacks = {cn::on_step_end{[&](cn::step_report const& report) {
                                if (report.step == 2) {
                                    std::thread{train_another}.join();
                                }
                            }}}});
    CHECK(message.find("call data::prefetch() for each training") != std::string::npos);
    run<> alone;
    alone.fit(some_images(20), 1);
    CHECK(one.weights() == alone.weights());

    message = {};
    std::thread{train_another}.join(); // after the other one
    CHECK(message.empty());
}

TEST_CASE("trainings in several threads do not share what is drawn anew in each epoch") {
    // What another thread is told that evaluates the data within an epoch of this one, after this
    // one has.
    auto const said = [](auto const& data) {
        run<> one, another;
        std::string message = "not called";
        auto const evaluate = [&] {
            message = {};
            try {
                another.training.evaluate(data);
            } catch (cn::error const& e) {
                message = e.what();
            }
        };
        one.training.fit(data, {.verbose = cn::verbosity::silent,
                                .callbacks = {cn::on_step_end{[&](cn::step_report const&) {
                                    one.training.evaluate(data);
                                    std::thread{evaluate}.join();
                                }}}});
        std::string const within = message;
        std::thread{evaluate}.join();
        CHECK(message.empty());
        return within;
    };
    auto const refuses = [&](auto const& data, std::string const& call) {
        return said(data).find("call " + call + "() for each training") != std::string::npos;
    };
    auto const images = some_images(10);
    CHECK(refuses(augmented(images), "data::augment"));
    CHECK(refuses(cn::data::random_crop<cn::shape<1, 4, 4>>(images, {.padding = 1}),
                  "data::random_crop"));
    CHECK(refuses(cn::data::balanced_sample(images), "data::weighted_sample"));
    CHECK(refuses(cn::data::epochs_of(images, 7), "data::epochs_of"));
    CHECK(refuses(cn::data::prefetch(augmented(images)), "data::prefetch"));
    CHECK(said(cn::data::center_crop<cn::shape<1, 4, 4>>(images)).empty());
}

TEST_CASE("a callback evaluates what the fit reads ahead, and changes nothing") {
    auto const drawn = [] { return cn::data::balanced_sample(augmented(some_images(60)), 300, 3); };
    auto const inner = drawn();
    auto const data = cn::data::prefetch(inner, {.workers = 3, .ahead = 100});
    auto const evaluating = [&](auto const& evaluated) {
        run<> r;
        r.training.fit(data, {.epochs = 2,
                              .verbose = cn::verbosity::silent,
                              .callbacks = {cn::on_step_end{[&](cn::step_report const& report) {
                                  if (report.step % 5 == 1) {
                                      r.training.evaluate(evaluated);
                                  }
                              }}}});
        return r.weights();
    };
    run<> alone;
    alone.fit(drawn(), 2);
    CHECK(evaluating(data) == alone.weights());
    CHECK(evaluating(inner) == alone.weights());
}

TEST_CASE("a callback evaluates the data of the fit in another epoch, and changes nothing") {
    auto const same = [](auto const& make) {
        run<> alone, r;
        alone.fit(make(), 2);
        run<> other;
        other.fit(some_images(20), 5); // it has come to other epochs
        auto const data = make();
        r.training.fit(data, {.epochs = 2,
                              .verbose = cn::verbosity::silent,
                              .callbacks = {cn::on_step_end{[&](cn::step_report const& report) {
                                  if (report.step % 3 == 1) {
                                      other.training.evaluate(data);
                                  }
                              }}}});
        return r.weights() == alone.weights();
    };
    auto const some = some_images(60);
    CHECK(same([&] { return augmented(some); }));
    CHECK(same([&] { return cn::data::balanced_sample(some); }));
    CHECK(same([&] { return cn::data::epochs_of(some, 40); }));
    CHECK(same([&] { return cn::data::balanced_sample(augmented(some)); }));
    CHECK(same([&] { return augmented(cn::data::balanced_sample(some)); }));
    CHECK(same([&] { return cn::data::prefetch(augmented(some), {.workers = 2}); }));
    CHECK(same([&] { return cn::data::prefetch(cn::data::epochs_of(some, 40)); }));
}

TEST_CASE("an epoch that cannot begin leaves the data to other threads") {
    struct begins_later : cn::data::adaptor<images> {
        std::shared_ptr<bool> ready = std::make_shared<bool>(false);
        using adaptor::adaptor;
        void begin_epoch(cn::data::epoch const&) const {
            if (!*ready) {
                throw cn::error("not yet");
            }
        }
    };
    begins_later const late{some_images(20)};
    auto const data = cn::data::prefetch(late);
    run<> one, another;
    CHECK_THROWS_WITH(one.fit(data), "not yet");
    *late.ready = true;
    std::thread{[&] { CHECK_NOTHROW(another.fit(data)); }}.join();
}

TEST_CASE("replicas read ahead together; samples may be drawn more than once") {
    using mirrored = cn::policy::mirrored<cn::policy::cpu, 2>;
    auto const drawn = [] { return cn::data::balanced_sample(augmented(some_images(30)), 70, 3); };
    run<mirrored> plain, ahead;
    plain.fit(drawn());
    ahead.fit(cn::data::prefetch(drawn(), {.workers = 3, .ahead = 4}));
    CHECK(ahead.weights() == plain.weights());
}

TEST_CASE("a training that goes on within an epoch draws what the first one would have drawn") {
    castnet::testing::temporary_directory const folder;
    std::string const file = folder / "state.safetensors";
    auto const data = [] { return cn::data::prefetch(augmented(some_images(45)), {.workers = 2}); };
    run<> whole;
    whole.fit(data());
    run<> first;
    int steps = 0;
    struct stopped {};
    CHECK_THROWS_AS(first.training.fit(data(), {.epochs = 3,
                                                .schedule = [&](auto, auto) -> double {
                                                    if (steps++ == 9) {
                                                        cn::save(first.training, file);
                                                        throw stopped{};
                                                    }
                                                    return 1e-3;
                                                },
                                                .verbose = cn::verbosity::silent}),
                    stopped);
    run<> second;
    cn::load(second.training, file);
    second.fit(data());
    CHECK(second.weights() == whole.weights());
}
