// Steps of a loop over time that count for no sample.
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/recurrence.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using namespace cn::ir;

namespace {

constexpr int steps = 6, channels = 2;
constexpr std::ptrdiff_t samples = 3;
std::vector<std::ptrdiff_t> computed; // steps, in their order

// A carry counts the steps: the workspace has the delay, the next values, and the lengths.
constexpr extents sequence{true, steps, channels};
constexpr array_ref delay{region::workspace, 0, sequence},
    next{region::workspace, samples* steps* channels, sequence},
    lengths{region::workspace, 2 * samples* steps* channels, {true, 1, 1}};
constexpr array_ref arrays[] = {delay, next, next, lengths, delay};

void count(kernel_launch const&, launch_tables const&, cn::cpu::context<float> const& c) {
    computed.push_back(c.iteration);
    for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
        bool const counts = float(c.iteration) < c.at(lengths)[sample];
        for (std::ptrdiff_t k = 0; k < channels; ++k) {
            std::ptrdiff_t const i = (sample * steps + c.iteration) * channels + k;
            c.at(next)[i] = c.at(delay)[i] + (counts ? 1.0F : 0.0F);
        }
    }
}

// Of each sample's last channel.
std::vector<std::vector<float>> next_values(std::vector<float> const& of_samples, bool backwards) {
    std::vector<float> memory(std::size_t(2 * samples * steps * channels + samples), -9.0F);
    cn::cpu::context<float> c;
    c.region[int(region::workspace)] = memory.data();
    c.samples = samples;
    std::copy(of_samples.begin(), of_samples.end(), c.at(lengths));
    for (std::ptrdiff_t sample = 0; sample < samples; ++sample) {
        for (std::ptrdiff_t k = 0; k < channels; ++k) {
            c.at(delay)[(sample * steps + (backwards ? steps - 1 : 0)) * channels + k] = 10;
        }
    }
    kernel_launch body, feedback;
    body.arrays = body.output = 1;
    feedback.kind = cn::op::feedback;
    feedback.first_array = 2;
    feedback.arrays = 2;
    feedback.output = 4;
    feedback.attribute = backwards ? -1 : 1;
    feedback.space = sequence;
    kernel_launch const launches[] = {body, feedback};
    cn::cpu::kernel<float> const kernels[] = {{&count}, {&cn::cpu::feedback<float>}};
    stage loop;
    loop.last = 2;
    loop.iterations = steps;
    loop.backwards = backwards;
    computed.clear();
    cn::cpu::run_stage(loop, launches, kernels, {arrays, nullptr, nullptr}, c, ignore_launches{});
    std::vector<std::vector<float>> result;
    for (std::ptrdiff_t sample = 0; sample < samples; ++sample) {
        auto& row = result.emplace_back();
        for (std::ptrdiff_t t = 0; t < steps; ++t) {
            row.push_back(c.at(next)[(sample * steps + t) * channels + 1]);
        }
    }
    return result;
}

using rows = std::vector<std::vector<float>>;
using numbers = std::vector<std::ptrdiff_t>;

} // namespace

TEST_CASE("a loop computes the steps of the longest sample and one more") {
    CHECK(next_values({3, 0, 1}, false) ==
          rows{{11, 12, 13, 13, 13, 13}, {10, 10, 10, 10, 10, 10}, {11, 11, 11, 11, 11, 11}});
    CHECK(computed == numbers{0, 1, 2, 3});
    next_values({0, 0, 0}, false);
    CHECK(computed == numbers{0});
    next_values({1, 5, 2}, false);
    CHECK(computed == numbers{0, 1, 2, 3, 4, 5});
    next_values({6, 8, 2}, false); // more than there are
    CHECK(computed == numbers{0, 1, 2, 3, 4, 5});
    next_values({0.5F, 0, -1}, false);
    CHECK(computed == numbers{0, 1});
}

TEST_CASE("a loop against the time begins with one of those that do not count") {
    CHECK(next_values({3, 0, 1}, true) ==
          rows{{13, 12, 11, 10, 10, 10}, {10, 10, 10, 10, 10, 10}, {11, 10, 10, 10, 10, 10}});
    CHECK(computed == numbers{5, 2, 1, 0});
    next_values({0, 0, 0}, true);
    CHECK(computed == numbers{5});
    next_values({6, 1, 2}, true);
    CHECK(computed == numbers{5, 4, 3, 2, 1, 0});
}
