// castnet's CUDA kernels, run on the host, against the CPU's.
#include <castnet/device/cuda/norm.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/optim/clipping.hpp>
#include <castnet/optim/optimizers.hpp>

#include "simulated_device.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using cn::fn;
using cn::ir::instruction;
using cn::ir::opcode;

namespace {

constexpr instruction load(int array, int variation) {
    return {opcode::load, {}, -1, std::uint8_t(array), std::uint8_t(variation)};
}
constexpr instruction apply(fn function, int a, int b = 0) {
    return {opcode::apply, function, -1, std::uint8_t(a), std::uint8_t(b)};
}
constexpr instruction bernoulli{opcode::bernoulli, {}, -1, 0, 1};
[[maybe_unused]] constexpr instruction store(int of, bool in_bf16 = false) {
    return {opcode::store, {}, -1, std::uint8_t(in_bf16), 0, 0, std::uint8_t(of)};
}
constexpr instruction reduce(cn::ir::reduction kind, int keep, int of) {
    return {opcode::reduce, {}, -1, std::uint8_t(kind), std::uint8_t(keep), 0, std::uint8_t(of)};
}

// Memory of some arrays in a row, full of numbers, with room between them that must not change.
template <class T>
class arrays {
public:
    static constexpr T canary = T(12345);

    cn::ir::array_ref add(cn::ir::extents size, std::ptrdiff_t samples, bool fill = true) {
        std::ptrdiff_t const count = size.count() * (size.sample ? samples : 1);
        cn::ir::array_ref const r{cn::ir::region::workspace, std::ptrdiff_t(values.size()), size};
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            auto const word = cn::philox({next_++, 0, 0, 0}, cn::key_of(11)).x0;
            values.push_back(fill ? T(double(word >> 20) / 2048 - 1) : T(-77));
        }
        values.resize((values.size() + 63) / 64 * 64 + 64, canary);
        return r;
    }
    std::vector<T> values;

private:
    std::uint32_t next_ = 0;
};

struct space {
    std::ptrdiff_t samples;
    int pixels, channels;
};
constexpr space spaces[] = {{1, 1, 1},   {1, 1, 10},   {3, 5, 7},   {2, 3, 4},    {5, 1, 64},
                            {4, 49, 8},  {7, 9, 33},   {2, 196, 3}, {300, 1, 10}, {16, 25, 40},
                            {64, 64, 1}, {1, 1, 5000}, {3, 1, 1001}};

cn::ir::extents varying(space const& s, int variation) {
    return {(variation & 1) != 0, (variation & 2) ? s.pixels : 1, (variation & 4) ? s.channels : 1};
}

// Runs a fused program of three arrays on the simulated device in T and on the CPU in double.
template <class Program, class T>
void check_program(space const& at, int v0, int v1, cn::ir::extents result, double tolerance) {
    CAPTURE(at.samples);
    CAPTURE(at.pixels);
    CAPTURE(at.channels);
    arrays<T> memory;
    cn::ir::extents const size{true, at.pixels, at.channels};
    cn::ir::array_ref refs[4];
    refs[0] = memory.add(varying(at, v0), at.samples);
    refs[1] = memory.add(varying(at, v1), at.samples);
    refs[2] = memory.add(result, at.samples, false);
    double const scalars[] = {0.75, 3, 9};
    cn::ir::kernel_launch s;
    s.arrays = 2;
    s.output = 2;
    s.scalars = 3;
    s.space = size;
    s.factor = 0.5;
    constexpr bool reduces = Program::end.code == opcode::reduce;
    s.scratch = s.sums = 3;
    refs[3] = memory.add({false, 1, 8 * at.channels}, 1, false);
    refs[3].chunk_stride = at.channels; // for the CPU's lanes
    std::vector<double> expected(memory.values.begin(), memory.values.end());
    cn::cpu::context<double> host;
    host.region[int(cn::ir::region::workspace)] = expected.data();
    host.samples = at.samples;
    host.key = cn::key_of(42);
    host.step = 6;
    host.first_sample = 100;
    simt::context<T> device;
    device.region[int(cn::ir::region::workspace)] = memory.values.data();
    device.samples = at.samples;
    device.key = host.key;
    cn::cuda::step_values const now{6, 100};
    device.now = &now;
    simt::memory_of_parts<T> parts;
    device.parts = parts.here();
    cn::ir::launch_tables const tables{refs, scalars, nullptr};
    if constexpr (reduces) {
        cn::cpu::reduce<Program>(s, tables, host);
        cn::cuda::reduce<Program>(s, tables, device);
    } else {
        cn::cpu::map<Program>(s, tables, host);
        cn::cuda::map<Program>(s, tables, device);
    }
    double worst = 0;
    for (std::size_t i = 0; i < std::size_t(refs[3].offset); ++i) { // canaries among them
        double const d =
            std::fabs(double(memory.values[i]) - expected[i]) / (1 + std::fabs(expected[i]));
        worst = d <= worst ? worst : d == d ? d : 1e300;
    }
    CHECK(worst <= tolerance);
}

template <class T>
constexpr double epsilon = sizeof(T) == 4 ? 2e-6 : 1e-14;

} // namespace

TEST_CASE_TEMPLATE("maps of every broadcast and size", T, float, double) {
    for (space const& at : spaces) {
        cn::ir::extents const all{true, at.pixels, at.channels};
        check_program<cn::ir::program<load(0, 7), load(1, 7), apply(fn::maximum, 0, 1), store(2)>,
                      T>(at, 7, 7, all, epsilon<T>);
        check_program<cn::ir::program<load(0, 7), load(1, 4), apply(fn::add, 0, 1),
                                      apply(fn::tanh, 2), store(3)>,
                      T>(at, 7, 4, all, epsilon<T>);
        check_program<cn::ir::program<load(0, 1), load(1, 2), apply(fn::multiply, 0, 1), store(2)>,
                      T>(at, 1, 2, all, epsilon<T>);
        check_program<cn::ir::program<load(0, 3), load(1, 6), apply(fn::subtract, 0, 1),
                                      instruction{opcode::index}, apply(fn::add, 2, 3), store(4)>,
                      T>(at, 3, 6, all, epsilon<T>);
        check_program<cn::ir::program<load(0, 5), load(1, 0), apply(fn::multiply, 0, 1), store(2)>,
                      T>(at, 5, 0, all, epsilon<T>);
    }
}

TEST_CASE_TEMPLATE("a map stores several values, each in its type", T, float, double) {
    using program = cn::ir::program<load(0, 7), load(1, 4), apply(fn::multiply, 0, 1), store(2),
                                    store(1), store(0, true)>;
    for (space const& at : spaces) {
        arrays<T> memory;
        cn::ir::extents const size{true, at.pixels, at.channels};
        cn::ir::array_ref refs[] = {memory.add(size, at.samples), memory.add(varying(at, 4), 1),
                                    memory.add(size, at.samples, false),
                                    memory.add(size, at.samples, false),
                                    memory.add(size, at.samples, false)};
        cn::ir::kernel_launch s;
        s.arrays = s.output = 2;
        s.results = 3;
        s.space = size;
        simt::context<T> c;
        c.region[int(cn::ir::region::workspace)] = memory.values.data();
        c.samples = at.samples;
        cn::cuda::map<program>(s, {refs, nullptr, nullptr}, c);
        bool right = true;
        for (std::ptrdiff_t i = 0; i < at.samples * size.count(); ++i) {
            T const x = c.at(refs[0])[i], y = c.at(refs[1])[i % at.channels];
            cn::bfloat16 const rounded = reinterpret_cast<cn::bfloat16 const*>(c.at(refs[4]))[i];
            right = right && c.at(refs[2])[i] == x * y && c.at(refs[3])[i] == y &&
                    T(rounded) == T(cn::bfloat16(x));
        }
        CHECK(right);
    }
}

TEST_CASE_TEMPLATE("a map multiplies with the weight of few units", T, float, double) {
    constexpr instruction dot{opcode::dot, {}, -1, 0, 1};
    using program = cn::ir::program<load(2, 7), dot, apply(fn::subtract, 1, 0), store(2)>;
    for (space const& at : spaces) {
        constexpr int units = 3;
        arrays<T> memory;
        cn::ir::extents const all{true, at.pixels, at.channels};
        cn::ir::array_ref const refs[] = {memory.add({true, at.pixels, units}, at.samples),
                                          memory.add({false, at.channels, units}, 1),
                                          memory.add(all, at.samples),
                                          memory.add(all, at.samples, false)};
        cn::ir::kernel_launch s;
        s.arrays = s.output = 3;
        s.space = all;
        simt::context<T> c;
        c.region[int(cn::ir::region::workspace)] = memory.values.data();
        c.samples = at.samples;
        cn::cuda::map<program>(s, {refs, nullptr, nullptr}, c);
        double worst = 0;
        for (std::ptrdiff_t i = 0; i < at.samples * all.count(); ++i) {
            T const* const x = c.at(refs[0]) + i / at.channels * units;
            T const* const weight = c.at(refs[1]) + i % at.channels * units;
            double expected = -double(c.at(refs[2])[i]);
            for (int k = 0; k < units; ++k) {
                expected += double(x[k]) * double(weight[k]);
            }
            worst = std::max(worst, std::fabs(double(c.at(refs[3])[i]) - expected));
        }
        CHECK(worst <= 4 * epsilon<T>);
    }
}

TEST_CASE_TEMPLATE("dropout keeps what the CPU keeps", T, float, double) {
    for (space const& at : spaces) {
        check_program<cn::ir::program<load(0, 7), bernoulli, apply(fn::multiply, 0, 1), store(2)>,
                      T>(at, 7, 7, {true, at.pixels, at.channels}, epsilon<T>);
    }
}

TEST_CASE_TEMPLATE("reductions of every kind and size", T, float, double) {
    using cn::ir::reduction;
    for (space const& at : spaces) {
        double const tolerance =
            epsilon<T> * (1 + 0.05 * double(at.samples * at.pixels * at.channels));
        auto const sum_to = [&]<int Keep>(std::integral_constant<int, Keep>) {
            check_program<cn::ir::program<load(0, 7), load(1, 4), apply(fn::multiply, 0, 1),
                                          reduce(reduction::sum, Keep, 2)>,
                          T>(at, 7, 4, varying(at, Keep), tolerance);
        };
        sum_to(std::integral_constant<int, 0>{});
        sum_to(std::integral_constant<int, 1>{});
        sum_to(std::integral_constant<int, 2>{});
        sum_to(std::integral_constant<int, 3>{});
        sum_to(std::integral_constant<int, 4>{});
        sum_to(std::integral_constant<int, 5>{});
        sum_to(std::integral_constant<int, 6>{});
        check_program<cn::ir::program<load(0, 7), load(1, 7), apply(fn::add, 0, 1),
                                      reduce(reduction::max, 3, 2)>,
                      T>(at, 7, 7, varying(at, 3), epsilon<T>);
        check_program<cn::ir::program<load(0, 7), load(1, 7), apply(fn::add, 0, 1),
                                      reduce(reduction::max, 5, 2)>,
                      T>(at, 7, 7, varying(at, 5), epsilon<T>);
        check_program<cn::ir::program<load(0, 7), load(1, 7), apply(fn::add, 0, 1),
                                      reduce(reduction::log_sum_exp, 3, 2)>,
                      T>(at, 7, 7, varying(at, 3), 4 * epsilon<T>);
        // values repeat, so that the first of several largest is asked for
        check_program<
            cn::ir::program<load(0, 7), apply(fn::sign, 0), reduce(reduction::argmax, 3, 1)>, T>(
            at, 7, 7, varying(at, 3), 0);
        check_program<cn::ir::program<load(0, 7), reduce(reduction::strict_argmax, 3, 0)>, T>(
            at, 7, 7, varying(at, 3), 0);
        check_program<cn::ir::program<load(0, 7), bernoulli, apply(fn::multiply, 0, 1),
                                      reduce(reduction::sum, 4, 2)>,
                      T>(at, 7, 7, varying(at, 4), tolerance);
    }
}

TEST_CASE_TEMPLATE("several sums of one program are those of programs of their own", T, float,
                   double) {
    using cn::ir::reduction;
    constexpr instruction product = apply(fn::multiply, 0, 1);
    using both = cn::ir::program<load(0, 7), load(1, 7), product, reduce(reduction::sum, 4, 0),
                                 reduce(reduction::sum, 4, 2)>;
    using first = cn::ir::program<load(0, 7), reduce(reduction::sum, 4, 0)>;
    using second = cn::ir::program<load(0, 7), load(1, 7), product, reduce(reduction::sum, 4, 2)>;
    for (space const& at : spaces) {
        arrays<T> memory;
        cn::ir::extents const size{true, at.pixels, at.channels}, sums{false, 1, at.channels};
        cn::ir::array_ref refs[] = {memory.add(size, at.samples), memory.add(size, at.samples),
                                    memory.add(sums, 1, false),   memory.add(sums, 1, false),
                                    memory.add(sums, 1, false),   memory.add(sums, 1, false)};
        cn::ir::kernel_launch s;
        s.arrays = 2;
        s.space = size;
        s.factor = 0.5;
        s.results = 2;
        simt::memory_of_parts<T> parts;
        simt::context<T> c;
        c.region[int(cn::ir::region::workspace)] = memory.values.data();
        c.samples = at.samples;
        c.parts = parts.here();
        cn::ir::launch_tables const tables{refs, nullptr, nullptr};
        auto const run = [&](auto kernel, int output, int results) {
            s.output = output;
            s.results = results;
            kernel(s, tables, c);
        };
        run(&cn::cuda::reduce<both, simt::context<T>>, 2, 2);
        run(&cn::cuda::reduce<first, simt::context<T>>, 4, 1);
        run(&cn::cuda::reduce<second, simt::context<T>>, 5, 1);
        bool equal = true;
        for (int i = 0; i < at.channels; ++i) {
            equal = equal && c.at(refs[2])[i] == c.at(refs[4])[i] &&
                    c.at(refs[3])[i] == c.at(refs[5])[i] && c.at(refs[3])[i] != T(-77);
        }
        CHECK(equal);
        CHECK(parts.has_no_tickets_out());
    }
}

namespace {

cn::ir::window square_window(int size, int kernel, int stride, int padding, int channels) {
    cn::ir::window w;
    w.height = size;
    w.width = size + 1;
    w.channels = w.filters = channels;
    w.kernel_h = w.kernel_w = kernel;
    w.stride_h = w.stride_w = stride;
    w.pad_top = w.pad_left = w.pad_bottom = w.pad_right = padding;
    w.out_height = (w.height + 2 * padding - kernel) / stride + 1;
    w.out_width = (w.width + 2 * padding - kernel) / stride + 1;
    return w;
}

// Of the gradient by max pooling's result and the winners: that by the image, and its sums.
template <bool Bf16>
constexpr instruction load_gradient{opcode::load, {}, -1, 0, 7, Bf16 ? 1 : 0};
template <bool Bf16>
constexpr instruction store_of_image{opcode::store, {}, -1, Bf16 ? 1 : 0, 0, 0, 0, 1, 1};
template <bool Bf16>
using spread = cn::ir::program<load_gradient<Bf16>, store_of_image<Bf16>>;
template <bool Bf16>
using spread_and_sum = cn::ir::program<load_gradient<Bf16>, store_of_image<Bf16>,
                                       reduce(cn::ir::reduction::sum, 4, 0)>;

// These programs store what the kernel of the gradient has stored in the array of the image.
template <bool Bf16, class T>
void check_spreading(cn::ir::window const& w, cn::ir::array_ref const (&stored)[5],
                     simt::context<T> c, T* image, std::ptrdiff_t elements) {
    cn::ir::extents const out = stored[3].size;
    std::vector<T> sums(std::size_t(w.channels)), expected_sums(sums);
    for (std::ptrdiff_t i = 0; i < out.count() * c.samples; ++i) {
        expected_sums[std::size_t(i % w.channels)] += cn::cuda::stored_at(c, stored[3]).get(i);
    }
    std::vector<T> const expected(image, image + elements);
    simt::memory_of_parts<T> parts;
    c.parts = parts.here();
    c.region[int(cn::ir::region::gradients)] = sums.data();
    cn::ir::array_ref const refs[] = {
        stored[3], stored[2], stored[4], {cn::ir::region::gradients, 0, {false, 1, w.channels}}};
    cn::ir::kernel_launch s;
    s.window = 0;
    s.arrays = s.output = 2;
    s.space = out;
    for (bool const sum : {false, true}) {
        std::fill(image, image + elements, T(-77));
        s.kind = sum ? cn::op::reduce : cn::op::map;
        s.results = sum ? 2 : 1;
        auto const kernel = sum ? cn::cuda::fused_kernel<spread_and_sum<Bf16>, simt::context<T>>()
                                : cn::cuda::fused_kernel<spread<Bf16>, simt::context<T>>();
        kernel(s, {refs, nullptr, &w}, c);
        CHECK(std::equal(expected.begin(), expected.end(), image));
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
        CHECK(double(sums[i]) == doctest::Approx(double(expected_sums[i])).epsilon(1e-4));
    }
}

// Max pooling and its gradient in T, with images in bfloat16 or not, against the CPU's in double.
template <class T>
void check_max_pooling(cn::ir::window const& w, bool bf16) {
    CAPTURE(w.kernel_h);
    CAPTURE(w.channels);
    CAPTURE(bf16);
    constexpr std::ptrdiff_t samples = 3;
    cn::ir::extents const in{true, w.height * w.width, w.channels},
        out{true, w.out_height * w.out_width, w.channels};
    arrays<T> memory;
    // image, result, winners, gradient of the result and of the image
    cn::ir::array_ref refs[] = {memory.add(in, samples), memory.add(out, samples, false),
                                memory.add(out, samples, false), memory.add(out, samples),
                                memory.add(in, samples, false)};
    std::vector<double> expected(memory.values.begin(), memory.values.end());
    cn::cpu::context<double> host;
    host.region[int(cn::ir::region::workspace)] = expected.data();
    simt::context<T> device;
    device.region[int(cn::ir::region::workspace)] = memory.values.data();
    host.samples = device.samples = samples;
    cn::ir::array_ref stored[] = {refs[0], refs[1], refs[2], refs[3], refs[4]};
    for (int i : {0, 1, 3, 4}) {
        stored[i].is_bf16 = bf16;
    }
    for (int i : {0, 3}) { // numbers that both have
        std::ptrdiff_t const count = refs[i].size.count() * samples;
        double* const numbers = host.at(refs[i]);
        for (std::ptrdiff_t k = 0; k < count; ++k) {
            numbers[k] = std::round(numbers[k] * 32) / 32;
            cn::cuda::stored_at(device, stored[i]).set(k, T(numbers[k]));
        }
    }
    cn::ir::kernel_launch s;
    s.window = 0;
    s.first_array = 0;
    s.output = 1;
    s.arrays = 1;
    s.results = 2;
    cn::cpu::max_pool<double, false, true>(s, {refs, nullptr, &w}, host);
    cn::cuda::max_pool(s, {stored, nullptr, &w}, device);
    s.first_array = 2;
    s.output = 4;
    s.arrays = 2;
    s.results = 1;
    cn::cpu::max_pool_gradient_kernel<double>(w).run(s, {refs, nullptr, &w}, host);
    cn::cuda::max_pool_gradient(s, {stored, nullptr, &w}, device);
    if (cn::ir::tiles_image(w)) {
        std::ptrdiff_t const values = in.count() * samples; // of bfloat16, two are one
        std::ptrdiff_t const elements = bf16 ? values * 2 / std::ptrdiff_t(sizeof(T)) : values;
        auto const check = bf16 ? &check_spreading<true, T> : &check_spreading<false, T>;
        check(w, stored, device, device.at(stored[4]), elements);
    }
    for (int i : {1, 4}) {
        double worst = 0;
        for (std::ptrdiff_t k = 0; k < refs[i].size.count() * samples; ++k) {
            double const found = cn::cuda::stored_at(device, stored[i]).get(k);
            worst = std::max(worst, std::fabs(found - host.at(refs[i])[k]));
        }
        CHECK(worst <= (bf16 ? 0.01 : 1e-6));
        CHECK(memory.values[std::size_t(stored[i].offset + refs[i].size.count() * samples)] ==
              arrays<T>::canary);
    }
}

} // namespace

namespace {

constexpr instruction scalar(int which) {
    return {opcode::constant, {}, -1, std::uint8_t(which)};
}
// Of a program by rows: a reduction whose factor is a scalar, and whose result becomes one.
constexpr instruction reduce_row(cn::ir::reduction kind, int keep, int of, int factor, int result) {
    instruction end = reduce(kind, keep, of);
    end.e = std::uint8_t(result + 1);
    end.f = std::uint8_t(factor + 1);
    return end;
}
constexpr instruction store_of_row(int of) {
    instruction end = store(of);
    end.b = 1;
    return end;
}

// Of x and a number y for each sample: the mean and the largest x of each row; their difference,
// for each row, and three times the sum of its square over all rows; x - mean + y. With the mean of
// this last one, the result of it, again for each channel, in bfloat16.
using by_rows =
    cn::ir::program<load(0, 7), reduce_row(cn::ir::reduction::sum, 3, 0, 0, 2),
                    reduce_row(cn::ir::reduction::max, 3, 0, 0, 3), //
                    scalar(3), scalar(2), apply(fn::subtract, 0, 1), apply(fn::multiply, 2, 2),
                    load(0, 7), apply(fn::subtract, 4, 1), load(1, 1), apply(fn::add, 5, 6),
                    store_of_row(2), reduce_row(cn::ir::reduction::sum, 0, 3, 1, -1),
                    reduce_row(cn::ir::reduction::sum, 3, 7, 0, 4), store(7), //
                    scalar(4), load(0, 7), apply(fn::add, 0, 1), store(2, true)>;
static_assert(by_rows::phases == 3 && by_rows::results == 7);

template <class T>
void check_rows(space const& at) {
    CAPTURE(at.samples);
    CAPTURE(at.pixels);
    CAPTURE(at.channels);
    arrays<T> memory;
    cn::ir::extents const all{true, at.pixels, at.channels}, row{true, at.pixels, 1}, one{};
    cn::ir::array_ref const refs[] = {
        memory.add(all, at.samples),        memory.add({true, 1, 1}, at.samples),
        memory.add(row, at.samples, false), memory.add(row, at.samples, false),
        memory.add(row, at.samples, false), memory.add(one, at.samples, false),
        memory.add(row, at.samples, false), memory.add(all, at.samples, false),
        memory.add(all, at.samples, false)};
    double const scalars[] = {1.0 / at.channels, 3, 0, 0, 0};
    cn::ir::kernel_launch s;
    s.kind = cn::op::reduce;
    s.arrays = s.output = 2;
    s.results = by_rows::results;
    s.scalars = 5;
    s.space = all;
    std::vector<T> const x = memory.values;
    simt::context<T> c;
    c.region[int(cn::ir::region::workspace)] = memory.values.data();
    c.samples = at.samples;
    simt::memory_of_parts<T> parts;
    c.parts = parts.here();
    cn::cuda::run_row_program<by_rows>(s, {refs, scalars, nullptr}, c);
    CHECK(parts.has_no_tickets_out());

    std::vector<double> expected(x.begin(), x.end());
    auto const set = [&](int result, std::ptrdiff_t i, double value) {
        expected[std::size_t(refs[2 + result].offset + i)] = value;
    };
    auto* const in_bf16 =
        reinterpret_cast<cn::bfloat16*>(&memory.values[std::size_t(refs[8].offset)]);
    double sum = 0, worst = 0;
    for (std::ptrdiff_t r = 0; r < at.samples * at.pixels; ++r) {
        T const* const from = x.data() + r * at.channels;
        double const y = double(x[std::size_t(refs[1].offset + r / at.pixels)]);
        double mean = 0, shifted = 0, largest = double(from[0]);
        for (int i = 0; i < at.channels; ++i) {
            mean += double(from[i]) / at.channels;
            largest = std::max(largest, double(from[i]));
        }
        for (int i = 0; i < at.channels; ++i) {
            set(5, r * at.channels + i, double(from[i]) - mean + y);
            shifted += (double(from[i]) - mean + y) / at.channels;
        }
        for (int i = 0; i < at.channels; ++i) {
            double const here = double(in_bf16[r * at.channels + i]),
                         error = std::fabs(here - shifted - double(from[i]));
            worst = error < 0.02 ? worst : 1e300;
        }
        sum += 3 * (largest - mean) * (largest - mean);
        set(0, r, mean);
        set(1, r, largest);
        set(2, r, largest - mean);
        set(4, r, shifted);
    }
    set(3, 0, sum);
    for (std::size_t i = 0; i < std::size_t(refs[8].offset); ++i) { // canaries among them
        double const d =
            std::fabs(double(memory.values[i]) - expected[i]) / (1 + std::fabs(expected[i]));
        worst = d <= worst ? worst : d == d ? d : 1e300;
    }
    CHECK(worst <= 4 * epsilon<T>);
}

} // namespace

TEST_CASE_TEMPLATE("programs by rows, of every size", T, float, double) {
    for (space const& at : spaces) {
        check_rows<T>(at);
    }
    check_rows<T>({1100, 1, 2048}); // blocks that have several rows, one after the other
}

TEST_CASE("max pooling equals the CPU's for every kind of window and number of channels") {
    for (int const channels : {1, 3, 8, 24}) {
        for (bool const bf16 : {false, true}) {
            check_max_pooling<float>(square_window(8, 2, 2, 0, channels), bf16);
            check_max_pooling<float>(square_window(7, 2, 2, 0, channels), bf16);
            check_max_pooling<float>(square_window(9, 3, 3, 0, channels), bf16);
            check_max_pooling<float>(square_window(9, 3, 2, 1, channels), bf16);
            check_max_pooling<float>(square_window(6, 3, 1, 0, channels), bf16);
            check_max_pooling<float>(square_window(9, 2, 3, 0, channels), bf16);
            check_max_pooling<float>(square_window(19, 17, 1, 0, channels), bf16);
            cn::ir::window shared = square_window(7, 3, 2, 0, channels);
            shared.adaptive = true;
            check_max_pooling<float>(shared, bf16);
        }
        check_max_pooling<double>(square_window(8, 2, 2, 0, channels), false);
    }
}

TEST_CASE("quotients are exact") {
    for (std::uint32_t d : {1U, 2U, 3U, 5U, 7U, 10U, 28U, 49U, 64U, 641U, 65535U, 65536U, 65537U,
                            1000003U, 2147483646U, 2147483647U}) {
        cn::cuda::quotient const q{std::ptrdiff_t{d}};
        bool exact = true;
        for (std::uint64_t k = 0; k < 4000; ++k) {
            for (std::uint64_t n : {k, k * d, k * d + d - 1, k * 536870 + k, 2147483647 - k}) {
                if (n < 2147483648U) {
                    auto const small = static_cast<std::uint32_t>(n);
                    exact =
                        exact && q.divide(small) == small / d && q.remainder(small) == small % d;
                }
            }
        }
        CHECK(exact);
    }
}

TEST_CASE_TEMPLATE("the update of all parameters equals the CPU's", Optimizer, cn::sgd,
                   cn::momentum, cn::rmsprop, cn::rmsprop_momentum, cn::adam, cn::adamw,
                   cn::amsgrad, cn::nadam, cn::adamax, cn::radam, cn::lion, cn::adagrad,
                   cn::adadelta) {
    constexpr std::ptrdiff_t count = 1088; // several blocks' worth, in three ranges
    constexpr int slots = Optimizer::slots;
    arrays<double> memory;
    auto const place = [&] { return memory.add({false, 1, int(count)}, 1).offset; };
    std::ptrdiff_t const parameters = place(), gradients = place(), state = place();
    memory.values.resize(memory.values.size() + count * slots);
    for (std::size_t i = std::size_t(state); i < memory.values.size(); ++i) {
        memory.values[i] = 0.25 + double(i % 7);
    }
    std::vector<double> expected = memory.values;
    auto const rule = Optimizer{}.template at<double>(5, 0.01);
    cn::cuda::penalized_range const ranges[] = {
        {128, {0.25F, 0}}, {640, {}}, {count, {0.5F, 0.25F}}};
    std::ptrdiff_t begin = 0;
    for (auto const& r : ranges) {
        cn::cpu::optimize<slots>(rule, r.cost, 0.125, expected.data() + parameters,
                                 expected.data() + gradients, expected.data() + state, count, begin,
                                 r.end);
        begin = r.end;
    }
    using rule_type = std::remove_cvref_t<decltype(rule)>;
    cn::cuda::update_values<rule_type, double> const now{rule, 0.125};
    constexpr std::ptrdiff_t groups = count / cn::cuda::lanes_of<double>;
    simt::launch(cn::cuda::grid_for(groups), cn::cuda::optimize_body<rule_type, slots, double>{
                                                 &now,
                                                 ranges,
                                                 memory.values.data() + parameters,
                                                 {memory.values.data() + gradients},
                                                 memory.values.data() + state,
                                                 count,
                                                 groups});
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        worst = std::max(worst, std::fabs(memory.values[i] - expected[i]));
    }
    CHECK(worst <= 1e-13);
}

TEST_CASE("an update widens gradients in bfloat16, and stores them") {
    constexpr std::ptrdiff_t first = 64, count = 6, all = 128;
    alignas(16) cn::bfloat16 in_bf16[64];
    alignas(16) float gradients[all];
    std::fill(std::begin(in_bf16), std::end(in_bf16), cn::bfloat16(9.0F)); // and behind the end
    std::fill(std::begin(gradients), std::end(gradients), 0.5F);
    for (int i = 0; i < count; ++i) {
        in_bf16[i] = cn::bfloat16(float(i));
    }
    cn::cuda::widened_gradients<float> const from{gradients, {{in_bf16, first, first + count}}, 1};
    float g[4];
    from.load(first - 4, g);
    CHECK((g[0] == 0.5F && g[3] == 0.5F));
    from.load(first, g);
    CHECK((g[0] == 0 && g[3] == 3));
    from.load(first + 4, g);
    CHECK((g[0] == 4 && g[1] == 5 && g[2] == 0 && g[3] == 0));
    from.load(first + 8, g);
    CHECK(g[0] == 0.5F);
    CHECK((gradients[first - 1] == 0.5F && gradients[first + 3] == 3));
    CHECK((gradients[first + 5] == 5 && gradients[first + 6] == 0 && gradients[first + 8] == 0.5F));
}

TEST_CASE("the norm of the gradient equals the CPU's") {
    using T = float;
    constexpr std::ptrdiff_t first = 128, last = 50176; // of some replica; several blocks' worth
    std::vector<T> parameters(last), gradients(last);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i] = T(i % 13) - 6;
        gradients[i] = std::sin(T(i));
    }
    cn::cuda::penalized_range const ranges[] = {{256, {0.25F, 0}}, {30208, {}}, {last, {0, 0.5F}}};
    T const scale = 0.125F;
    double expected = 0;
    std::ptrdiff_t begin = first;
    for (auto const& r : ranges) {
        expected += cn::cpu::sum_of_squares(r.cost, scale, parameters.data() + begin,
                                            gradients.data() + begin, r.end - begin);
        begin = r.end;
    }

    using rule_type = cn::norm_clipped<cn::sgd>::rule<T>;
    cn::cuda::update_values<rule_type, T> now{cn::clip_norm(cn::sgd{}, 1).at<T>(1, 0.1), scale};
    auto const shape = cn::cuda::shape_reduction(1, (last - first) / cn::cuda::lanes_of<T>, false,
                                                 cn::cuda::reduction_blocks);
    CHECK(shape.splits > 1);
    std::vector<double> squares(shape.splits + 1);
    unsigned ticket = 0;
    using body = cn::cuda::square_sum<T>;
    simt::launch(cn::cuda::grid{shape.splits, cn::cuda::block_threads, body::shared_bytes},
                 body{{&now.scale, ranges, parameters.data(), gradients.data(), first},
                      shape,
                      cn::cuda::quotient(1),
                      1.0,
                      {squares.data()},
                      {squares.data() + 1, &ticket}});
    CHECK(ticket == 0);
    simt::launch(cn::cuda::grid{1, 1, 0}, cn::cuda::norm_body<rule_type, T>{&now, squares.data()});
    CHECK(now.rule.clip.factor == doctest::Approx(1 / (std::sqrt(expected) + 1e-6)).epsilon(1e-6));
    CHECK(now.rule.max_norm == 1);
}
