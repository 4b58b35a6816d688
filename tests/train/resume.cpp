// A training that goes on from its checkpoint takes the steps that it would have taken, and reports
// what it would have reported.
#include <castnet/castnet.hpp>

#include "../temporary_path.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <stdexcept>

namespace cn = castnet;

namespace {

using network =
    cn::sequential<cn::input<36>, cn::reshape<1, 6, 6>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu,
                   cn::dropout<0.3F>, cn::flatten, cn::dense<3>>;
using model_type = cn::model<network, cn::policy::cpu, cn::batch<8>>;

struct file : check::temporary_path {
    file() : temporary_path{"resume.safetensors"} {}
};

auto data_of() {
    return cn::data::blobs<3, 36>(20, 2); // three steps an epoch, the last of four samples
}

template <class Optimizer>
struct run {
    model_type model{cn::seed{7}};
    decltype(cn::compile(model, cn::cross_entropy, Optimizer{}, cn::accuracy)) training =
        cn::compile(model, cn::cross_entropy, Optimizer{}, cn::accuracy);

    // Three epochs; the schedule throws before step `end`.
    cn::history fit(std::string const& checkpoint, std::uint64_t every, std::uint64_t end = 99) {
        return fit(checkpoint.empty() ? cn::checkpoint_options{}
                                      : cn::checkpoint(training, checkpoint, every),
                   {}, end);
    }
    cn::history fit(cn::checkpoint_options const& checkpoint,
                    std::function<void(cn::epoch_report&)> const& on_epoch_end,
                    std::uint64_t end = 99) {
        auto const schedule = [end](std::uint64_t step, std::uint64_t total) {
            if (step == end) {
                throw std::runtime_error("power failure");
            }
            return cn::one_cycle(0.05)(step, total);
        };
        return training.fit(data_of(), {.epochs = 3,
                                        .schedule = schedule,
                                        .validation = data_of(),
                                        .verbose = cn::verbosity::silent,
                                        .checkpoint = checkpoint,
                                        .on_epoch_end = on_epoch_end});
    }

    std::vector<float> numbers() const {
        std::vector<float> all;
        for (auto const& p : training.training_plan().parameters) {
            auto const w = model.get(p.name.text());
            all.insert(all.end(), w.begin(), w.end());
            for (int k = 0; p.trainable && k < Optimizer::slots; ++k) {
                auto const state = training.slot(k, p);
                all.insert(all.end(), state.begin(), state.end());
            }
        }
        return all;
    }
};

// All but the times.
void same_history(cn::history const& a, cn::history const& b) {
    REQUIRE(a.names() == b.names());
    for (auto const& name : a.names()) {
        CAPTURE(name);
        CHECK((name == "seconds" || name == "waiting" || a[name] == b[name]));
    }
}

template <class Optimizer>
void interrupted_equals_whole() {
    run<Optimizer> whole;
    auto const expected = whole.fit("", 0);
    for (std::uint64_t every : {0U, 1U, 2U}) {
        for (std::uint64_t end : {3U, 4U, 5U, 6U, 8U}) {
            CAPTURE(every);
            CAPTURE(end);
            file const f;
            CHECK_THROWS_WITH((run<Optimizer>{}.fit(f.name, every, end)), "power failure");
            run<Optimizer> resumed;
            cn::load(resumed.training, f.name);
            auto const history = resumed.fit(f.name, every);
            CHECK(resumed.numbers() == whole.numbers());
            CHECK(resumed.training.steps() == whole.training.steps());
            same_history(history, expected);
        }
    }
}

// What a callback writes down of every epoch, in a place that outlives the program.
using record = std::map<int, std::vector<double>>;

std::string refusal(std::string const& name) {
    run<cn::adam> r;
    auto const before = r.numbers();
    std::string message;
    try {
        cn::load(r.training, name);
    } catch (cn::file_error const& e) {
        message = e.what();
    }
    CHECK((message.empty() || r.numbers() == before));
    return message;
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a fit that was interrupted, in an epoch or after it, ends as one that was not") {
    interrupted_equals_whole<cn::adam>();
    interrupted_equals_whole<cn::momentum>();
    interrupted_equals_whole<cn::sgd>();
}

TEST_CASE(
    "whichever write of a checkpoint is the last, callbacks see every epoch once more at most") {
    run<cn::adam> whole;
    record expected;
    auto const expected_history = whole.fit({}, [&](cn::epoch_report& report) {
        CHECK(!report.again);
        expected[report.epoch] = report.history["val_loss"];
    });
    for (int last = 1; last <= 12; ++last) { // 3 steps and the end, of 3 epochs
        CAPTURE(last);
        file const f;
        record seen;
        int epochs_again = 0;
        auto const callback = [&](cn::epoch_report& report) {
            CHECK(report.history.epochs() == std::size_t(report.epoch));
            CHECK(report.again <= !seen.contains(report.epoch + 1));
            epochs_again += seen.contains(report.epoch);
            CHECK((report.again || !seen.contains(report.epoch)));
            seen[report.epoch] = report.history["val_loss"];
        };
        {
            run<cn::adam> killed;
            int writes = 0;
            auto const write = [&] {
                cn::save(killed.training, f.name);
                if (++writes == last) {
                    throw std::runtime_error("power failure");
                }
            };
            CHECK_THROWS_WITH(killed.fit({write, 1}, callback), "power failure");
        }
        run<cn::adam> resumed;
        cn::load(resumed.training, f.name);
        same_history(resumed.fit(cn::checkpoint(resumed.training, f.name, 1), callback),
                     expected_history);
        CHECK(resumed.numbers() == whole.numbers());
        CHECK(seen == expected);
        CHECK(epochs_again == 0);
    }
}

TEST_CASE("a checkpoint behind samples of weight 0 is taken") {
    std::vector<size_t> order(20);
    cn::data::shuffle(order, 7, 0);
    std::vector<float> weights(20);
    weights[order.back()] = 1;
    auto const fit = [&](auto& training, std::string const& name, std::uint64_t end) {
        auto const schedule = [end](std::uint64_t step, std::uint64_t) {
            return step < end ? 0.01 : throw std::runtime_error("power failure");
        };
        training.fit(data_of().with_weights(weights),
                     {.epochs = 1,
                      .schedule = schedule,
                      .verbose = cn::verbosity::silent,
                      .checkpoint = cn::checkpoint(training, name, 1)});
    };
    file const f;
    run<cn::adam> whole, interrupted, resumed;
    fit(whole.training, f.name, 99);
    CHECK_THROWS_AS(fit(interrupted.training, f.name, 1), std::runtime_error);
    REQUIRE(cn::io::load_safetensors(f.name).metadata().at("castnet.fit.weight") == "0");
    cn::load(resumed.training, f.name);
    fit(resumed.training, f.name, 99);
    CHECK(resumed.numbers() == whole.numbers());
}

// Of one of the samples the logarithm is NaN, and so is the mean of its epoch.
struct log_of_first {
    static constexpr char const* name = "log";
    static constexpr bool labels = true;
    constexpr auto operator()(auto logits, auto) const {
        return cn::sum(cn::log(cn::slice<0, 0, 1>(logits)));
    }
};

TEST_CASE("a checkpoint of an epoch with a metric that is NaN is taken") {
    file const f;
    model_type model{cn::seed{7}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, log_of_first{});
    training.fit(data_of(), {.epochs = 2,
                             .verbose = cn::verbosity::silent,
                             .checkpoint = cn::checkpoint(training, f.name),
                             .callbacks = {cn::on_step_end{[](cn::step_report& report) {
                                 report.stop = report.step == 2;
                             }}}});
    cn::load(training, f.name);
    auto const h = training.fit(data_of(), {.epochs = 2, .verbose = cn::verbosity::silent});
    CHECK(h["log"].size() == 2);
    CHECK(std::isnan(h["log"][0]));
}

TEST_CASE("a checkpoint holds infinity where nothing is trained") {
    using net = cn::sequential<cn::input<2>, cn::frozen<cn::dense<3>>, cn::relu, cn::dense<1>>;
    file const f;
    cn::model<net, cn::policy::cpu, cn::batch<4>> m;
    auto training = cn::compile(m, cn::mse, cn::sgd{});
    float const closed = -std::numeric_limits<float>::infinity();
    m.set("0.bias", std::vector{0.F, closed, 0.F});
    cn::save(training, f.name);
    m.set("0.bias", std::vector<float>(3));
    cn::load(training, f.name);
    CHECK(m.get("0.bias") == std::vector<float>{0, closed, 0});
    m.set("0.bias", std::vector{0.F, std::numeric_limits<float>::quiet_NaN(), 0.F});
    CHECK_THROWS_WITH_AS(cn::save(training, f.name), doctest::Contains("holds nan"),
                         cn::file_error);
}

TEST_CASE("a checkpoint from which no training goes on does not take the place of a good one") {
    file const f;
    run<cn::adam> r;
    r.fit(f.name, 0);
    auto weights = r.model.get("1.weight");
    weights[3] = -std::numeric_limits<float>::infinity();
    r.model.set("1.weight", weights);
    CHECK_THROWS_WITH_AS(cn::save(r.training, f.name),
                         doctest::Contains("tensor '1.weight' holds -inf, expected finite numbers; "
                                           "no training goes on from that"),
                         cn::file_error);
    CHECK(refusal(f.name) == "");
}

TEST_CASE("a fit refuses the checkpoint of another training") {
    file const f;
    run<cn::adam> one, other;
    CHECK_THROWS_WITH_AS(other.fit(cn::checkpoint(one.training, f.name), {}),
                         doctest::Contains("its checkpoint would be that of another training"),
                         cn::error);
    CHECK(!std::filesystem::exists(f.name));
}

TEST_CASE("a callback that was interrupted is called again and told so") {
    file const f;
    int calls = 0;
    auto const callback = [&](cn::epoch_report& report) {
        CHECK(report.again == (calls == 2));
        CHECK(report.epoch == (calls < 2 ? calls + 1 : calls));
        if (++calls == 2) {
            throw std::runtime_error("power failure");
        }
    };
    run<cn::adam> killed;
    CHECK_THROWS_WITH(killed.fit(cn::checkpoint(killed.training, f.name), callback),
                      "power failure");
    run<cn::adam> resumed;
    cn::load(resumed.training, f.name);
    CHECK(resumed.fit(cn::checkpoint(resumed.training, f.name), callback).epochs() == 3);
    CHECK(calls == 4);

    run<cn::adam> again; // the last epoch's call is known to have returned
    cn::load(again.training, f.name);
    CHECK(again.fit(cn::checkpoint(again.training, f.name), callback).epochs() == 3);
    CHECK(calls == 4);
}

TEST_CASE("an early stop is stored") {
    file const f;
    auto const stop = [](cn::epoch_report& report) { report.stop = report.epoch == 2; };
    run<cn::adam> stopped;
    CHECK(stopped.fit(cn::checkpoint(stopped.training, f.name), stop).epochs() == 2);
    run<cn::adam> resumed;
    cn::load(resumed.training, f.name);
    auto const unexpected = [](cn::epoch_report&) { FAIL("called again"); };
    CHECK(resumed.fit(cn::checkpoint(resumed.training, f.name), unexpected).epochs() == 2);
    CHECK(resumed.training.steps() == 6);
    CHECK(resumed.numbers() == stopped.numbers());
}

TEST_CASE("a checkpoint that is written by hand behind an exception is that of the moment") {
    run<cn::adam> whole;
    auto const expected = whole.fit("", 0);
    file const f;
    {
        run<cn::adam> failed;
        CHECK_THROWS((failed.fit("", 0, 5)));
        (void)failed.training.evaluate(data_of()); // changes no sum of the epoch
        cn::save(failed.training, f.name);
    }
    run<cn::adam> resumed;
    cn::load(resumed.training, f.name);
    cn::save(resumed.training, f.name); // nor does a way through another program
    run<cn::adam> again;
    cn::load(again.training, f.name);
    same_history(again.fit("", 0), expected);
    CHECK(again.numbers() == whole.numbers());
}

TEST_CASE("evaluating within an epoch changes no sum of the epoch") {
    auto const history_of = [](bool evaluates) {
        run<cn::adam> r;
        auto const schedule = [&](std::uint64_t, std::uint64_t) {
            if (evaluates) {
                (void)r.training.evaluate(data_of());
            }
            return 0.01;
        };
        return r.training.fit(
            data_of(), {.epochs = 2, .schedule = schedule, .verbose = cn::verbosity::silent});
    };
    same_history(history_of(true), history_of(false));
}

TEST_CASE("what changes a training is refused within its fit") {
    file const f;
    run<cn::adam> r;
    cn::save(r.training, f.name);
    std::size_t const samples[] = {0, 1};
    int refused = 0;
    auto const refuse = [&](auto const& call) {
        CHECK_THROWS_WITH_AS(call(), doctest::Contains("within fit() of the same training"),
                             cn::error);
        ++refused;
    };
    auto const history = r.fit({}, [&](cn::epoch_report&) {
        refuse([&] { r.training.fit(data_of()); });
        refuse([&] { r.training.step(data_of(), samples); });
        refuse([&] { cn::load(r.training, f.name); });
        cn::save(r.training, f.name);
    });
    CHECK(refused == 9);
    run<cn::adam> whole;
    same_history(history, whole.fit("", 0));
}

TEST_CASE("a fit that is refused before its first step does not forget where to go on") {
    file const f;
    CHECK_THROWS_WITH((run<cn::adam>{}.fit(f.name, 1, 5)), "power failure");
    run<cn::adam> resumed;
    cn::load(resumed.training, f.name);
    cn::fit_options<decltype(resumed.training)> const options{
        .epochs = 3, .validation = data_of(), .verbose = cn::verbosity::silent};
    auto const refuse = [&](auto const& data, auto const& change) {
        auto changed = options;
        change(changed);
        CHECK_THROWS_AS(resumed.training.fit(data, changed), std::exception);
    };
    refuse(data_of(),
           [](auto& with) { with.callbacks = {cn::csv_log{"/nonexistent/history.csv"}}; });
    refuse(data_of(), [](auto& with) { with.callbacks = {cn::early_stopping{"val_lose"}}; });
    refuse(data_of(), [](auto& with) { with.validation = {}; });
    refuse(cn::data::blobs<3, 36>(10, 2), [](auto&) {});
    refuse(data_of(), [](auto& with) { with.shuffle = false; }); // samples would come twice
    refuse(data_of(), [](auto& with) {
        with.schedule = [](auto, auto) -> double { throw std::runtime_error("no rate"); };
    });
    struct throwing {
        void begin_fit(cn::history const&) { throw std::runtime_error("not today"); }
    };
    refuse(data_of(), [](auto& with) { with.callbacks = {throwing{}}; });

    run<cn::adam> whole;
    same_history(resumed.fit(f.name, 1), whole.fit("", 0));
    CHECK(resumed.numbers() == whole.numbers());
    CHECK(resumed.training.steps() == whole.training.steps());
}

TEST_CASE("a checkpoint of a whole fit leaves nothing to do; one made after it begins anew") {
    file const f;
    run<cn::adam> first;
    auto const history = first.fit(f.name, 0);
    run<cn::adam> second;
    cn::load(second.training, f.name);
    same_history(second.fit("", 0), history);
    CHECK(second.training.steps() == 9);
    CHECK(second.numbers() == first.numbers());

    cn::save(first.training, f.name);
    run<cn::adam> third;
    cn::load(third.training, f.name);
    CHECK(third.fit("", 0).epochs() == 3);
    CHECK(third.training.steps() == 18);
    first.fit("", 0);
    CHECK(third.numbers() == first.numbers());
}

TEST_CASE("a model takes the weights out of a checkpoint") {
    file const f;
    run<cn::adam> trained;
    trained.fit(f.name, 0);
    model_type model{cn::seed{1}};
    cn::load(model, f.name);
    CHECK(model.predict(data_of()) == trained.model.predict(data_of()));
}

TEST_CASE("a checkpoint that does not fit is refused and changes nothing") {
    file const f;
    SUBCASE("weights only") {
        cn::save(model_type{cn::seed{7}}, f.name);
        CHECK(contains(refusal(f.name), "not a checkpoint of a training"));
    }
    SUBCASE("another optimizer") {
        cn::save(run<cn::momentum>{}.training, f.name);
        CHECK(contains(refusal(f.name), "momentum"));
    }
    SUBCASE("another seed") {
        model_type other{cn::seed{8}};
        cn::save(cn::compile(other, cn::cross_entropy, cn::adam{}, cn::accuracy), f.name);
        CHECK(contains(refusal(f.name), "seed 8"));
    }
    SUBCASE("another loss, other metrics, another batch, other numbers of the optimizer") {
        model_type model{cn::seed{7}};
        auto const message = [&](auto const& training) {
            cn::save(training, f.name);
            return refusal(f.name);
        };
        CHECK(contains(message(cn::compile(model, cn::smoothed_cross_entropy<0.1F>, cn::adam{})),
                       "was written with the "));
        CHECK(contains(message(cn::compile(model, cn::cross_entropy, cn::adam{})),
                       "was written with the metrics \"\", but this training has \"accuracy\""));
        CHECK(contains(message(cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.5},
                                           cn::accuracy)),
                       "optimizer.learning_rate = 0.5, but this training has 0.001"));
        cn::model<network, cn::policy::cpu, cn::batch<4>> other{cn::seed{7}};
        CHECK(contains(message(cn::compile(other, cn::cross_entropy, cn::adam{}, cn::accuracy)),
                       "batch<4>"));
    }
    SUBCASE("another element type") {
        using wide_type = cn::model<network, cn::policy::basic_cpu<double>, cn::batch<8>>;
        wide_type wide{cn::seed{7}};
        auto training = cn::compile(wide, cn::cross_entropy, cn::adam{}, cn::accuracy);
        cn::save(training, f.name);
        CHECK(refusal(f.name) ==
              "castnet: " + f.name +
                  ": tensor \"1.bias\" is F64, but this training computes in F32; resume it with "
                  "the element type of the file, or load the weights alone, into a model of that "
                  "type, for copy_parameters");
        cn::save(run<cn::adam>{}.training, f.name);
        CHECK_THROWS_WITH_AS(cn::load(training, f.name),
                             doctest::Contains("\"1.bias\" is F32, but this training computes in "
                                               "F64; resume it with the element type of the file, "
                                               "or load the weights alone, into the model"),
                             cn::file_error);
        cn::load(wide, f.name);
    }
    SUBCASE("another network or loss of the same names and shapes") {
        using chain =
            cn::sequential<cn::input<36>, cn::reshape<1, 6, 6>, cn::conv2d<4, 3>, cn::batch_norm,
                           cn::tanh, cn::dropout<0.3F>, cn::flatten, cn::dense<3>>;
        cn::model<chain, cn::policy::cpu, cn::batch<8>> other{cn::seed{7}};
        cn::save(cn::compile(other, cn::cross_entropy, cn::adam{}, cn::accuracy), f.name);
        CHECK(refusal(f.name) ==
              "castnet: " + f.name +
                  ": was written with another network, whose parameters have the same names and "
                  "shapes; compile the training as it was, or load the weights alone, into the "
                  "model");
        auto const stored = cn::io::load_safetensors(f.name);
        auto const without = [&](auto const& change) {
            auto metadata = stored.metadata();
            change(metadata);
            cn::detail::save_weights_file(f.name, stored.entries(), metadata);
            return refusal(f.name);
        };
        // another version of castnet may have traced the same network otherwise
        CHECK(without([](auto& metadata) { metadata.at("castnet.library") = "0.0.9"; }) == "");
        CHECK(without([](auto& metadata) { metadata.erase("castnet.library"); }) == "");

        model_type model{cn::seed{7}};
        auto smoothed =
            cn::compile(model, cn::smoothed_cross_entropy<0.1F>, cn::adam{}, cn::accuracy);
        cn::save(cn::compile(model, cn::smoothed_cross_entropy<0.4F>, cn::adam{}, cn::accuracy),
                 f.name);
        CHECK_THROWS_WITH_AS(cn::load(smoothed, f.name),
                             doctest::Contains("another loss of the same name"), cn::file_error);
    }
    SUBCASE("what no training can have come to") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 5), std::runtime_error);
        auto const stored = cn::io::load_safetensors(f.name);
        auto const with = [&](std::string const& key, std::string const& value) {
            auto metadata = stored.metadata();
            REQUIRE(metadata.contains("castnet." + key));
            metadata["castnet." + key] = value;
            cn::detail::save_weights_file(f.name, stored.entries(), metadata);
            CAPTURE(key);
            CAPTURE(value);
            auto const message = refusal(f.name);
            CHECK(message != "");
            return message;
        };
        CHECK(contains(with("steps", "18446744073709551615"), "castnet.steps"));
        CHECK(contains(with("steps", "-1"), "castnet.steps"));
        with("epochs", "1e3");
        with("fit.epochs", "4");
        with("fit.epochs", "18446744073709551615");
        CHECK(contains(with("fit.epochs", "2147483647"), "expected 2147483647 numbers"));
        with("fit.samples", "21");
        with("fit.weight", "nan");
        with("fit.weight", "-4");
        with("fit.sums", "3");
        with("fit.rate", "-1");
        with("fit.stopped", "2");
        with("history.columns", "18446744073709551615");
        CHECK(contains(with("history.columns", "0"), "1 epoch, but a history without columns"));
        with("history.0", "1 2 3 4");
        with("history.0", "one");
        with("version", "3");
        with("loss", "mse");
        CHECK(with("steps", std::string(100'000, '\033')).find('\033') == std::string::npos);
        CHECK(refusal(f.name).size() < 1000);
        cn::detail::save_weights_file(f.name, stored.entries(), stored.metadata());
        CHECK(refusal(f.name) == "");
    }
    SUBCASE("callbacks of an epoch before the first one has ended") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 2), std::runtime_error);
        auto const stored = cn::io::load_safetensors(f.name);
        for (char const* key : {"castnet.fit.callback_pending", "castnet.fit.stopped"}) {
            auto metadata = stored.metadata();
            REQUIRE(metadata.at(key) == "0");
            metadata[key] = "1";
            cn::detail::save_weights_file(f.name, stored.entries(), metadata);
            CHECK(contains(refusal(f.name), "callbacks of an epoch, but no epoch that ended"));
        }
    }
    SUBCASE("numbers that no optimizer can have, or a part of them") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 5), std::runtime_error);
        auto const stored = cn::io::load_safetensors(f.name);
        auto const with = [&](std::string const& name, float value) {
            auto tensors = stored.entries();
            std::vector<float> numbers;
            for (auto& t : tensors) {
                if (t.name == name) {
                    numbers.resize(t.bytes.size() / sizeof(float), value);
                    t = cn::io::tensor_of(name, t.shape, numbers.data());
                }
            }
            REQUIRE(!numbers.empty());
            cn::detail::save_weights_file(f.name, tensors, stored.metadata());
            return refusal(f.name);
        };
        CHECK(contains(with("optimizer/1/1.weight", -1), "optimizer/1/1.weight"));
        CHECK(contains(with("optimizer/0/1.weight", std::numeric_limits<float>::quiet_NaN()),
                       "holds nan"));
        CHECK(contains(with("1.weight", std::numeric_limits<float>::infinity()), "holds inf"));
        CHECK(with("optimizer/0/1.weight", -1) == "");
        auto tensors = stored.entries();
        std::erase_if(tensors, [](auto const& t) { return t.name == "optimizer/1/6.bias"; });
        cn::detail::save_weights_file(f.name, tensors, stored.metadata());
        CHECK(contains(refusal(f.name), "optimizer/1/6.bias"));
    }
    SUBCASE("the first version") {
        cn::save(run<cn::adam>{}.training, f.name);
        auto const stored = cn::io::load_safetensors(f.name);
        auto metadata = stored.metadata();
        metadata.erase("castnet.version");
        cn::detail::save_weights_file(f.name, stored.entries(), metadata);
        CHECK(contains(refusal(f.name), "the first version, without a history"));
    }
    SUBCASE("without validation data") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 5), std::runtime_error);
        run<cn::adam> resumed;
        cn::load(resumed.training, f.name);
        CHECK_THROWS_WITH_AS(
            resumed.training.fit(data_of(), {.epochs = 3, .verbose = cn::verbosity::silent}),
            doctest::Contains("written with validation data"), cn::error);
    }
    SUBCASE("a history with another column") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 5), std::runtime_error);
        auto const stored = cn::io::load_safetensors(f.name);
        auto metadata = stored.metadata();
        metadata.at("castnet.history.0.name") = "lost";
        cn::detail::save_weights_file(f.name, stored.entries(), metadata);
        run<cn::adam> resumed;
        cn::load(resumed.training, f.name);
        CHECK_THROWS_WITH_AS(
            resumed.training.fit(data_of(), {.epochs = 3, .verbose = cn::verbosity::silent}),
            doctest::Contains("the history of the checkpoint has other columns than loss, "),
            cn::error);
    }
    SUBCASE("another data set") {
        CHECK_THROWS_AS(run<cn::adam>{}.fit(f.name, 1, 5), std::runtime_error);
        run<cn::adam> resumed;
        cn::load(resumed.training, f.name);
        CHECK_THROWS_AS(resumed.training.fit(cn::data::blobs<3, 36>(10, 2)), cn::error);
    }
}
