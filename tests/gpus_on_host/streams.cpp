// What several streams of a GPU share, and which memory of the host copies read: nothing relies on
// work that CUDA may do later.
#include <castnet/castnet.hpp>
#include <castnet/data/augment.hpp>
#include <castnet/data/transforms.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "../parameters.hpp"
#include "device.hpp"
#include "orders.hpp"

#include <cstddef>
#include <doctest/doctest.h>
#include <numeric>
#include <utility>
#include <vector>

namespace cn = castnet;

namespace {

using gpu = on_host::policy<false>;
using network =
    cn::sequential<cn::input<2, 4, 4>, cn::flatten, cn::dense<4>, cn::tanh, cn::dense<3>>;
using data_set = cn::data::dataset<cn::data::label<3>, cn::shape<2, 4, 4>>;

data_set samples(std::size_t count) {
    std::vector<float> x(count * 32);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * i % 101) / 50 - 1;
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = int(i * 2 % 3);
    }
    return data_set{std::move(x), y};
}

// The losses of three epochs, and the parameters.
template <class Policy, std::size_t Batch, class Data>
std::vector<double> after_fit(Data const& data, auto const& optimizer) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, optimizer);
    auto const h = training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
    auto all = h["loss"];
    auto const parameters = check::everything(model);
    all.insert(all.end(), parameters.begin(), parameters.end());
    return all;
}

struct number_body {
    double* to;
    std::ptrdiff_t count;

    template <class Block>
    void operator()(Block const& block) const {
        cn::cuda::for_each_index(block, count, [&](std::ptrdiff_t i) { to[i] = double(i); });
    }
};

struct late_reads {
    late_reads() { machine::here().reads_late = true; }
    ~late_reads() { machine::here().reads_late = false; }
};

} // namespace

TEST_CASE("what changes images has ended when other streams may read them") {
    cn::cuda::session const here{gpu{}};
    auto const numbers = here.allocate(5 * sizeof(double));
    cn::cuda::executor<gpu::device> runs{here, numbers.as<double>(), {}, {}};
    runs.launch_body(number_body{numbers.as<double>(), 5});
    CHECK(numbers.as<double>()[4] == 4); // a simulated GPU's memory is the host's
}

TEST_CASE("replicas that share a GPU read images when all of them are changed") {
    auto const changing = [] { return cn::data::augment(samples(22), cn::data::random_flip{}); };
    using two = cn::policy::logical<gpu, 2>;
    auto const expected = after_fit<two, 4>(changing(), cn::sgd{});
    on_host::in_several_orders(
        [&] { CHECK(after_fit<two, 4>(cn::on_device(changing()), cn::sgd{}) == expected); });
}

TEST_CASE("an update's numbers are not read from memory of the host that is gone") {
    auto const by_twos = cn::accumulate<2>(cn::momentum{.learning_rate = 0.1});
    using one_device = cn::policy::model_parallel<gpu, 1>;
    auto const expected = after_fit<gpu, 4>(samples(22), by_twos);
    late_reads const now;
    on_host::in_several_orders([&] {
        CHECK(after_fit<gpu, 4>(samples(22), by_twos) == expected);
        CHECK(after_fit<one_device, 4>(samples(22), by_twos) == expected);
    });
}
