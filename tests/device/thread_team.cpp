// Threads that run a plan side by side.
#include <castnet/device/cpu/thread_team.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace cpu = castnet::cpu;

TEST_CASE("threads of a team run at the same time and wait for each other's stages") {
    for (int size : {1, 2, 5}) {
        CAPTURE(size);
        cpu::thread_team team{size};
        for (int round = 0; round < 200; ++round) {
            std::vector<int> order; // written by one after the other: a token goes around
            team.run([&](int i) {
                for (int turn = 0; turn < 4; ++turn) {
                    int const stage = turn * size + i;
                    if (stage > 0) {
                        team.wait_for((i + size - 1) % size, stage - 1);
                    }
                    order.push_back(stage);
                    team.end(i, stage);
                }
            });
            REQUIRE(order.size() == std::size_t(4 * size));
            CHECK(std::is_sorted(order.begin(), order.end()));
        }
    }
}

TEST_CASE("a team that never worked ends") {
    cpu::thread_team const team{3};
}

TEST_CASE("threads of a team share those that the caller could use") {
    cpu::thread_team team{2};
    std::vector<int> counts(2);
    team.run([&](int i) { counts[std::size_t(i)] = cpu::thread_count(); });
    CHECK(counts[0] == cpu::thread_share(2));
    CHECK(counts[1] == counts[0]);
}
