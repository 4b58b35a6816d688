// Trainings on simulated GPUs: one of them, several that share one, and several by NCCL take the
// steps that one device takes, in every order of work that their streams and events allow.
#include "../comm/replicas.hpp"

#include <castnet/castnet.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/checkpoint.hpp>
#include <castnet/train/communication_report.hpp>

#include "../checkpoint_content.hpp"
#include "device.hpp"
#include "nccl.hpp"
#include "orders.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

using namespace replicas_test;
using on_host::in_several_orders;
using simulated_nccl::count;

namespace {

using gpu = on_host::policy<false>;
using eager_gpu = cn::policy::eager<gpu>;
using small_gpu = on_host::policy<true>; // tiny networks' steps are one kernel
using reference = simt::policy<false>;   // the same kernels, without streams
template <int N>
using several = cn::policy::mirrored<gpu, N>;
using visible = cn::policy::mirrored<gpu>;

// Until the graphs of both step buffers have run some times; the last step of an epoch is short,
// and has fewer samples than there are replicas.
template <class Policy, std::size_t Batch, class Optimizer = cn::momentum>
std::vector<double> after_fit(cn::devices const& chosen = {}, data_set const& data = samples(66),
                              Optimizer const& optimizer = {.learning_rate = 0.1}) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}, chosen};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    auto const h = training.fit(data, {.epochs = 3,
                                       .schedule = cn::one_cycle(0.05),
                                       .validation = samples(13),
                                       .class_weight = {1, 0.5F, 2},
                                       .verbose = cn::verbosity::silent});
    auto all = everything(model);
    for (auto const& name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        auto const column = h[name];
        all.insert(all.end(), column.begin(), column.end());
    }
    return all;
}

// Two trainings of one model by turns, whose losses have other numbers.
template <class Policy, std::size_t Batch>
std::vector<double> after_two_losses() {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto const compiled = [&](double gamma) {
        return cn::compile(model, cn::focal_cross_entropy_loss{.alpha = 1, .gamma = gamma},
                           cn::momentum{.learning_rate = 0.1}, cn::macro_f1);
    };
    auto a = compiled(0.5), b = compiled(3);
    auto const data = samples(26);
    std::vector<double> scores;
    for (int k = 0; k < 6; ++k) { // until both have run as graphs
        auto const s = (k % 3 == 1 ? b : a).step(data, first(16));
        scores.insert(scores.end(), {s.loss(), s["macro_f1"]});
    }
    for (auto const& s : {a.evaluate(data), b.evaluate(data)}) {
        scores.insert(scores.end(), {s.loss(), s["macro_f1"]});
    }
    auto all = everything(model);
    all.insert(all.end(), scores.begin(), scores.end());
    return all;
}

std::vector<double> const& expected() { // batches of 16
    static std::vector<double> const all = after_fit<reference, 16>();
    return all;
}

struct timeout {
    explicit timeout(double seconds) { cn::comm::timeout() = seconds; }
    ~timeout() { cn::comm::timeout() = before; }
    double before = cn::comm::timeout();
};

std::string failure(auto const& f) {
    try {
        f();
    } catch (cn::error const& e) {
        std::string text = e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (std::exception const& cause) {
            text += std::string(" <- ") + cause.what();
        }
        return text;
    }
    return "nothing";
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("one GPU, piece by piece and by graphs") {
    in_several_orders([] {
        auto const launches = machine::here().launches;
        CHECK(after_fit<gpu, 16>() == expected());
        CHECK(machine::here().launches > launches);
        CHECK(after_fit<eager_gpu, 16>() == expected());
        CHECK(largest_difference(after_fit<small_gpu, 16>(), expected()) < 1e-10);
    });
}

TEST_CASE("numbers of a loss reach the steps of their training, and sums of a metric come back") {
    auto const of_one = after_two_losses<reference, 16>();
    in_several_orders([&] {
        CHECK(after_two_losses<gpu, 16>() == of_one);
        CHECK(largest_difference(after_two_losses<several<2>, 8>(), of_one) < 1e-9);
    });
}

TEST_CASE("a prediction between two steps sees all of the first") {
    in_several_orders([] {
        auto const data = samples(32);
        auto const predictions = [&](auto const& policy, auto const& run) {
            cn::model<network, std::decay_t<decltype(policy)>, cn::batch<16>> model{cn::seed{5}};
            auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.1});
            std::vector<double> all;
            run(training, [&] {
                auto const y = model.predict(data);
                all.insert(all.end(), y.begin(), y.end());
            });
            return all;
        };
        auto const order = first(32);
        auto const expected = predictions(gpu{}, [&](auto& training, auto const& predict) {
            for (std::size_t from : {std::size_t{0}, std::size_t{16}}) {
                predict();
                training.step(data, std::span{order}.subspan(from, 16)); // waits
            }
        });
        auto const found = predictions(gpu{}, [&](auto& training, auto const& predict) {
            training.fit(data, {.schedule =
                                    [&](std::uint64_t, std::uint64_t) {
                                        predict();
                                        return 0.1;
                                    },
                                .shuffle = false,
                                .verbose = cn::verbosity::silent});
        });
        CHECK(found.size() == 2 * 32 * 3);
        CHECK(found == expected);
    });
}
TEST_CASE("a model on a GPU predicts in several threads at the same time") {
    in_several_orders([] {
        cn::model<network, gpu, cn::batch<16>> const model{cn::seed{5}};
        auto const data = samples(40);
        auto const expected = model.predict(data);
        std::vector<double> found[3];
        {
            std::vector<std::thread> threads;
            for (auto& y : found) {
                threads.emplace_back([&] {
                    cn::predictor mine{model};
                    y = mine.predict(data);
                    if (model.predict(data) != y) {
                        y.clear();
                    }
                });
            }
            for (std::thread& t : threads) {
                t.join();
            }
        }
        for (auto const& y : found) {
            CHECK(y == expected);
        }
    });
}

TEST_CASE("models on different GPUs take turns in a thread") {
    auto const alone = [](int device) {
        cn::model<network, gpu, cn::batch<16>> model{cn::seed{5}, cn::devices{device}};
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
        training.fit(cn::on_device(samples(66)), {.verbose = cn::verbosity::silent});
        return everything(model);
    };
    cn::model<network, gpu, cn::batch<16>> a{cn::seed{5}, cn::devices{1}},
        b{cn::seed{5}, cn::devices{2}};
    auto of_a = cn::compile(a, cn::cross_entropy, cn::adam{});
    auto of_b = cn::compile(b, cn::cross_entropy, cn::adam{});
    auto const predicted = a.predict(samples(20));
    CHECK(b.predict(samples(20)) == predicted);
    of_a.fit(cn::on_device(samples(66)), {.verbose = cn::verbosity::silent});
    of_b.fit(cn::on_device(samples(66)), {.verbose = cn::verbosity::silent});
    CHECK(everything(a) == alone(1));
    CHECK(everything(b) == everything(a));
}

TEST_CASE("replicas that share a GPU") {
    in_several_orders([] {
        CHECK(largest_difference(after_fit<cn::policy::logical<gpu, 2>, 8>(), expected()) < 1e-10);
        CHECK(largest_difference(after_fit<cn::policy::logical<gpu, 4>, 4>(), expected()) < 1e-10);
    });
}

TEST_CASE("replicas by NCCL, whose sums are part of the graphs") {
    int const aborted = count.aborted;
    in_several_orders([] {
        int const collectives = count.collectives, in_graphs = count.in_graphs;
        CHECK(largest_difference(after_fit<several<1>, 16>(), expected()) < 1e-12);
        CHECK(largest_difference(after_fit<several<2>, 8>(), expected()) < 1e-10);
        CHECK(largest_difference(after_fit<several<4>, 4>(), expected()) < 1e-10);
        CHECK(largest_difference(after_fit<cn::policy::mirrored<small_gpu, 2>, 8>(), expected()) <
              1e-10);
        CHECK(count.collectives > collectives);
        CHECK(count.in_graphs > in_graphs);
    });
    CHECK(count.aborted == aborted);
}

TEST_CASE("several trainings of a model go on from each other's parameters") {
    auto const data = samples(29);
    auto const expected = after_turns<reference, 16>(data);
    in_several_orders([&] {
        CHECK(largest_difference(after_turns<gpu, 16>(data), expected) < 1e-9);
        CHECK(largest_difference(after_turns<several<2>, 8>(data), expected) < 1e-9);
        CHECK(largest_difference(after_turns<cn::policy::logical<gpu, 2>, 8>(data), expected) <
              1e-9);
    });
}

TEST_CASE("as many GPUs as the program sees, or those that are chosen") {
    CHECK(largest_difference(after_fit<visible, 4>(), expected()) < 1e-10); // there are 4
    auto const two = after_fit<visible, 8>(cn::devices{3, 1});
    CHECK(largest_difference(two, expected()) < 1e-10);
    CHECK(largest_difference(after_fit<cn::policy::mirrored<eager_gpu, 2>, 8>(), two) == 0);
    CHECK_THROWS_WITH_AS((after_fit<visible, 8>(cn::devices{0, 4})),
                         doctest::Contains("was given GPU 4, but the program sees 4"), cn::error);
}

namespace {

namespace strategy = cn::strategy;
using host = cn::policy::basic_cpu<double>;

cn::devices some(int count) {
    std::vector<int> all(std::size_t(count), 0);
    std::iota(all.begin(), all.end(), 0);
    return cn::devices{all};
}

// Steps of 4 samples for each replica (and each batch of a step), the last one of an epoch of
// fewer.
template <class Where, class... Options, class Optimizer = cn::momentum>
std::vector<double> in_fours(int replicas, Optimizer const& optimizer = {.learning_rate = 0.1}) {
    return after_fit<cn::policy::mirrored<Where, 0, Options...>, 4>(some(replicas), samples(33),
                                                                    optimizer);
}

template <class... Options>
void take_the_steps_of_the_host() {
    for (int n : {1, 2, 3, 4}) {
        CAPTURE(n);
        auto const expected = in_fours<host, Options...>(n);
        in_several_orders(
            [&] { CHECK(largest_difference(in_fours<gpu, Options...>(n), expected) < 1e-10); });
    }
}

} // namespace

namespace {
template <class Where>
std::vector<double> after_evaluating_one_sample() {
    cn::model<network, cn::policy::mirrored<Where, 3>, cn::batch<4>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const data = samples(13);
    for (int i = 0; i < 5; ++i) {
        training.step(data, first(12));
        training.evaluate(data); // the last sample is that of one GPU
        training.observe(data, first(4), [](int) {});
    }
    return everything(model);
}
} // namespace

TEST_CASE("GPUs that have nothing to evaluate go on with the others") {
    timeout const soon{20};
    CHECK(largest_difference(after_evaluating_one_sample<gpu>(),
                             after_evaluating_one_sample<host>()) < 1e-6);
}

TEST_CASE("owners update the parameters and send them to the other GPUs") {
    take_the_steps_of_the_host<strategy::parameter_server>();
    take_the_steps_of_the_host<strategy::sharded_optimizer>();
    // the optimizer of small networks is a part of their one kernel only where GPUs are alone
    CHECK(largest_difference(in_fours<small_gpu, strategy::sharded_optimizer>(3),
                             in_fours<host>(3)) < 1e-10);
}

TEST_CASE("rules of whole parameters make the host's steps on one GPU and on several") {
    auto const clipped = cn::clip_each_norm(cn::momentum{.learning_rate = 0.1}, 0.05);
    auto const lamb = cn::clip_norm(cn::lamb{.learning_rate = 0.05}, 0.1);
    auto const expected = in_fours<host>(3, lamb);
    CHECK(largest_difference(in_fours<host>(3), expected) > 1e-3);
    in_several_orders([&] {
        CHECK(largest_difference(after_fit<gpu, 16>({}, samples(66), clipped),
                                 after_fit<host, 16>({}, samples(66), clipped)) < 1e-10);
        CHECK(largest_difference(in_fours<gpu>(3, lamb), expected) < 1e-9);
        CHECK(largest_difference(in_fours<gpu, strategy::parameter_server>(3, lamb), expected) <
              1e-9);
    });
}

TEST_CASE("directions are made orthogonal by the products of one GPU or of several") {
    auto const muon =
        cn::groups(cn::clip_norm(cn::muon{.learning_rate = 0.05}, 0.1),
                   cn::parameter_group{.names = "9.*", .rate = 0.5, .orthogonal = false});
    auto const fitted = after_fit<host, 16>({}, samples(66), muon);
    auto const expected = in_fours<host>(3, muon);
    CHECK(largest_difference(in_fours<host>(3), expected) > 1e-3);
    in_several_orders([&] {
        CHECK(largest_difference(after_fit<gpu, 16>({}, samples(66), muon), fitted) < 1e-7);
        CHECK(largest_difference(after_fit<small_gpu, 16>({}, samples(66), muon), fitted) < 1e-7);
        CHECK(largest_difference(in_fours<gpu>(3, muon), expected) < 1e-7);
        CHECK(largest_difference(in_fours<gpu, strategy::parameter_server>(3, muon), expected) <
              1e-7);
    });
}

TEST_CASE("gradients are clipped by the norm over all GPUs") {
    auto const clipped = cn::clip_norm(cn::momentum{.learning_rate = 0.1}, 0.1);
    in_several_orders([&] {
        CHECK(largest_difference(after_fit<gpu, 16>({}, samples(66), clipped),
                                 after_fit<host, 16>({}, samples(66), clipped)) < 1e-10);
    });
    for (int n : {1, 3}) {
        CAPTURE(n);
        auto const expected = in_fours<host>(n, clipped);
        CHECK(largest_difference(in_fours<host>(n), expected) > 1e-3);
        using strategy::sharded_optimizer, strategy::parameter_server;
        in_several_orders([&] {
            CHECK(largest_difference(in_fours<gpu>(n, clipped), expected) < 1e-10);
            CHECK(largest_difference(in_fours<gpu, sharded_optimizer>(n, clipped), expected) <
                  1e-10);
            CHECK(largest_difference(in_fours<gpu, parameter_server>(n, clipped), expected) <
                  1e-10);
        });
        CHECK(largest_difference(in_fours<cn::policy::host_reduction<gpu>>(n, clipped), expected) <
              1e-10);
    }
}

TEST_CASE("several batches of a step are added up before the GPUs exchange gradients") {
    take_the_steps_of_the_host<strategy::accumulate<2>>();
    take_the_steps_of_the_host<strategy::accumulate<3>, strategy::sharded_optimizer>();
    CHECK(largest_difference(in_fours<cn::policy::eager<gpu>, strategy::accumulate<3>>(2),
                             in_fours<gpu, strategy::accumulate<3>>(2)) == 0);
    using host_reduction = cn::policy::host_reduction<gpu>;
    for (int n : {1, 2}) {
        auto const expected = in_fours<host, strategy::accumulate<3>>(n);
        in_several_orders([&] {
            CHECK(largest_difference(in_fours<host_reduction, strategy::accumulate<3>>(n),
                                     expected) < 1e-10);
        });
    }
}

TEST_CASE("a GPU adds up the gradients of several batches") {
    auto const by_fours = cn::accumulate<4>(cn::momentum{.learning_rate = 0.1});
    auto const clipped = cn::clip_norm(by_fours, 0.1);
    in_several_orders([&] {
        CHECK(largest_difference(after_fit<gpu, 4>({}, samples(66), by_fours),
                                 after_fit<host, 4>({}, samples(66), by_fours)) < 1e-10);
        CHECK(largest_difference(after_fit<small_gpu, 4>({}, samples(66), clipped),
                                 after_fit<host, 4>({}, samples(66), clipped)) < 1e-10);
    });
}

// Frozen from the second fit on, when graphs of the step have run.
template <class Policy, std::size_t Batch, class Optimizer>
std::vector<double> after_freezing(Optimizer const& optimizer) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer);
    auto const fit = [&] {
        training.fit(samples(66), {.epochs = 2, .verbose = cn::verbosity::silent});
    };
    fit();
    auto const before = model.get("0.weight");
    training.freeze("0.*");
    fit();
    CHECK(model.get("0.weight") == before);
    training.unfreeze("0.weight");
    fit();
    CHECK(model.get("0.weight") != before);
    return everything(model);
}

TEST_CASE("parameters in groups, frozen and trained again, on GPUs") {
    auto const take_the_steps_of_the_host = [](auto const& optimizer, double most) {
        auto const expected = after_freezing<host, 16>(optimizer);
        in_several_orders([&] {
            CHECK(largest_difference(after_freezing<gpu, 16>(optimizer), expected) < most);
            CHECK(largest_difference(after_freezing<small_gpu, 16>(optimizer), expected) < most);
            CHECK(largest_difference(after_freezing<several<2>, 8>(optimizer), expected) < most);
        });
    };
    take_the_steps_of_the_host(
        cn::groups(cn::ema(cn::clip_norm(cn::momentum{.learning_rate = 0.1}, 0.5)),
                   cn::parameter_group{.names = "*.bias", .rate = 2}),
        1e-10);
    take_the_steps_of_the_host(cn::muon{.learning_rate = 0.02}, 1e-7); // it magnifies rounding
}

TEST_CASE("batch normalisation with statistics of each GPU") {
    take_the_steps_of_the_host<strategy::local_batch_norm>();
    take_the_steps_of_the_host<strategy::local_batch_norm, strategy::accumulate<2>>();
}

TEST_CASE("gradients are rounded before the GPUs exchange them, and so are their sums") {
    using host_reduction = cn::policy::host_reduction<gpu>;
    using strategy::bfloat16_gradients;
    for (int n : {1, 2}) { // of which all orders of sums are the same
        CAPTURE(n);
        auto const expected = in_fours<host_reduction, bfloat16_gradients>(n);
        in_several_orders([&] {
            CHECK(in_fours<gpu, bfloat16_gradients>(n) == expected);
            CHECK(in_fours<gpu, bfloat16_gradients, strategy::parameter_server>(n) == expected);
            CHECK(in_fours<gpu, bfloat16_gradients, strategy::sharded_optimizer>(n) == expected);
        });
        CHECK(largest_difference(in_fours<gpu>(n), expected) > 1e-6);
    }
    double const difference =
        largest_difference(in_fours<gpu, bfloat16_gradients>(4), in_fours<gpu>(4));
    CHECK(difference > 1e-6);
    CHECK(difference < 0.05);
}

namespace {

// Steps from the first one on: put on the streams piece by piece, captured, and launched again.
template <class... Options, class Optimizer = cn::adam>
void make_the_collectives_of_the_report(int micro_batches, Optimizer const& optimizer = {}) {
    using simulated_nccl::kind, simulated_nccl::carried_out;
    using policy = cn::policy::mirrored<gpu, 3, Options...>;
    cn::model<network, policy, cn::batch<4>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    CHECK(training.allocated_bytes() == training.bytes);
    using report = cn::communication_report<decltype(training)>;
    using strategies = typename report::strategies;
    using scores = typename decltype(training)::scores_type;
    auto const data = samples(36);
    for (int step = 0; step < 7; ++step) {
        CAPTURE(step);
        carried_out.clear();
        int const in_graphs = count.in_graphs;
        training.step(data, first(std::size_t(12 * micro_batches)));
        if (step == 0) { // makes them alike first
            auto const alike = [&](std::size_t count) {
                REQUIRE_FALSE(carried_out.empty());
                CHECK(carried_out.front() == std::vector<simulated_nccl::operation>{
                                                 {kind::broadcast, ncclFloat64, count, 0}});
                carried_out.erase(carried_out.begin());
            };
            alike(model.parameter_bytes / sizeof(double));
            if (!strategies::sharded_optimizer) { // else the host does
                alike(training.optimizer_bytes / sizeof(double));
            }
        }
        std::size_t sums = 0, reduced = 0, shared = 0, rounded = 0;
        for (auto const& group : carried_out) {
            for (auto const& o : group) {
                (o.what == kind::all_reduce ? sums
                 : o.what == kind::reduce   ? reduced
                                            : shared) += bytes_of(o);
                rounded += o.type == ncclBfloat16 ? bytes_of(o) : 0;
            }
        }
        // Loss and metrics go with the last bucket, those of other batches by themselves.
        CHECK(int(carried_out.size()) == report::collectives - 1 + micro_batches - 1);
        if (step >= 4) {
            CHECK(count.in_graphs - in_graphs == 3 * int(carried_out.size()));
        }
        std::size_t const results = sizeof(double) * scores::sums * std::size_t(micro_batches);
        bool const all = strategies::updates_all;
        CHECK(sums == report::sum_bytes + report::norm_bytes + results +
                          (all ? report::gradient_bytes : 0));
        CHECK(reduced == (all ? 0 : report::gradient_bytes));
        CHECK(shared == report::update_bytes);
        CHECK(rounded == (strategies::bfloat16_gradients ? report::gradient_bytes : 0));
    }
}

} // namespace

TEST_CASE("a step makes the collectives of its report, in every strategy, from the first one on") {
    make_the_collectives_of_the_report<strategy::all_reduce>(1);
    make_the_collectives_of_the_report<strategy::parameter_server>(1);
    make_the_collectives_of_the_report<strategy::sharded_optimizer>(1);
    make_the_collectives_of_the_report<strategy::sharded_optimizer>(1,
                                                                    cn::clip_norm(cn::adam{}, 1));
    make_the_collectives_of_the_report<strategy::bfloat16_gradients>(1);
    make_the_collectives_of_the_report<strategy::accumulate<3>>(3);
    make_the_collectives_of_the_report<strategy::local_batch_norm>(1);
    make_the_collectives_of_the_report<strategy::sharded_optimizer, strategy::bfloat16_gradients,
                                       strategy::accumulate<2>, strategy::local_batch_norm>(2);
}

namespace {

struct temporary_file {
    explicit temporary_file(char const* which)
        : name{(std::filesystem::temp_directory_path() /
                ("castnet_gpus_on_host_" + std::to_string(getpid()) + which))
                   .string()} {}
    ~temporary_file() { std::filesystem::remove(name); }
    std::string name;
};

// Trains up to an epoch, from a file if there is one; writes a file and says the weights.
template <class Where, class... Options>
auto fitted(int replicas, int epochs, std::string const& from, std::string const& to) {
    using policy = cn::policy::mirrored<Where, 0, Options...>;
    cn::model<network, policy, cn::batch<4>> model{cn::seed{5}, some(replicas)};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    if (!from.empty()) {
        cn::load(training, from);
    }
    training.fit(samples(29), {.epochs = epochs,
                               .verbose = cn::verbosity::silent,
                               .checkpoint = cn::checkpoint(training, to, 2)});
    return everything(model);
}

} // namespace

TEST_CASE("a loss of NaN ends a fit on all GPUs, and one that is alone") {
    auto const data = samples_with_nan(66);
    auto const is_refused = [](auto const& fit) {
        CHECK_THROWS_WITH_AS(fit(), doctest::Contains("the loss is NaN or infinite after step 5"),
                             cn::error);
    };
    is_refused([&] { after_fit<gpu, 16>({}, data); });
    is_refused([&] { after_fit<several<2>, 8>({}, data); });
}

TEST_CASE("checkpoints hold the state of all GPUs, and any number of replicas goes on from them") {
    temporary_file const whole{"whole"}, shared{"shared"}, last{"last"};
    using strategy::sharded_optimizer;
    fitted<gpu>(2, 2, "", whole.name);
    fitted<gpu, sharded_optimizer>(2, 2, "", shared.name);
    CHECK(check::content_without_times(whole.name).size() > 1000);
    CHECK(check::content_without_times(whole.name) == check::content_without_times(shared.name));
    auto const uninterrupted = fitted<gpu>(2, 4, "", last.name);
    CHECK(fitted<gpu, sharded_optimizer>(2, 4, shared.name, last.name) == uninterrupted);
    CHECK(fitted<gpu, strategy::parameter_server>(2, 4, shared.name, last.name) == uninterrupted);
    // Adam divides by small numbers
    CHECK(largest_difference(fitted<gpu, sharded_optimizer>(3, 3, shared.name, last.name),
                             fitted<host>(3, 3, shared.name, last.name)) < 1e-6);
}

namespace {
// Data of which one sample cannot be read.
struct broken_set : data_set {
    explicit broken_set(data_set const& all) : data_set{all} {}
    template <std::size_t I>
    void copy_input(std::size_t sample, double* to) const {
        if (sample == 15) {
            throw std::runtime_error("no sample 15");
        }
        data_set::copy_input<I>(sample, to);
    }
};
} // namespace

TEST_CASE("a step whose samples cannot be read brings running statistics and totals back") {
    auto const data = samples(16);
    in_several_orders([&] {
        cn::model<network, gpu, cn::batch<8>> model{cn::seed{5}}, other{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::accumulate<2>(cn::momentum{}));
        auto same = cn::compile(other, cn::cross_entropy, cn::accumulate<2>(cn::momentum{}));
        for (int i = 0; i < 4; ++i) {
            CHECK_THROWS_AS(training.step(broken_set{data}, first(16)), cn::sample_error);
            CHECK(everything(model) == everything(other));
            CHECK(training.step(data, first(16)).loss() == same.step(data, first(16)).loss());
            CHECK(everything(model) == everything(other));
        }
    });
}

TEST_CASE("what a replica throws ends all, and what waits on the GPUs") {
    auto const data = samples(16);
    int const aborted = count.aborted;
    auto const text = failure([&] {
        cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        for (int i = 0; i < 5; ++i) {
            training.step(data, first(16));
        }
        training.step(broken_set{data}, first(16)); // the first replica has put its step on its GPU
    });
    CHECK(contains(text, "no sample 15"));
    CHECK(count.aborted == aborted + 2);
    CHECK(count.open == 0);
}

TEST_CASE("a GPU that does not come to a sum is given up in time, with a message") {
    timeout const soon{1};
    auto const steps = [](auto const& where, int before) {
        using policy = std::remove_cvref_t<decltype(where)>;
        cn::model<network, policy, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        for (int i = 0; i < before; ++i) {
            training.step(samples(16), first(16));
        }
        simulated_nccl::lost_rank = 1;
        training.step(samples(16), first(16));
    };
    auto const eager = failure([&] { steps(several<2>{}, 1); });
    simulated_nccl::lost_rank = -1;
    CHECK(contains(eager, "of 2, step 1, sum over the batch 0: waited 1 s for the other replicas"));
    auto const captured = failure([&] { steps(several<2>{}, 5); });
    simulated_nccl::lost_rank = -1;
    CHECK(contains(captured, "of 2, step 5, sums of a captured step: waited 1 s"));
    CHECK(count.open == 0);
}

TEST_CASE("what NCCL reports ends the step") {
    auto const text = failure([] {
        cn::model<network, several<2>, cn::batch<8>> model{cn::seed{5}};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        training.step(samples(16), first(16));
        simulated_nccl::failure = ncclRemoteError;
        training.step(samples(16), first(16));
    });
    simulated_nccl::failure = ncclSuccess;
    CHECK(contains(text, "NCCL: simulated error"));
    CHECK(count.open == 0);
}

namespace {
// A communicator whose other replica never comes.
struct lonely_host {
    static int rank() { return 0; }
    static int size() { return 2; }
    void broadcast(std::span<std::byte>, cn::comm::collective const&) {}
};
} // namespace

TEST_CASE("a connection to a replica that never comes is given up in time") {
    timeout const soon{0.2};
    cn::comm::detail::nccl_connection connection;
    lonely_host host;
    CHECK_THROWS_WITH_AS(connection.open(host),
                         "castnet: rank 0 of 2, connection by NCCL: waited 0.2 s for the other "
                         "replicas; see comm::timeout()",
                         cn::error);
    CHECK_FALSE(connection.is_open());
    CHECK(count.open == 0);
}
