// Strategies of processes: the bits of threads.
#include <castnet/policy/distributed.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../replicas.hpp"

#include <doctest/doctest.h>

using namespace replicas_test;
namespace strategy = cn::strategy;

namespace {

template <class Policy>
auto stepped(data_set const& data, std::size_t count, int replicas_here) {
    cn::model<network, Policy, cn::batch<4>> model{
        cn::seed{5}, cn::devices{std::vector<int>(std::size_t(replicas_here))}};
    auto training =
        cn::compile(model, cn::cross_entropy, cn::momentum{.learning_rate = 0.1}, cn::accuracy);
    training.step(data, first(count));
    auto const s = training.step(data, first(count));
    auto all = everything(model);
    all.insert(all.end(), {float(s.loss()), float(s["accuracy"]), float(s.weight)});
    return all;
}

template <class... Options>
void get_the_same_bits() {
    using cpu = cn::policy::cpu;
    using threads = cn::policy::mirrored<cpu, 0, Options...>;
    using processes = cn::policy::distributed<cpu, Options...>;
    using both = cn::policy::distributed<threads>;
    int const size = cn::comm::mpi{}.size();
    auto const data = samples(64);
    for (std::size_t const count : {std::size_t(size) * 4, std::size_t(size) * 4 - 3}) {
        CAPTURE(count);
        CHECK(stepped<processes>(data, count, 1) == stepped<threads>(data, count, size));
        if (size <= 4) {
            CHECK(stepped<both>(data, count, 2) == stepped<threads>(data, count, 2 * size));
        }
    }
}

} // namespace

TEST_CASE("processes and threads get the same bits in every strategy") {
    get_the_same_bits<strategy::parameter_server, strategy::accumulate<2>>();
    get_the_same_bits<strategy::sharded_optimizer, strategy::bfloat16_gradients>();
    get_the_same_bits<strategy::local_batch_norm>();
}
