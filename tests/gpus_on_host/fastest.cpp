// Which algorithm is the fastest, on a simulated GPU whose work takes as long as a test says.
#include <castnet/device/cuda/fastest.hpp>
#include <castnet/device/cuda/noise.hpp>

#include "machine.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <vector>

namespace cn = castnet;
namespace cuda = castnet::cuda;

namespace {

using place = std::optional<std::size_t>;

// Pieces of work that take so many milliseconds; runs counts how often each was done.
struct race {
    explicit race(std::vector<double> const& all)
        : milliseconds{all}, runs(all.size()), fails(all.size(), [] { return false; }) {}

    std::vector<double> milliseconds;
    std::vector<int> runs;
    std::vector<std::function<bool()>> fails; // when it is put on the stream
    cuda::stream stream;

    place fastest() {
        return cuda::fastest(stream, milliseconds.size(), [&](std::size_t i) {
            if (fails[i]()) {
                throw cn::error("castnet: this one cannot");
            }
            machine::work w;
            w.run = [this, i] {
                machine::here().clock += milliseconds[i];
                ++runs[i];
            };
            machine::here().put(*reinterpret_cast<machine::stream*>(stream.get()), std::move(w));
        });
    }
};

// The numbers that the bits of an array are.
std::vector<double> numbers(cuda::memory const& all, int bytes) {
    std::vector<double> x;
    for (std::size_t at = 0; at < all.bytes(); at += std::size_t(bytes)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, all.as<char>(std::ptrdiff_t(at)), std::size_t(bytes));
        if (bytes == 8) {
            x.push_back(std::bit_cast<double>(bits));
        } else {
            auto const word = std::uint32_t(bytes == 2 ? bits << 16 : bits);
            x.push_back(double{std::bit_cast<float>(word)});
        }
    }
    return x;
}

} // namespace

TEST_CASE("the fastest piece of work wins, of equals the first") {
    CHECK(race{{3, 1, 2}}.fastest() == place{1});
    CHECK(race{{0.25, 1, 2}}.fastest() == place{0});
    CHECK(race{{2, 1, 1}}.fastest() == place{1});
    CHECK(race{{1, 1, 1}}.fastest() == place{0});
    CHECK(race{{5}}.fastest() == place{0});
    CHECK(race{{}}.fastest() == place{});
}

TEST_CASE("what is slow once, when it runs first, is not slow") {
    race two{{1, 50}};
    two.fails[1] = [&two] {
        two.milliseconds[1] = two.runs[1] == 0 ? 50 : 0.5;
        return false;
    };
    CHECK(two.fastest() == place{1});
}

TEST_CASE("what fails, or cannot be captured, takes no part") {
    race three{{1, 2, 3}};
    three.fails[0] = [] { return true; };
    three.fails[1] = [&three] { return three.stream.is_captured(); };
    CHECK(three.fastest() == place{2});
    CHECK_FALSE(three.stream.is_captured());
    three.fails[2] = three.fails[0];
    CHECK(three.fastest() == place{});
}

TEST_CASE("slow work is not repeated often") {
    race two{{100, 0.1}};
    CHECK(two.fastest() == place{1});
    CHECK(two.runs[0] < 10);
    CHECK(two.runs[1] > 2 * two.runs[0]);
}

TEST_CASE("arrays to time algorithms on hold numbers of either sign, none near 0") {
    cuda::stream const s;
    for (int const bytes : {2, 4, 8}) {
        for (std::int64_t const count : {0, 1, 7, 1000, 300'001}) {
            CAPTURE(bytes);
            CAPTURE(count);
            cuda::memory const all = cuda::noise(count, bytes, s);
            s.wait();
            auto const x = numbers(all, bytes);
            CHECK(std::int64_t(x.size()) == count);
            std::size_t inside = 0, negative = 0;
            for (double const v : x) {
                inside += std::fabs(v) >= 1 && std::fabs(v) < 2;
                negative += v < 0;
            }
            CHECK(inside == x.size());
            if (count >= 1000) {
                CHECK(negative > x.size() / 3);
                CHECK(negative < x.size() * 2 / 3);
            }
        }
    }
}
