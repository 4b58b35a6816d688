// Pooling and up-sampling, and their gradients, against plain loops in double.
#include <castnet/policy/cpu.hpp>

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

namespace cn = castnet;
namespace cpu = castnet::cpu;

namespace {

using array = std::vector<double>;

// Small multiples of 1/8, many of them equal; another sequence for every seed.
array numbers(std::ptrdiff_t count, unsigned seed) {
    array all;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        all.push_back((double(seed >> 27) - 16) / 8);
    }
    return all;
}

// What one kernel makes of two operands, or of one and its second result; memory that it must write
// first holds NaN.
template <class T>
struct launch {
    void (*kernel)(cn::ir::kernel_launch const&, cpu::tables const&, cpu::context<T> const&);
    std::ptrdiff_t samples;
    cn::ir::extents a{}, b{}, out{};
    cn::ir::window window{};

    array operator()(array const& x, array const& y, std::ptrdiff_t count,
                     array* argmax = nullptr) const {
        auto const nx = std::ptrdiff_t(x.size()), ny = std::ptrdiff_t(y.size());
        cn::ir::array_ref refs[] = {
            {cn::ir::region::workspace, 0, a},
            {cn::ir::region::workspace, cn::ir::aligned(nx), b},
            {cn::ir::region::workspace, cn::ir::aligned(nx) + cn::ir::aligned(ny), out},
            {cn::ir::region::workspace, cn::ir::aligned(nx), out}};
        std::ptrdiff_t const total = refs[2].offset + cn::ir::aligned(count);
        cpu::memory const room{size_t(total + 1) * sizeof(T)};
        T* const start = room.as<T>();
        std::fill_n(start, total + 1, std::numeric_limits<T>::quiet_NaN());
        std::copy_n(x.begin(), nx, start);
        std::copy_n(y.begin(), ny, start + refs[1].offset);
        start[total] = 7; // nobody's
        cn::ir::kernel_launch s;
        s.arrays = 2;
        s.output = 2;
        s.results = argmax ? 2 : 1;
        s.window = 0;
        cpu::context<T> c;
        c.region[int(cn::ir::region::workspace)] = start;
        c.samples = samples;
        kernel(s, {refs, nullptr, &window}, c);
        CHECK(start[total] == 7);
        if (argmax) {
            *argmax = {start + refs[1].offset, start + refs[1].offset + ny};
        }
        return {start + refs[2].offset, start + refs[2].offset + count};
    }
};

void check_close(array const& a, array const& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        double const difference = std::abs(a[i] - b[i]);
        largest = difference <= largest ? largest : difference; // NaN counts
    }
    CHECK(largest < 1e-3);
}

// Calls f(input element of the sample or -1 in the padding, weight element, output element).
template <class F>
void for_each_product(cn::ir::window const& w, F const& f) {
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    for (int o = 0; o < w.out_height * w.out_width * w.filters; ++o) {
        int const filter = o % w.filters, pixel = o / w.filters, g = filter / filters;
        for (int k = 0; k < w.kernel_h * w.kernel_w * channels; ++k) {
            int const channel = k % channels, tap = k / channels;
            int const y =
                pixel / w.out_width * w.stride_h - w.pad_top + tap / w.kernel_w * w.dilation_h;
            int const x =
                pixel % w.out_width * w.stride_w - w.pad_left + tap % w.kernel_w * w.dilation_w;
            if (y >= 0 && y < w.height && x >= 0 && x < w.width) {
                f((y * w.width + x) * w.channels + g * channels + channel,
                  (g * w.kernel_h * w.kernel_w * channels + k) * filters + filter % filters, o);
            }
        }
    }
}

struct sizes {
    int channels, height, width, filters, kernel_h, kernel_w, stride_h, stride_w, pad, dilation,
        groups;

    cn::ir::window window() const {
        auto const out = [&](int in, int kernel, int stride) {
            return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
        };
        return {channels,
                height,
                width,
                filters,
                out(height, kernel_h, stride_h),
                out(width, kernel_w, stride_w),
                kernel_h,
                kernel_w,
                stride_h,
                stride_w,
                pad,
                pad,
                pad,
                pad,
                dilation,
                dilation,
                groups};
    }
};

template <class T, cn::op K>
auto kernel(cn::ir::window const& w) {
    cn::ir::kernel_launch s;
    s.window = 0;
    return cpu::kernel_for<T, K>::of(s, &w).run;
}

} // namespace

TEST_CASE_TEMPLATE("the first largest pixel of a window gets its gradient", T, float, double) {
    for (sizes z :
         {sizes{65, 8, 7, 65, 2, 2, 2, 2, 0, 1, 1}, sizes{3, 9, 8, 3, 3, 3, 2, 1, 1, 1, 1},
          sizes{130, 3, 3, 130, 3, 3, 3, 3, 0, 1, 1}, sizes{6, 9, 8, 6, 2, 3, 1, 3, 0, 1, 1},
          sizes{20, 7, 7, 20, 3, 3, 1, 1, 1, 1, 1}, sizes{23, 9, 9, 23, 2, 2, 4, 3, 0, 1, 1}}) {
        cn::ir::window const w = z.window();
        int const n = 3, in = w.channels * w.height * w.width;
        int const out = w.channels * w.out_height * w.out_width;
        array const x = numbers(n * in, 4), dy = numbers(n * out, 5);
        array y(size_t(n * out), -1e9), dx(size_t(n * in));
        cn::ir::window per_channel = w;
        per_channel.groups = w.channels;
        for (int i = 0; i < n; ++i) {
            std::vector<size_t> best_pixel(size_t(out), 0);
            for_each_product(per_channel, [&](int from, int, int to) { // row by row
                if (size_t const a = size_t(i * in + from), c = size_t(i * out + to); x[a] > y[c]) {
                    y[c] = x[a];
                    best_pixel[size_t(to)] = a;
                }
            });
            for (int to = 0; to < out; ++to) {
                dx[best_pixel[size_t(to)]] += dy[size_t(i * out + to)];
            }
        }
        array argmax(size_t(n * out), 1e9);
        launch<T> const pool{cpu::max_pool_kernel<T>(w, false).run, n, {}, {}, {}, w};
        check_close(pool(x, {}, n * out), y);
        launch<T> const numbered{cpu::max_pool_kernel<T>(w, true).run, n, {}, {}, {}, w};
        check_close(numbered(x, argmax, n * out, &argmax), y);
        launch<T> const gradient{cpu::max_pool_gradient_kernel<T>(w).run, n, {}, {}, {}, w};
        check_close(gradient(argmax, dy, n * in), dx);
    }
}

TEST_CASE_TEMPLATE("averages and their gradients add up what lies under a window", T, float,
                   double) {
    for (int const channels : {1, 3, 6, 8, 20, 37}) {
        for (sizes z : {sizes{channels, 8, 7, channels, 2, 2, 2, 2, 0, 1, 1},
                        sizes{channels, 9, 8, channels, 3, 3, 1, 1, 1, 1, 1},
                        sizes{channels, 9, 8, channels, 3, 2, 2, 1, 1, 1, 1},
                        sizes{channels, 9, 9, channels, 2, 2, 4, 3, 0, 1, 1}}) {
            for (bool const count_padding : {false, true}) {
                cn::ir::window w = z.window();
                w.count_padding = count_padding;
                int const n = 3, in = w.channels * w.height * w.width;
                int const out = w.channels * w.out_height * w.out_width;
                array const x = numbers(n * in, 4), dy = numbers(n * out, 5);
                array y(size_t(n * out)), dx(size_t(n * in)), count(size_t(out), 0.0);
                cn::ir::window per_channel = w;
                per_channel.groups = w.channels;
                for_each_product(per_channel, [&](int, int, int to) { ++count[size_t(to)]; });
                for (int i = 0; i < n; ++i) {
                    for_each_product(per_channel, [&](int from, int, int to) {
                        double const share =
                            1 / (count_padding ? w.kernel_h * w.kernel_w : count[size_t(to)]);
                        y[size_t(i * out + to)] += share * x[size_t(i * in + from)];
                        dx[size_t(i * in + from)] += share * dy[size_t(i * out + to)];
                    });
                }
                launch<T> const pool{kernel<T, cn::op::avg_pool>(w), n, {}, {}, {}, w};
                check_close(pool(x, {}, n * out), y);
                launch<T> const gradient{kernel<T, cn::op::avg_pool_gradient>(w), n, {}, {}, {}, w};
                check_close(gradient(dy, {}, n * in), dx);
            }
        }
    }
}

TEST_CASE_TEMPLATE("finer grids have shares of the pixels of coarse ones", T, float, double) {
    for (int const channels : {1, 3, 6, 8, 20, 37, 20'000}) {
        for (int const factor : {1, 2, 3, 5}) {
            for (bool const bilinear : {false, true}) {
                bool const has_many = channels > 100; // more than the kernels take at once
                if (has_many && factor != 2) {
                    continue;
                }
                cn::ir::window w;
                w.channels = w.filters = channels;
                w.height = has_many ? 2 : 4, w.width = has_many ? 3 : 27;
                w.kernel_h = factor, w.kernel_w = factor + 1;
                w.out_height = w.height * w.kernel_h, w.out_width = w.width * w.kernel_w;
                w.bilinear = bilinear;
                int const n = 2, in = channels * w.height * w.width;
                int const out = channels * w.out_height * w.out_width;
                // what a pixel of the coarse grid gives to one of the fine grid
                auto const share = [&](int fine, int coarse, int times, int size) {
                    double const middle = std::clamp((fine + 0.5) / times - 0.5, 0.0, size - 1.0);
                    double const between = std::max(0.0, 1 - std::abs(middle - coarse));
                    return bilinear ? between : double(fine / times == coarse);
                };
                array const x = numbers(n * in, 4), dy = numbers(n * out, 5);
                array y(size_t(n * out)), dx(size_t(n * in));
                for (int to = 0; to < n * out; ++to) {
                    int const channel = to % channels, pixel = to / channels % (out / channels);
                    int const row = pixel / w.out_width, column = pixel % w.out_width;
                    for (int r = 0; r < w.height; ++r) {
                        for (int c = 0; c < w.width; ++c) {
                            double const mine = share(row, r, w.kernel_h, w.height) *
                                                share(column, c, w.kernel_w, w.width);
                            int const from = to / out * in + (r * w.width + c) * channels + channel;
                            y[size_t(to)] += mine * x[size_t(from)];
                            dx[size_t(from)] += mine * dy[size_t(to)];
                        }
                    }
                }
                launch<T> const up{kernel<T, cn::op::upsample>(w), n, {}, {}, {}, w};
                check_close(up(x, {}, n * out), y);
                launch<T> const gradient{kernel<T, cn::op::upsample_gradient>(w), n, {}, {}, {}, w};
                check_close(gradient(dy, {}, n * in), dx);
            }
        }
    }
}

TEST_CASE_TEMPLATE("gradients of many copies of few channels are their sums", T, float, double) {
    for (int const copies : {1000, 2000, 5000}) { // of which the kernel takes some at once
        cn::ir::window w;
        w.channels = w.filters = 3;
        w.height = 2, w.width = 5;
        w.kernel_h = 2, w.kernel_w = copies;
        w.out_height = w.height * w.kernel_h, w.out_width = w.width * w.kernel_w;
        int const in = 3 * w.height * w.width, out = in * w.kernel_h * w.kernel_w;
        array const dy = numbers(out, 6);
        array dx(static_cast<std::size_t>(in));
        for (int i = 0; i < out; ++i) {
            int const pixel = i / 3, row = pixel / w.out_width, column = pixel % w.out_width;
            dx[std::size_t((row / w.kernel_h * w.width + column / w.kernel_w) * 3 + i % 3)] +=
                dy[std::size_t(i)];
        }
        launch<T> const gradient{kernel<T, cn::op::upsample_gradient>(w), 1, {}, {}, {}, w};
        check_close(gradient(dy, {}, in), dx);
    }
}
