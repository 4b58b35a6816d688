// Element-wise kernels, which take rows of points at once, against the same programs evaluated
// point by point.
#include <castnet/core/philox.hpp>
#include <castnet/device/cpu/map.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using cn::fn;
using cn::ir::instruction;
using cn::ir::opcode;

namespace {

constexpr instruction load(std::uint8_t array, std::uint8_t variation) {
    return {opcode::load, {}, -1, array, variation};
}
constexpr instruction apply(fn function, std::uint8_t a, std::uint8_t b = 0) {
    return {opcode::apply, function, -1, a, b};
}
constexpr instruction bernoulli(std::uint8_t keep, std::uint8_t stream) {
    return {opcode::bernoulli, {}, -1, keep, stream};
}
constexpr instruction store{opcode::store};
constexpr instruction relu_gradient{opcode::apply, fn::relu, 0, cn::ir::no_register, 0, 1};

using alike = cn::ir::program<load(0, 7), load(1, 7), relu_gradient, store>;
using biased =
    cn::ir::program<load(0, 7), load(1, 4), apply(fn::add, 0, 1), apply(fn::relu, 2), store>;
using biased_twice =
    cn::ir::program<load(0, 4), load(1, 4), apply(fn::subtract, 0, 1), load(0, 4),
                    apply(fn::multiply, 2, 3), load(1, 1), apply(fn::add, 4, 5), store>;
using by_sample = cn::ir::program<load(0, 1), load(1, 2), apply(fn::maximum, 0, 1), store>;
using by_image = cn::ir::program<load(0, 3), load(1, 6), apply(fn::minimum, 0, 1),
                                 instruction{opcode::index}, apply(fn::subtract, 2, 3), store>;
using of_samples = cn::ir::program<load(0, 7), load(1, 5), apply(fn::subtract, 0, 1), load(1, 5),
                                   apply(fn::multiply, 2, 3), apply(fn::maximum, 4, 0), store>;
using of_samples_and_all = cn::ir::program<load(0, 4), load(1, 5), apply(fn::minimum, 0, 1), store>;
using of_images = cn::ir::program<load(0, 5), load(1, 3), apply(fn::minimum, 0, 1), store>;
using dropout_of_samples =
    cn::ir::program<load(0, 5), bernoulli(0, 1), apply(fn::multiply, 0, 1), store>;
using dropout = cn::ir::program<load(0, 7), bernoulli(0, 1), apply(fn::multiply, 0, 1), store>;
using dropouts = cn::ir::program<bernoulli(0, 1), bernoulli(0, 2), apply(fn::add, 0, 1), store>;

template <class Program, class T>
void check(std::ptrdiff_t samples, int pixels, int channels) {
    CAPTURE(samples);
    CAPTURE(pixels);
    CAPTURE(channels);
    std::ptrdiff_t const count = samples * pixels * channels, room = count + channels + pixels;
    std::vector<T> memory(std::size_t(3 * room), T(-7));
    for (std::ptrdiff_t i = 0; i < 2 * room; ++i) {
        auto const word = cn::philox({std::uint32_t(i), 0, 0, 0}, cn::key_of(5)).x0;
        memory[std::size_t(i)] = T(word >> 28) - T(7); // zeros among them
    }
    cn::ir::extents const size{true, pixels, channels};
    cn::ir::array_ref const arrays[] = {{cn::ir::region::workspace, 0, size},
                                        {cn::ir::region::workspace, room, size},
                                        {cn::ir::region::workspace, 2 * room, size}};
    double const scalars[] = {0.75, 3, 9};
    cn::ir::kernel_launch s;
    s.arrays = 2;
    s.output = 2;
    s.scalars = 3;
    s.space = size;
    cn::cpu::context<T> c;
    c.region[int(cn::ir::region::workspace)] = memory.data();
    c.samples = samples;
    c.key = cn::key_of(42);
    c.step = 17;
    c.first_sample = 1000;
    cn::cpu::tables const t{arrays, scalars, nullptr};
    auto const a = cn::cpu::arguments_of(s, t, c);
    std::vector<T> expected;
    for (std::ptrdiff_t sample = 0; sample < samples; ++sample) {
        for (std::ptrdiff_t pixel = 0; pixel < pixels; ++pixel) {
            for (std::ptrdiff_t channel = 0; channel < channels; ++channel) {
                expected.push_back(cn::ir::evaluate<Program>(
                    a, cn::ir::point{sample, pixel, channel, pixels, channels}));
            }
        }
    }
    cn::cpu::map<Program, T>(s, t, c);
    auto const result = memory.begin() + 2 * room;
    CHECK(std::vector<T>(result, result + count) == expected);
    CHECK(std::vector<T>(result + count, memory.end()) ==
          std::vector<T>(std::size_t(room - count), T(-7)));
}

template <class Program>
void check_sizes() {
    for (int channels : {1, 2, 3, 5, 8, 17, 63, 64, 65, 130, 5000}) {
        for (int pixels : {1, 2, 7, 60, 257}) {
            for (std::ptrdiff_t samples : {1, 2, 5, 300}) {
                if (samples * pixels * channels < 50'000) {
                    check<Program, float>(samples, pixels, channels);
                    check<Program, double>(samples, pixels, channels);
                }
            }
        }
    }
}

} // namespace

TEST_CASE("a map over points in order is that of each point") {
    check_sizes<alike>();
}
TEST_CASE("a map that broadcasts is that of each point") {
    check_sizes<biased>();
    check_sizes<biased_twice>();
    check_sizes<by_sample>();
    check_sizes<by_image>();
    check_sizes<of_samples>();
    check_sizes<of_samples_and_all>();
    check_sizes<of_images>();
}
TEST_CASE("a map with random words takes those of each point") {
    check_sizes<dropout>();
    check_sizes<dropouts>();
    check_sizes<dropout_of_samples>();
}

TEST_CASE("programs that read in order are flat, and others may join pixels") {
    static_assert(biased::joins_pixels && dropout::joins_pixels && biased::channel_loads == 1);
    static_assert(of_samples::joins_pixels && of_samples::channel_loads == 2);
    static_assert(of_samples::has_channels_of_samples && !biased::has_channels_of_samples);
    static_assert(of_samples::of_one_sample::at(1) == load(1, 4));
    static_assert(!by_sample::joins_pixels && !by_image::joins_pixels && !of_images::joins_pixels);
    static_assert(alike::flat && !biased::flat && !by_sample::flat && !dropout::flat);
    static_assert(dropout::random_streams == 1 && dropout::stream == 1);
}
