// One process of an MPI job, on a GPU: MPI carries NCCL's id and what lies in the host's memory.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/distributed.hpp>

#include "../../comm/replicas.hpp"

#include <doctest/doctest.h>

using namespace replicas_test;

namespace {
using gpu = cn::policy::basic_cuda<double>;
using one_in_every_process = cn::policy::distributed<gpu>;
using sharded = cn::policy::distributed<gpu, cn::strategy::sharded_optimizer>;
} // namespace

TEST_CASE("a job of one process takes the steps of the process alone") {
    for (std::size_t count : {std::size_t(16), std::size_t(5)}) {
        auto const alone = after_steps<gpu, 16>(samples(32), first(count));
        CHECK(largest_difference(after_steps<one_in_every_process, 16>(samples(32), first(count)),
                                 alone) < 1e-12);
        CHECK(largest_difference(after_steps<sharded, 16>(samples(32), first(count)), alone) <
              1e-12);
    }
}
