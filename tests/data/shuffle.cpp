#include <castnet/data/shuffle.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace castnet;

namespace {

std::vector<size_t> order(size_t size, std::uint64_t seed, std::uint64_t epoch) {
    std::vector<size_t> found(size, 99);
    data::shuffle(found, seed, epoch);
    return found;
}

} // namespace

TEST_CASE("an epoch visits every sample once") {
    for (size_t const size : {0U, 1U, 2U, 3U, 1000U}) {
        auto found = order(size, 1, 2);
        std::sort(found.begin(), found.end());
        for (size_t i = 0; i < size; ++i) {
            CHECK(found[i] == i);
        }
    }
}

TEST_CASE("the order depends on seed and epoch, in all their bits") {
    CHECK(order(100, 1, 2) == order(100, 1, 2));
    CHECK(order(100, 1, 2) != order(100, 1, 3));
    CHECK(order(100, 1, 2) != order(100, 2, 2));
    CHECK(order(100, 1, 2) != order(100, 1, 2 + (std::uint64_t{1} << 32)));
    CHECK(order(100, 1, 2) != order(100, 1 + (std::uint64_t{1} << 32), 2));
    CHECK(order(100, 1, 2) != order(100, 2, 1));
}

TEST_CASE("the order is the same on every machine") {
    CHECK(order(10, 42, 0) == std::vector<size_t>{2, 7, 0, 1, 6, 3, 4, 5, 9, 8});
}

TEST_CASE("all orders are about equally likely") {
    unsigned count[24] = {};
    constexpr unsigned rounds = 24'000;
    for (std::uint64_t epoch = 0; epoch < rounds; ++epoch) {
        auto const found = order(4, 7, epoch);
        size_t rank = 0; // of the permutation, in the factorial number system
        for (size_t i = 0; i < 4; ++i) {
            size_t smaller = 0;
            for (size_t j = i + 1; j < 4; ++j) {
                smaller += found[j] < found[i] ? 1 : 0;
            }
            rank = rank * (4 - i) + smaller;
        }
        ++count[rank];
    }
    double chi_squared = 0;
    for (unsigned const n : count) {
        chi_squared += (n - 1000.0) * (n - 1000.0) / 1000.0;
    }
    CHECK(chi_squared < 49.7); // 23 degrees of freedom: exceeded once in a thousand
}

TEST_CASE("whole numbers below a bound are reached evenly, also beyond 32 bits") {
    data::detail::random_stream random{0, 5, 0};
    unsigned count[3] = {};
    for (int i = 0; i < 30'000; ++i) {
        ++count[random.below(3)];
    }
    for (unsigned const n : count) {
        CHECK(n > 9700);
        CHECK(n < 10'300);
    }
    CHECK(random.below(1) == 0);
    auto const bound = std::uint64_t{3} << 40;
    unsigned upper_third = 0, odd = 0;
    for (int i = 0; i < 3000; ++i) {
        auto const value = random.below(bound);
        REQUIRE(value < bound);
        upper_third += value >= bound / 3 * 2 ? 1 : 0;
        odd += value % 2;
    }
    CHECK(upper_third > 880);
    CHECK(upper_third < 1120);
    CHECK(odd > 1380);
    CHECK(odd < 1620);
}

TEST_CASE("with a buffer no sample comes before it was read, and each comes once") {
    std::vector<size_t> found(50), one(50), all(50);
    data::shuffle(found, 7, 3, 8);
    bool moved = false;
    for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] < i + 8);
        moved = moved || found[i] == i + 7;
    }
    CHECK(moved);
    std::sort(found.begin(), found.end());
    CHECK(std::adjacent_find(found.begin(), found.end()) == found.end());
    data::shuffle(one, 7, 3, 1);
    CHECK(one == found); // in order
    data::shuffle(all, 7, 3, 50);
    CHECK(all == order(50, 7, 3));
}
