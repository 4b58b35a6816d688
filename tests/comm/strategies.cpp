// However replicas share the work of a step, they take the same steps: threads, and again the
// processes of jobs of several sizes (mpi/CMakeLists.txt).
#include <castnet/train/checkpoint.hpp>
#include <castnet/train/communication_report.hpp>

#include "../checkpoint_content.hpp"
#include "observed.hpp"
#include "replicas.hpp"
#include "team.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace replicas_test;
namespace strategy = cn::strategy;

namespace {

using one = cn::policy::basic_cpu<double>;
template <class... Options>
using several = team_of<one, Options...>;
template <class... Options>
using several_float = team_of<cn::policy::cpu, Options...>;
using threads_float = threads_of<cn::policy::cpu>; // all-reduce

// Nothing that looks at more than a sample, but for the loss.
using plain = cn::sequential<cn::input<2, 5, 5>, cn::conv2d<4, 3>, cn::relu, cn::flatten,
                             cn::dropout<0.25F>, cn::dense<6>.l2(1e-2F), cn::tanh, cn::dense<3>>;
using normalized =
    cn::sequential<cn::input<2, 5, 5>, cn::conv2d<4, 3>, cn::batch_norm, cn::relu, cn::flatten,
                   cn::dense<6>, cn::batch_norm, cn::tanh, cn::dense<3>>;

// Parameters, then loss, accuracy and weight, after two steps.
template <class Network, class Policy, std::size_t Batch, class Optimizer = cn::momentum>
auto stepped(data_set const& data, std::size_t count, cn::devices const& on = some(1),
             bool statistics = true, Optimizer const& optimizer = {.learning_rate = 0.1}) {
    cn::model<Network, Policy, cn::batch<Batch>> model{cn::seed{5}, on};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    typename decltype(training)::scores_type s;
    for (int k = 0; k < 2; ++k) {
        s = training.step(data, first(count), {}, std::vector<float>{1, 0.5F, 2});
    }
    std::vector<typename Policy::value_type> all;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        std::string const name = model.parameter_at(i).name.text();
        if (statistics || name.find("running") == std::string::npos) {
            auto const w = model.get(name);
            all.insert(all.end(), w.begin(), w.end());
        }
    }
    using T = typename Policy::value_type;
    all.insert(all.end(), {T(s.loss()), T(s["accuracy"]), T(s.weight)});
    return all;
}

template <class Strategy>
void take_the_same_steps(data_set const& data) {
    for (int n : team_sizes()) {
        CAPTURE(n);
        // full, a little less, fewer samples than replicas
        for (std::size_t const count : {std::size_t(n) * 8, std::size_t(n) * 8 - 3, 3UL}) {
            CAPTURE(count);
            CHECK(largest_difference(stepped<network, several<Strategy>, 8>(data, count, team(n)),
                                     stepped<network, one, 64>(data, count)) < 1e-12);
            CHECK(stepped<network, several_float<Strategy>, 8>(data, count, team(n)) ==
                  stepped<network, threads_float, 8>(data, count, some(n))); // to the last bit
        }
    }
}

} // namespace

TEST_CASE("a parameter server and a sharded optimizer take the steps of all-reduce") {
    auto const data = samples(64);
    take_the_same_steps<strategy::all_reduce>(data);
    take_the_same_steps<strategy::parameter_server>(data);
    take_the_same_steps<strategy::sharded_optimizer>(data);
}

TEST_CASE("gradients are clipped by the norm over all replicas, in every strategy alike") {
    auto const data = samples(64);
    auto const clipped = cn::clip_norm(cn::momentum{.learning_rate = 0.1}, 0.1);
    auto const after = [&]<class Policy, std::size_t Batch>(
                           cn::batch<Batch>, Policy, std::size_t count, cn::devices const& on) {
        return stepped<plain, Policy, Batch>(data, count, on, true, clipped);
    };
    using sharded = several_float<strategy::sharded_optimizer>;
    using parameter_server = several_float<strategy::parameter_server>;
    for (int n : team_sizes()) {
        CAPTURE(n);
        std::size_t const count = std::size_t(n) * 8 - 3;
        auto const whole = after(cn::batch<64>{}, one{}, count, some(1));
        CHECK(largest_difference(whole, stepped<plain, one, 64>(data, count)) > 1e-3);
        using micro_batches = several<strategy::sharded_optimizer, strategy::accumulate<2>>;
        CHECK(largest_difference(after(cn::batch<4>{}, micro_batches{}, count, team(n)), whole) <
              1e-12);
        auto const all_reduced = after(cn::batch<8>{}, threads_float{}, count, some(n));
        CHECK(after(cn::batch<8>{}, sharded{}, count, team(n)) == all_reduced); // to the last bit
        CHECK(after(cn::batch<8>{}, parameter_server{}, count, team(n)) == all_reduced);
    }
}

TEST_CASE("parameters that are not shared would be seen") {
    auto const data = samples(64);
    using policy = observed<several<strategy::sharded_optimizer>, silent>;
    for (int n : team_sizes()) {
        double const difference =
            largest_difference(stepped<plain, policy, 8>(data, std::size_t(n) * 8, team(n)),
                               stepped<plain, one, 64>(data, std::size_t(n) * 8));
        CHECK((n == 1 ? difference < 1e-12 : difference > 1e-4));
    }
}

TEST_CASE("batches one after the other are one large batch") {
    auto const data = samples(64);
    for (int n : team_sizes()) {
        CAPTURE(n);
        // full, a little less, fewer samples than there are batches and replicas
        for (std::size_t const count : {std::size_t(n) * 8, std::size_t(n) * 8 - 3, 3UL, 1UL}) {
            CAPTURE(count);
            auto const whole = stepped<plain, one, 64>(data, count);
            CHECK(largest_difference(
                      stepped<plain, several<strategy::accumulate<4>>, 2>(data, count, team(n)),
                      whole) < 1e-12);
            using both = several<strategy::sharded_optimizer, strategy::accumulate<2>>;
            CHECK(largest_difference(stepped<plain, both, 4>(data, count, team(n)), whole) < 1e-12);
        }
    }
    // but for batch normalisation, which has the statistics of each of them
    int const n = team_sizes().front();
    CHECK(largest_difference(
              stepped<normalized, several<strategy::accumulate<4>>, 8>(data, 29, team(n)),
              stepped<normalized, one, 64>(data, 29)) > 1e-6);
}

TEST_CASE("a step takes so many batches") {
    auto const data = samples(64);
    int const n = team_sizes().back();
    cn::model<plain, several<strategy::accumulate<4>>, cn::batch<2>> model{cn::seed{5}, team(n)};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    CHECK(training.replica_count() == n);
    CHECK(training.step_capacity() == std::size_t(n) * 8);
    training.step(data, first(std::size_t(n) * 8));
    CHECK_THROWS_AS(training.step(data, first(std::size_t(n) * 8 + 1)), cn::error);
}

namespace {

// As many parts of a step, one after the other or beside each other: the same gradients, but
// running statistics that move once for each part or once for all.
template <int N>
void normalize_in_batches_of_their_own(data_set const& data) {
    using local = several<strategy::local_batch_norm>;
    using in_turn = threads_of<one, strategy::accumulate<N>>;
    for (std::size_t const count : {std::size_t(N) * 8, std::size_t(N) * 8 - 3, 1UL}) {
        CAPTURE(count);
        auto const beside = stepped<normalized, local, 8>(data, count, team(N), false);
        CHECK(largest_difference(
                  beside, stepped<normalized, in_turn, 8>(data, count, some(1), false)) < 1e-12);
        double const difference =
            largest_difference(beside, stepped<normalized, one, 64>(data, count, some(1), false));
        CHECK((N == 1 || count == 1 ? difference < 1e-12 : difference > 1e-6));
    }
}

} // namespace

TEST_CASE("local batch normalisation is that of the same samples in batches of their own") {
    auto const data = samples(64);
    for (int n : team_sizes()) {
        CAPTURE(n);
        switch (n) {
        case 1:
            normalize_in_batches_of_their_own<1>(data);
            break;
        case 2:
            normalize_in_batches_of_their_own<2>(data);
            break;
        case 3:
            normalize_in_batches_of_their_own<3>(data);
            break;
        case 4:
            normalize_in_batches_of_their_own<4>(data);
            break;
        }
    }
}

TEST_CASE("running statistics of local batch normalisation are means over the samples") {
    auto const data = samples(64);
    auto const after = [&]<class Policy>(Policy, std::vector<std::size_t> const& chosen,
                                         cn::devices const& on) {
        cn::model<normalized, Policy, cn::batch<16>> model{cn::seed{5}, on};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 1e-9});
        training.step(data, chosen);
        auto all = model.get("1.running_mean");
        for (char const* name : {"1.running_var", "5.running_mean", "5.running_var"}) {
            auto const more = model.get(name);
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    };
    for (int n : team_sizes()) {
        CAPTURE(n);
        for (std::size_t const count : {13UL, 2UL}) { // a replica without samples says nothing
            CAPTURE(count);
            auto const all = first(count);
            std::vector<double> mean(2 * (4 + 6));
            for (int r = 0; r < n; ++r) {
                auto const part = cn::comm::part_of(count, r, n);
                if (part.count() > 0) {
                    auto const x =
                        after(one{}, {all.data() + part.first, all.data() + part.last}, some(1));
                    for (std::size_t i = 0; i < mean.size(); ++i) {
                        mean[i] += double(part.count()) / double(count) * x[i];
                    }
                }
            }
            CHECK(largest_difference(after(several<strategy::local_batch_norm>{}, all, team(n)),
                                     mean) < 1e-12);
            CHECK((n == 1 || largest_difference(after(one{}, all, some(1)), mean) > 1e-6));
        }
    }
}

TEST_CASE("gradients in bfloat16 stay within their bounds") {
    using linear = cn::sequential<cn::input<2, 5, 5>, cn::flatten, cn::dense<3>>;
    auto const data = samples(64);
    auto const gradient = [&]<class Policy>(Policy, std::span<std::size_t const> chosen,
                                            cn::devices const& on) {
        cn::model<linear, Policy, cn::batch<32>> model{cn::seed{5}, on};
        auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
        training.step(data, chosen);
        return training.gradient("1.weight");
    };
    auto const all = first(29);
    std::span<std::size_t const> const chosen{all};
    auto const exact = gradient(one{}, chosen, some(1));
    for (int n : team_sizes()) {
        CAPTURE(n);
        std::vector<double> sizes(exact.size());
        int roundings = 1;
        for (int r = 0; r < n; ++r) {
            auto const part = cn::comm::part_of(all.size(), r, n);
            auto const g = gradient(one{}, chosen.subspan(part.first, part.count()), some(1));
            for (std::size_t i = 0; i < g.size(); ++i) {
                sizes[i] += std::fabs(g[i]) * double(part.count()) / double(all.size());
            }
            roundings += (1 << (roundings - 1)) < n;
        }
        auto const rounded = gradient(several<strategy::bfloat16_gradients>{}, chosen, team(n));
        double worst = 0;
        for (std::size_t i = 0; i < exact.size(); ++i) {
            worst = std::max(worst, std::fabs(rounded[i] - exact[i]) / sizes[i]);
        }
        CHECK(worst < roundings / 250.0);
        CHECK(worst > 1e-4); // they were rounded
        // in every strategy alike
        using sharded = several_float<strategy::bfloat16_gradients, strategy::sharded_optimizer>;
        using whole = threads_of<cn::policy::cpu, strategy::bfloat16_gradients>;
        CHECK(stepped<network, sharded, 32>(data, 29, team(n)) ==
              stepped<network, whole, 32>(data, 29, some(n)));
    }
}

TEST_CASE("numbers are rounded to the nearest bfloat16") {
    auto const rounded = [](float x) { return float(cn::bfloat16{x}); };
    CHECK(rounded(1.0F) == 1.0F);
    CHECK(rounded(-3.140625F) == -3.140625F);
    CHECK(rounded(1.00390625F) == 1.0F);      // half way: to the even one
    CHECK(rounded(1.01171875F) == 1.015625F); // here too
    CHECK(rounded(1.004F) == 1.0078125F);
    CHECK(rounded(3.4e38F) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
    CHECK(rounded(-0.0F) == 0.0F);
}

#ifndef CASTNET_TEST_PROCESSES
TEST_CASE("a sharded optimizer has its part of the state in each replica") {
    using wide = cn::sequential<cn::input<512>, cn::dense<512>, cn::dense<512>>;
    using whole = cn::model<wide, cn::policy::mirrored<cn::policy::cpu, 4>, cn::batch<4>>;
    using shared =
        cn::model<wide, cn::policy::mirrored<cn::policy::cpu, 4, strategy::sharded_optimizer>,
                  cn::batch<4>>;
    shared model{cn::seed{5}};
    auto training = cn::compile(model, cn::mse, cn::adam{});
    using training_type = decltype(training);
    using of_whole = decltype(cn::compile(std::declval<whole&>(), cn::mse, cn::adam{}));
    static_assert(training_type::optimizer_bytes == of_whole::optimizer_bytes / 4);
    CHECK(training.allocated_bytes() == training_type::bytes);
    CHECK(training_type::bytes == of_whole::bytes - of_whole::optimizer_bytes * 3 / 4);
}
#endif

namespace {

// Of a process, or one of the team.
struct temporary_file {
    explicit temporary_file(char const* which, int of = getpid())
        : name{(std::filesystem::temp_directory_path() /
                ("castnet_strategies_" + std::to_string(of) + which))
                   .string()} {}
    ~temporary_file() { std::filesystem::remove(name); }
    std::string name;
};

// Trains up to an epoch, from a file if there is one; writes a file and says the weights.
template <class Policy>
auto fitted(cn::devices const& on, int epochs, std::string const& from, std::string const& to) {
    cn::model<network, Policy, cn::batch<4>> model{cn::seed{5}, on};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    if (!from.empty()) {
        cn::load(training, from);
    }
    training.fit(samples(61), {.epochs = epochs,
                               .verbose = cn::verbosity::silent,
                               .checkpoint = cn::checkpoint(training, to, 3)});
    meet();
    return everything(model);
}

auto state_in(std::string const& file) {
    std::vector<float> all;
    auto const stored = cn::io::load_safetensors(file);
    for (auto const& t : stored.entries()) {
        if (t.name.starts_with("optimizer/")) {
            auto const* const x = reinterpret_cast<float const*>(t.bytes.data());
            all.insert(all.end(), x, x + t.bytes.size() / sizeof(float));
        }
    }
    return all;
}

} // namespace

TEST_CASE("checkpoints hold the whole state, and any number of replicas goes on from them") {
    int const team_number = of_first(getpid());
    temporary_file const whole{"whole"}, mine{"mine"};
    temporary_file const shared{"shared", team_number}, server{"server", team_number},
        last{"last", team_number};
    using sharded = several_float<strategy::sharded_optimizer>;
    using parameter_server = several_float<strategy::parameter_server>;
    int const n = team_sizes().size() > 1 ? 3 : team_sizes().front();
    fitted<threads_float>(some(n), 2, "", whole.name);
    fitted<sharded>(team(n), 2, "", shared.name);
    fitted<parameter_server>(team(n), 2, "", server.name);
    CHECK(check::content_without_times(whole.name).size() > 1000);
    CHECK(check::content_without_times(whole.name) == check::content_without_times(shared.name));
    CHECK(check::content_without_times(whole.name) == check::content_without_times(server.name));

    auto const uninterrupted = fitted<threads_float>(some(n), 4, "", mine.name);
    CHECK(uninterrupted == fitted<sharded>(team(n), 4, shared.name, last.name));
    CHECK(uninterrupted == fitted<parameter_server>(team(n), 4, shared.name, last.name));
#ifndef CASTNET_TEST_PROCESSES
    for (int other : {1, 2, 4, 8}) { // of other steps, but from the same state
        CHECK(fitted<threads_float>(some(other), 3, shared.name, mine.name) ==
              fitted<sharded>(some(other), 3, shared.name, mine.name));
    }
#endif
    // what was loaded can be saved before anything is done with it
    cn::model<network, sharded, cn::batch<4>> model{cn::seed{5}, team(n)};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    cn::load(training, shared.name);
    cn::save(training, last.name);
    meet();
    auto const kept = state_in(last.name);
    CHECK(kept == state_in(shared.name));
    CHECK(std::count(kept.begin(), kept.end(), 0.0F) < std::ptrdiff_t(kept.size()) / 2);
    meet(); // before files go
}

namespace {

template <class... Options, class Optimizer = cn::adam>
void send_what_the_report_says(int micro_batches, Optimizer const& optimizer = {}) {
    using policy = observed<several_float<Options...>, recorder>;
    int const n = team_sizes().size() > 1 ? 2 : team_sizes().front();
    cn::model<network, policy, cn::batch<8>> model{cn::seed{5}, team(n)};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    using report = cn::communication_report<decltype(training)>;
    auto const data = samples(8 * 8 * 3);
    for (int step = 0; step < 2; ++step) {
        CAPTURE(step);
        calls.clear();
        training.step(data, first(std::size_t(8 * n * micro_batches)));
        std::size_t bytes = 0, sum_bytes = 0, bucket_bytes = 0, share_bytes = 0;
        int all = 0, sums = 0, buckets = 0, shares = 0, norms = 0;
        for (call const& c : calls) {
            if (step == 0 && (c.what.starts_with("broadcast") || c.what.starts_with("whether"))) {
                continue; // makes them alike first
            }
            bool const bucket = c.what == "sum of gradients, bucket";
            bool const share = c.what == "parameters from those who updated them";
            bool const norm = c.what == "sum of squares of gradients";
            bool const total = c.what == "sum of loss and metrics";
            (bucket  ? bucket_bytes
             : share ? share_bytes
                     : sum_bytes) += norm || total ? 0 : c.bytes;
            buckets += bucket;
            shares += share;
            norms += norm;
            sums += !bucket && !share && !norm && !total;
            bytes += c.bytes;
            ++all;
        }
        if (rank() == 0) { // whose calls they are
            CHECK(all == report::collectives);
            CHECK(bytes == report::bytes);
            CHECK(sums == report::sums);
            CHECK(norms == report::norms);
            CHECK(sum_bytes == report::sum_bytes);
            CHECK(buckets == report::buckets);
            CHECK(bucket_bytes == report::gradient_bytes);
            CHECK(shares == report::updates);
            CHECK(share_bytes == report::update_bytes);
        }
    }
}

} // namespace

TEST_CASE("a step makes the collectives of its report, in every strategy, from the first one on") {
    send_what_the_report_says<strategy::all_reduce>(1);
    send_what_the_report_says<strategy::parameter_server>(1);
    send_what_the_report_says<strategy::sharded_optimizer>(1);
    send_what_the_report_says<strategy::sharded_optimizer>(1, cn::clip_norm(cn::adam{}, 1));
    send_what_the_report_says<strategy::bfloat16_gradients>(1);
    send_what_the_report_says<strategy::accumulate<3>>(3);
    send_what_the_report_says<strategy::local_batch_norm>(1);
    send_what_the_report_says<strategy::sharded_optimizer, strategy::bfloat16_gradients,
                              strategy::accumulate<2>, strategy::local_batch_norm>(2);
}
