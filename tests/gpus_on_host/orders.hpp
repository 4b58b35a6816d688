// Tests in several orders of the simulated machine's work.
#pragma once

#include "nccl.hpp"

#include <cstdint>
#include <doctest/doctest.h>

namespace on_host {

// Runs f with several orders of work; each must end all communicators that it makes.
template <class F>
void in_several_orders(F const& f) {
    for (std::uint64_t seed : {1U, 77U, 4711U}) {
        CAPTURE(seed);
        machine::here().random = seed;
        f();
        CHECK(simulated_nccl::count.open == 0);
    }
}

} // namespace on_host
