// Collectives of threads: what they compute, in which order, and how they fail.
#include <castnet/comm/threads.hpp>

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace comm = castnet::comm;

namespace {

// Sets the timeout for one test.
struct timeout {
    explicit timeout(double seconds) { comm::timeout() = seconds; }
    ~timeout() { comm::timeout() = before; }
    double before = comm::timeout();
};

float number(int rank, std::size_t i) { // of very different sizes, so that the order shows
    auto const r = std::size_t(rank);
    return std::sin(float(i * 37 + r * 101)) * std::exp2(float((i + 5 * r) % 23));
}

template <int N>
std::vector<std::vector<float>> sums(std::size_t count) {
    comm::threads<N> group;
    std::vector<std::vector<float>> all(N);
    group.run([&](int i, auto& others) {
        std::vector<float> values(count);
        for (std::size_t k = 0; k < count; ++k) {
            values[k] = number(i, k);
        }
        others.sum(std::span{values}, {"sum"});
        all[std::size_t(i)] = values;
    });
    return all;
}

std::string failure(auto const& f) {
    try {
        f();
    } catch (castnet::error const& e) {
        return e.what();
    }
    return "nothing";
}

bool contains(std::string const& text, char const* part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("parts are contiguous and as equal as can be") {
    for (std::size_t count : std::vector<std::size_t>{0, 1, 7, 8, 9, 1000}) {
        for (int size : {1, 2, 3, 8}) {
            std::size_t end = 0;
            for (int r = 0; r < size; ++r) {
                auto const p = comm::part_of(count, r, size);
                CHECK(p.first == end);
                CHECK(p.count() <= (count + std::size_t(size) - 1) / std::size_t(size));
                CHECK(p.count() >= count / std::size_t(size));
                end = p.last;
            }
            CHECK(end == count);
        }
    }
    constexpr std::size_t huge = std::size_t{1} << 62;
    CHECK(comm::part_of(huge, 7, 8).last == huge);
}

TEST_CASE("every replica gets the same sums, in the order of a binary tree") {
    for (std::size_t count : std::vector<std::size_t>{1, 5, 1000, 5000}) {
        auto const all = sums<8>(count);
        std::size_t other_in_line = 0;
        for (std::size_t i = 0; i < count; ++i) {
            float p[8], line = 0;
            for (int r = 0; r < 8; ++r) {
                p[r] = number(r, i);
                line += p[r];
            }
            float const tree = ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
            for (auto const& of_rank : all) {
                REQUIRE(of_rank[i] == tree);
            }
            other_in_line += line != tree;
        }
        if (count >= 1000) {
            CHECK(other_in_line > count / 10); // the numbers can tell the orders apart
        }
    }
    auto const three = sums<3>(10);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(three[2][i] == (number(0, i) + number(1, i)) + number(2, i));
    }
}

TEST_CASE("a sum that was begun waits for nobody, and others may be made meanwhile") {
    comm::threads<3> group;
    std::atomic<bool> begun{false};
    std::vector<float> large[3], other[3];
    group.run([&](int i, auto& others) {
        auto const r = std::size_t(i);
        large[r].assign(5000, float(i + 1));
        other[r].assign(20, 1);
        if (i != 0) { // comes when replica 0 has gone on
            while (!begun) {
                sched_yield();
            }
        }
        others.begin_sum(std::span{large[r]}, {"bucket", 0});
        begun = true;
        others.sum(std::span{other[r]}, {"sum in between"});
        for (int k = 0; k < 30; ++k) { // more than may be under way
            others.begin_sum(std::span{other[r]}.subspan(std::size_t(k % 20), 1), {"bucket", k});
            others.progress();
        }
        others.finish();
    });
    for (int r = 0; r < 3; ++r) {
        CHECK(large[r] == std::vector<float>(5000, 6));
        CHECK(other[r][5] == 27); // three times 3
        CHECK(other[r][15] == 9);
    }
}

TEST_CASE("owners get the sums of their parts, and everybody what the owners have") {
    std::size_t const total = 1000, count = 777;
    comm::part const pieces[] = {{10, 11}, {100, 876}};
    for (comm::owners const who : {comm::owners::first(), comm::owners::shards(pieces, total)}) {
        comm::threads<3> group;
        std::vector<float> values[3];
        group.run([&](int i, auto& others) {
            auto const r = std::size_t(i);
            values[r].resize(count);
            for (std::size_t k = 0; k < count; ++k) {
                values[r][k] = number(i, k);
            }
            others.begin_reduce(std::span{values[r]}, who, {"reduce"});
            others.finish();
            comm::part const mine = who.of(count, i, 3);
            for (std::size_t k = 0; k < count; ++k) {
                bool const is_mine = k >= mine.first && k < mine.last;
                values[r][k] = is_mine ? 2 * values[r][k] : -1;
            }
            others.begin_share(std::span{values[r]}, who, {"share"});
            others.finish();
        });
        for (std::size_t k = 0; k < count; ++k) {
            float const sum = number(0, k) + number(1, k) + number(2, k);
            for (auto const& of_rank : values) {
                REQUIRE(of_rank[k] == 2 * sum);
            }
        }
    }
    for (int size : {1, 2, 3, 8, 40}) {
        std::size_t end = 0, values = 0;
        for (int r = 0; r < size; ++r) {
            auto const p = comm::owners::shard(total, r, size);
            auto const mine = comm::owners::shards(pieces, total).of(count, r, size);
            CHECK(p.first == end);
            CHECK(p.count() <= comm::owners::largest_shard(total, size));
            CHECK(mine.first == values);
            CHECK(mine.count() <= p.count());
            end = p.last;
            values = mine.last;
        }
        CHECK(end == total);
        CHECK(values == count);
    }
}

TEST_CASE("gathering and broadcasting") {
    comm::threads<3> group;
    group.run([](int i, auto& others) {
        int const mine[2] = {i, 10 * i};
        int all[6] = {}, told[3] = {i, i, i};
        others.gather(std::as_bytes(std::span{mine}), std::as_writable_bytes(std::span{all}),
                      {"gather"});
        others.broadcast(std::as_writable_bytes(std::span{told}), {"broadcast"});
        bool const right =
            all[2] == 1 && all[3] == 10 && all[4] == 2 && all[5] == 20 && all[0] == 0;
        if (!right || told[2] != 0) {
            throw castnet::error("wrong");
        }
    });
}

TEST_CASE("a replica that throws ends all, and says where it was") {
    for (int faulty = 0; faulty < 3; ++faulty) {
        comm::threads<3> group;
        auto const message = failure([&] {
            group.run([&](int i, auto& others) {
                std::vector<float> values(100);
                for (int number = 0; number < 5; ++number) {
                    if (i == faulty && number == 2) {
                        throw std::runtime_error("out of paper");
                    }
                    others.sum(std::span{values}, {"sum of gradients, bucket", number, 17});
                }
            });
        });
        CHECK(message == "castnet: replica " + std::to_string(faulty) +
                             " of 3, after step 17, sum of gradients, bucket 1: out of paper");
        // and the group stays ended
        CHECK(failure([&] {
                  group.run([](int, auto& others) {
                      float x = 1;
                      others.sum(std::span{&x, 1}, {"sum"});
                  });
              }) == "castnet: these replicas have failed before and take no more calls; compile "
                    "another training. " +
                        message);
    }
}

TEST_CASE("what a replica threw is nested in the error") {
    comm::threads<2> group;
    try {
        group.run([](int i, auto&) {
            if (i == 1) {
                throw std::out_of_range("far");
            }
        });
        FAIL("nothing was thrown");
    } catch (castnet::error const& e) {
        CHECK(e.what() == std::string{"castnet: replica 1 of 2, before its first step: far"});
        CHECK_THROWS_AS(std::rethrow_if_nested(e), std::out_of_range);
    }
}

TEST_CASE("a replica that does not come is waited for until the timeout") {
    timeout const short_one{0.2};
    comm::threads<3> group;
    std::atomic<bool> go_on{false};
    auto const message = failure([&] {
        group.run([&](int i, auto& others) {
            float x = 1;
            if (i == 1) { // comes back when the others have given up
                while (!go_on) {
                    sched_yield();
                }
                return;
            }
            try {
                others.sum(std::span{&x, 1}, {"sum over the batch", 3, 5});
            } catch (...) {
                go_on = true;
                throw;
            }
        });
    });
    CHECK(contains(message, "step 5, sum over the batch 3: waited 0.2 s for replica 1;"));
}

TEST_CASE("replicas that do not make the same calls are told so") {
    comm::threads<2> group;
    auto const message = failure([&] {
        group.run([&](int i, auto& others) {
            std::vector<float> values(i == 0 ? 10 : 11);
            others.sum(std::span{values}, {i == 0 ? "sum of this" : "sum of that"});
        });
    });
    CHECK(contains(message, "40"));
    CHECK(contains(message, "44"));
    CHECK(contains(message, "sum of this"));
    CHECK(contains(message, "sum of that"));
    CHECK(contains(message, "all replicas must make the same calls"));
}

TEST_CASE("two threads" * doctest::skip()) { // a program of its own
    comm::threads<2> group;
    group.run([](int, auto& others) {
        float one = 1;
        others.sum(std::span{&one, 1}, {"sum"});
        CHECK(one == 2);
    });
}

TEST_CASE("a timeout in the environment is a number of seconds above 0") {
    auto const program = std::filesystem::read_symlink("/proc/self/exe").string();
    auto const output =
        std::filesystem::temp_directory_path() / ("castnet_timeout_" + std::to_string(getpid()));
    struct {
        char const* text;
        bool accepted;
    } const cases[] = {{"5", true},    {"0.5", true},  {"1e2", true}, {"", true},
                       {"5s", false},  {"nan", false}, {"-5", false}, {"0", false},
                       {"inf", false}, {"soon", false}};
    for (auto const& [text, accepted] : cases) {
        CAPTURE(text);
        std::string const command = "CASTNET_TIMEOUT='" + std::string(text) + "' '" + program +
                                    "' --no-skip --test-case='two threads' > '" + output.string() +
                                    "' 2>&1";
        CHECK((std::system(command.c_str()) == 0) == accepted);
        std::ifstream in{output};
        std::string const said{std::istreambuf_iterator<char>{in}, {}};
        CHECK(contains(said, "expected a number of seconds above 0") != accepted);
    }
    std::filesystem::remove(output);
}
