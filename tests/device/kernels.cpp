// The kernels with a loop of their own against the plainest loops, over many sizes, in float and
// double, and those of products with factors in bfloat16. Memory that a kernel should not read
// holds NaN, memory that it should not write is checked.
#include <castnet/core/philox.hpp>
#include <castnet/device/cpu/device.hpp>
#include <castnet/nn/window.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>
#include <vector>

namespace cn = castnet;
using cn::op;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

using cn::cpu::bfloat16_pair;

// Numbers in [-1, 1), exact in float; as factors in bfloat16, so few that Winograd's transforms are
// exact, too.
template <class F = float>
struct numbers {
    std::uint32_t next = 0;
    double one() {
        constexpr int bits = cn::cpu::numbers_in<F> > 1 ? 5 : 20;
        auto const word = cn::philox({next++, 0, 0, 0}, cn::key_of(11)).x0;
        return double(word >> (32 - bits)) / (1 << (bits - 1)) - 1;
    }
    std::vector<double> operator()(std::ptrdiff_t count) {
        std::vector<double> x;
        while (std::ptrdiff_t(x.size()) < count) {
            x.push_back(one());
        }
        return x;
    }
};

// Runs one kernel on two operands, possibly with a bias and relu behind it, and returns its result.
template <class F>
class one_kernel {
public:
    using T = cn::cpu::sum_type<F>;
    using device = cn::cpu_device<T, F>;

    std::vector<double> operator()(cn::ir::kernel_launch s, cn::ir::window const& w,
                                   std::ptrdiff_t samples, int at_once,
                                   std::vector<double> const& a, cn::ir::extents a_size,
                                   std::vector<double> const& b, cn::ir::extents b_size,
                                   cn::ir::extents result, std::vector<double> const& bias = {}) {
        s.window = 0;
        s.arrays = 2;
        s.output = 3;
        s.scratch = 4;
        s.sums = 5;
        s.chunk_scratch = 6;
        s.prepared = 7;
        s.end.bias = s.end.activates = !bias.empty();
        cn::ir::scratch_size const wanted = device::scratch(s, &w, {});
        std::ptrdiff_t const chunk =
            cn::ir::aligned(wanted.sums) + cn::ir::aligned(wanted.chunk) + 16;
        std::ptrdiff_t const scratch = cn::ir::aligned(wanted.shared) + cn::cpu::chunks * chunk;
        std::ptrdiff_t const count = result.count() * (result.sample ? samples : 1);
        auto const end_of = [this] { return std::ptrdiff_t(memory_.size()); };
        cn::ir::array_ref arrays[8];
        memory_.reserve(a.size() + b.size() + bias.size() +
                        std::size_t(count + scratch + wanted.prepared) + std::size(arrays) * 32);
        auto const place = [&](int i, cn::ir::extents size, auto const& add) {
            arrays[i] = {cn::ir::region::workspace, end_of(), size};
            add();
            memory_.resize((memory_.size() + 15) / 16 * 16 + 16, canary);
        };
        auto const content = [&](std::vector<double> const& x) {
            return [&] { memory_.insert(memory_.end(), x.begin(), x.end()); };
        };
        auto const room = [&](std::ptrdiff_t size) {
            return [this, size] { memory_.resize(memory_.size() + std::size_t(size), nan_value); };
        };
        place(0, a_size, content(a));
        place(1, b_size, content(b));
        place(2, {false, 1, int(bias.size())}, content(bias));
        place(3, result, room(count));
        std::ptrdiff_t const behind_result = end_of();
        place(4, {false, 1, 1}, room(scratch));
        place(7, {false, 1, 1}, room(wanted.prepared));
        auto const chunks_begin = arrays[4].offset + cn::ir::aligned(wanted.shared);
        arrays[5] = {cn::ir::region::workspace, chunks_begin, {false, 1, 1}, chunk};
        arrays[6] = arrays[5];
        arrays[6].offset += cn::ir::aligned(wanted.sums);
        cn::cpu::memory block{memory_.size() * sizeof(T)};
        T* const data = block.template as<T>();
        std::copy(memory_.begin(), memory_.end(), data);

        cn::cpu::context<T> c;
        c.region[int(cn::ir::region::workspace)] = data;
        c.samples = samples;
        cn::cpu::tables const tables{arrays, nullptr, &w};
        auto const parts = device::kernel_of(s, &w);
        bool const in_chunks = device::samples_at_once(s, &w, {}, 1) > 0;
        auto const kernel = in_chunks ? parts.in_chunks() : parts.alone();
        cn::ir::stage const alone{0, 1, in_chunks ? at_once : 0, 1 << 20};
        cn::cpu::run_stage(alone, &s, &kernel, tables, c, cn::ir::ignore_launches{});

        auto const unchanged = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
            bool same = true;
            for (std::ptrdiff_t i = from; i < to; ++i) {
                same = same && double(data[i]) == double(static_cast<T>(memory_[std::size_t(i)]));
            }
            return same;
        };
        CHECK(unchanged(0, arrays[3].offset));
        CHECK(unchanged(arrays[3].offset + count, behind_result));
        CHECK(unchanged(arrays[4].offset + scratch, arrays[7].offset));
        CHECK(unchanged(arrays[7].offset + wanted.prepared, end_of()));
        return {data + arrays[3].offset, data + arrays[3].offset + count};
    }

private:
    static constexpr double canary = 12345;
    std::vector<double> memory_;
};

void close(std::vector<double> const& found, std::vector<double> const& expected,
           double tolerance) {
    REQUIRE(found.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double const d = std::fabs(found[i] - expected[i]);
        worst = d <= worst ? worst : std::isnan(d) ? 1e300 : d;
    }
    CHECK(worst <= tolerance);
}

template <class T>
constexpr double epsilon = std::is_same_v<T, double> ? 1e-14 : 1e-6;

// x (samples, pixels, channels), weight in the order of the device, y (samples, pixels, filters).
struct convolution {
    cn::ir::window w;
    int samples;
    int channels = w.channels / w.groups, taps = w.kernel_h * w.kernel_w;

    // The places of the weights, by taps, filters and channels.
    std::vector<std::size_t> places() const {
        cn::parameter p;
        p.kind = cn::role::conv_weight;
        p.shape = {4, {w.filters, channels, w.kernel_h, w.kernel_w}};
        std::vector<std::size_t> place;
        for (int tap = 0; tap < taps; ++tap) {
            for (int i = 0; i < w.filters * channels; ++i) {
                place.push_back(
                    std::size_t(cn::cpu_device<float>::place_in_parameter(i * taps + tap, p)));
            }
        }
        return place;
    }

    // Calls visit(first of the channels in x, first of the channels in places(), place in y) for
    // the products of each pixel, tap and filter.
    template <class Visit>
    void each(Visit visit) const {
        int const filters = w.filters / w.groups;
        for (int pixel = 0; pixel < samples * w.out_height * w.out_width; ++pixel) {
            int const n = pixel / (w.out_height * w.out_width);
            int const i = pixel / w.out_width % w.out_height, j = pixel % w.out_width;
            for (int tap = 0; tap < taps; ++tap) {
                int const row = i * w.stride_h - w.pad_top + tap / w.kernel_w * w.dilation_h;
                int const column = j * w.stride_w - w.pad_left + tap % w.kernel_w * w.dilation_w;
                if (row < 0 || row >= w.height || column < 0 || column >= w.width) {
                    continue;
                }
                int const x = ((n * w.height + row) * w.width + column) * w.channels;
                for (int f = 0; f < w.filters; ++f) {
                    visit(x + f / filters * channels, (tap * w.filters + f) * channels,
                          pixel * w.filters + f);
                }
            }
        }
    }
};

// Calls check(bias) for the launch of a product with this bias and each rectifier, while y, the
// product, is what is expected of it.
template <class F>
void check_rectified(cn::ir::kernel_launch& s, std::vector<double>& y, std::vector<double> bias,
                     F const& check) {
    auto const product = y;
    for (double& b : bias) {
        b *= 8;
    }
    for (cn::fn const rectifier : {cn::fn::relu, cn::fn::relu6}) {
        s.end.activation = rectifier;
        for (std::size_t i = 0; i < y.size(); ++i) {
            double const sum = std::max(product[i] + bias[i % bias.size()], 0.0);
            y[i] = rectifier == cn::fn::relu6 ? std::min(sum, 6.0) : sum;
        }
        check(bias);
    }
}

template <class T>
void check_convolution(cn::ir::window const& w, int samples, int at_once = 2) {
    CAPTURE(w.channels);
    CAPTURE(w.filters);
    CAPTURE(w.height);
    CAPTURE(w.kernel_h);
    CAPTURE(w.kernel_w);
    CAPTURE(w.stride_h);
    CAPTURE(w.groups);
    cn::ir::extents const image{true, w.height * w.width, w.channels};
    cn::ir::extents const result{true, w.out_height * w.out_width, w.filters};
    cn::ir::extents const kernel{false, w.channels / w.groups * w.kernel_h * w.kernel_w, w.filters};
    numbers<T> random;
    auto const x = random(image.count() * samples), weight = random(kernel.count()),
               dy = random(result.count() * samples);
    std::vector<double> y(dy.size()), dx(x.size()), dw(weight.size());
    convolution const plain{w, samples};
    auto const places = plain.places();
    std::vector<double> k(weight.size()), dk(weight.size());
    for (std::size_t i = 0; i < k.size(); ++i) {
        k[i] = weight[places[i]];
    }
    plain.each([&](int in, int at, int out) {
        double const* const x_channels = x.data() + in;
        double* const dx_channels = dx.data() + in;
        double const dy_pixel = dy[std::size_t(out)];
        double sum = 0;
        for (int c = 0; c < plain.channels; ++c) {
            sum += x_channels[c] * k[std::size_t(at + c)];
            dx_channels[c] += dy_pixel * k[std::size_t(at + c)];
            dk[std::size_t(at + c)] += dy_pixel * x_channels[c];
        }
        y[std::size_t(out)] += sum;
    });
    for (std::size_t i = 0; i < k.size(); ++i) {
        dw[places[i]] = dk[i];
    }
    double const taps = double(kernel.pixels), pixels = double(result.pixels * samples);
    cn::ir::kernel_launch s;
    s.kind = op::conv;
    close(one_kernel<T>{}(s, w, samples, at_once, x, image, weight, kernel, result), y,
          epsilon<T> * taps);
    check_rectified(s, y, random(w.filters), [&](auto const& bias) {
        close(one_kernel<T>{}(s, w, samples, at_once, x, image, weight, kernel, result, bias), y,
              epsilon<T> * taps);
    });
    s.kind = op::conv_data;
    close(one_kernel<T>{}(s, w, samples, at_once, dy, result, weight, kernel, image), dx,
          epsilon<T> * taps * w.filters);
    s.kind = op::conv_weight;
    close(one_kernel<T>{}(s, w, samples, at_once, x, image, dy, result, kernel), dw,
          epsilon<T> * pixels);
}

template <class T>
void check_product(int rows, int in, int out) {
    CAPTURE(rows);
    CAPTURE(in);
    CAPTURE(out);
    numbers<T> random;
    cn::ir::extents const x_size{true, 1, in}, y_size{true, 1, out}, w_size{false, in, out};
    auto const x = random(rows * in), w = random(in * out), dy = random(rows * out);
    std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
    for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < in; ++i) {
            for (int o = 0; o < out; ++o) {
                auto const at_x = std::size_t(r * in + i), at_w = std::size_t(i * out + o),
                           at_y = std::size_t(r * out + o);
                y[at_y] += x[at_x] * w[at_w];
                dx[at_x] += dy[at_y] * w[at_w];
                dw[at_w] += dy[at_y] * x[at_x];
            }
        }
    }
    cn::ir::kernel_launch s;
    s.kind = op::matmul;
    close(one_kernel<T>{}(s, {}, rows, 2, x, x_size, w, w_size, y_size), y, epsilon<T> * in);
    check_rectified(s, y, random(out), [&](auto const& bias) {
        close(one_kernel<T>{}(s, {}, rows, 2, x, x_size, w, w_size, y_size, bias), y,
              epsilon<T> * in);
    });
    s.kind = op::matmul_data;
    close(one_kernel<T>{}(s, {}, rows, 2, dy, y_size, w, w_size, x_size), dx, epsilon<T> * out);
    s.kind = op::matmul_weight;
    close(one_kernel<T>{}(s, {}, rows, 2, x, x_size, dy, y_size, w_size), dw, epsilon<T> * rows);
}

// The product of two samples of so many pixels each with a weight that is packed for all of them:
// the same bits.
template <class F>
void check_packed_product(int pixels, int in, int out) {
    CAPTURE(pixels);
    CAPTURE(in);
    CAPTURE(out);
    numbers<F> random;
    cn::ir::extents const x_size{true, pixels, in}, y_size{true, pixels, out};
    auto const x = random(2 * pixels * in), w = random(in * out), bias = random(out);
    cn::ir::kernel_launch s;
    s.kind = op::matmul;
    s.weight = {false, out, in};
    s.flops = std::ptrdiff_t{2} * pixels * in * out;
    auto const product = [&] {
        return one_kernel<F>{}(s, {}, 2, 2, x, x_size, w, s.weight, y_size, bias);
    };
    auto const expected = product();
    s.constant_weight = true;
    REQUIRE(cn::cpu_device<cn::cpu::sum_type<F>, F>::scratch(s, nullptr, {}).prepared > 0);
    CHECK(product() == expected);
}

// Products of three matrices in each of two samples, in every form.
template <class T>
void check_batch(int rows, int depth, int columns) {
    CAPTURE(rows);
    CAPTURE(depth);
    CAPTURE(columns);
    constexpr int samples = 2, batch = 3;
    auto const array = [](int height, int width, bool transposed, bool beside) {
        cn::ir::extents e{true, transposed ? width : height, transposed ? height : width};
        (beside ? e.channels : e.pixels) *= batch;
        return e;
    };
    for (int bits = 0; bits < 32; ++bits) {
        CAPTURE(bits);
        cn::ir::kernel_launch s;
        s.kind = op::batch_matmul;
        s.attribute = batch << 5 | bits;
        auto const form = cn::ir::product_form::unpacked(s.attribute);
        cn::ir::extents const left = array(rows, depth, form.transposed_a, form.beside_a),
                              right = array(depth, columns, form.transposed_b, form.beside_b),
                              result = array(rows, columns, false, form.beside_c);
        numbers<T> random;
        auto const a = random(samples * left.count()), b = random(samples * right.count());
        std::vector<double> c(std::size_t(samples * result.count()));
        auto const m = cn::ir::batched_product_of(form, left, right, result);
        auto const at = [&](cn::ir::batched_matrix const& of, int i, int j) {
            return i * of.row + j * of.column;
        };
        for (int n = 0; n < samples * batch; ++n) {
            int const sample = n / batch, k = n % batch;
            double const* const x = a.data() + sample * left.count() + k * m.a.next;
            double const* const y = b.data() + sample * right.count() + k * m.b.next;
            double* const z = c.data() + sample * result.count() + k * m.c.next;
            for (int i = 0; i < rows; ++i) {
                for (int j = 0; j < columns; ++j) {
                    for (int d = 0; d < depth; ++d) {
                        z[at(m.c, i, j)] += x[at(m.a, i, d)] * y[at(m.b, d, j)];
                    }
                }
            }
        }
        close(one_kernel<T>{}(s, {}, samples, 1, a, left, b, right, result), c, epsilon<T> * depth);
    }
}

// The convolution of one sample against that among others.
template <class T>
void check_alone(cn::ir::window const& w) {
    CAPTURE(w.channels);
    CAPTURE(w.filters);
    constexpr int samples = 9;
    numbers random;
    cn::ir::extents const image{true, w.height * w.width, w.channels};
    cn::ir::extents const result{true, w.out_height * w.out_width, w.filters};
    cn::ir::extents const kernel{false, w.channels * w.kernel_h * w.kernel_w, w.filters};
    auto const x = random(image.count() * samples), weight = random(kernel.count()),
               dy = random(result.count() * samples);
    auto const check_of = [&](op kind, std::vector<double> const& all, cn::ir::extents from,
                              cn::ir::extents to) {
        cn::ir::kernel_launch s;
        s.kind = kind;
        auto const together = one_kernel<T>{}(s, w, samples, 3, all, from, weight, kernel, to);
        for (int i : {0, 4, 8}) {
            auto const first = all.begin() + i * from.count();
            auto const alone = one_kernel<T>{}(s, w, 1, 1, {first, first + from.count()}, from,
                                               weight, kernel, to);
            CHECK(std::equal(alone.begin(), alone.end(), together.begin() + i * to.count()));
        }
    };
    check_of(op::conv, x, image, result);
    check_of(op::conv_data, dy, result, image);
}

// The convolution of one sample on several threads against that on one.
template <class T>
void check_threads(cn::ir::window const& w) {
    CAPTURE(w.channels);
    CAPTURE(w.kernel_h);
    REQUIRE(cn::cpu::conv_work(w, 1) > cn::cpu::worthwhile_flops);
    numbers random;
    cn::ir::extents const image{true, w.height * w.width, w.channels};
    cn::ir::extents const result{true, w.out_height * w.out_width, w.filters};
    cn::ir::extents const kernel{false, w.channels / w.groups * w.kernel_h * w.kernel_w, w.filters};
    auto const x = random(image.count()), weight = random(kernel.count()),
               dy = random(result.count());
    auto const on = [&](int threads, op kind) {
        cn::cpu::set_thread_count(threads);
        cn::ir::kernel_launch s;
        s.kind = kind;
        return kind == op::conv ? one_kernel<T>{}(s, w, 1, 1, x, image, weight, kernel, result)
                                : one_kernel<T>{}(s, w, 1, 1, dy, result, weight, kernel, image);
    };
    int const before = cn::cpu::thread_count();
    for (op const kind : {op::conv, op::conv_data}) {
        auto const alone = on(1, kind);
        for (int const threads : {2, 3, 50}) {
            CHECK(on(threads, kind) == alone);
        }
    }
    cn::cpu::set_thread_count(before);
}

// Rows of a product against those of one with fewer rows, on several threads. (Few rows of a
// gradient by the input have sums of another order than many.)
template <class T>
void check_rows() {
    constexpr int rows = 13, in = 210, out = 530;
    cn::ir::extents const x_size{true, 1, in}, w_size{false, in, out}, y_size{true, 1, out};
    numbers random;
    auto const x = random(rows * in), w = random(in * out), bias = random(out),
               dy = random(rows * out);
    auto const first_gradients = [&](int count) {
        cn::ir::kernel_launch s;
        s.kind = op::matmul_data;
        std::vector<double> const some{dy.begin(), dy.begin() + count * out};
        return one_kernel<T>{}(s, {}, count, 1, some, y_size, w, w_size, x_size);
    };
    auto const first_rows = [&](int count) {
        cn::ir::kernel_launch s;
        s.kind = op::matmul;
        std::vector<double> const some{x.begin(), x.begin() + count * in};
        return one_kernel<T>{}(s, {}, count, 1, some, x_size, w, w_size, y_size, bias);
    };
    auto const all = first_rows(rows), few_gradients = first_gradients(8),
               gradients = first_gradients(rows);
    int const before = cn::cpu::thread_count();
    for (int const threads : {1, 3}) {
        cn::cpu::set_thread_count(threads);
        for (int const count : {1, 2, 3, 8, 9}) {
            auto const some = first_rows(count);
            CHECK(std::equal(some.begin(), some.end(), all.begin()));
        }
        for (int const count : {1, 2, 3, 8}) {
            auto const some = first_gradients(count);
            CHECK(std::equal(some.begin(), some.end(), few_gradients.begin()));
        }
        CHECK(first_gradients(rows) == gradients);
    }
    cn::cpu::set_thread_count(before);
}

} // namespace

TEST_CASE_TEMPLATE("convolution of every number of channels and filters", T, float, double) {
    for (int channels : {1, 2, 3, 5, 8, 17, 33}) {
        for (int filters : {1, 3, 4, 7, 8, 15, 16, 31, 32, 40, 65}) {
            check_convolution<T>(
                cn::make_window(channels, 6, 7, filters, 3, 1, cn::padding2{1}, 1, 1), 3);
        }
    }
}

TEST_CASE_TEMPLATE("convolution of every kernel, stride, padding and dilation", T, float, double) {
    for (cn::size2 kernel : {cn::size2{1}, cn::size2{2}, cn::size2{3}, cn::size2{5, 2}}) {
        for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{3, 1}}) {
            for (cn::padding2 padding : {cn::valid, cn::same, cn::padding2{cn::size2{2, 1}}}) {
                for (cn::size2 dilation : {cn::size2{1}, cn::size2{2}, cn::size2{1, 3}}) {
                    auto const w =
                        cn::make_window(5, 11, 9, 6, kernel, stride, padding, dilation, 1);
                    REQUIRE(w.out_height > 0);
                    check_convolution<T>(w, 2);
                }
            }
        }
    }
}

// More rows than a pass over the weights takes, and parts of the depth and of the filters.
TEST_CASE_TEMPLATE("convolution of deep windows over many pixels", T, float, double) {
    check_convolution<T>(cn::make_window(300, 15, 15, 70, 1, 1, cn::valid, 1, 1), 3);
    check_convolution<T>(cn::make_window(90, 11, 13, 130, 3, 2, cn::same, 1, 1), 2);
}

TEST_CASE_TEMPLATE("convolution of places in the window that meet nothing but padding", T, float,
                   double) {
    for (int const size : {1, 2, 3}) {
        for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{3}, cn::size2{1, 4}}) {
            for (cn::size2 padding : {cn::size2{2}, cn::size2{4}, cn::size2{2, 5}}) {
                for (cn::size2 dilation : {cn::size2{1}, cn::size2{2}, cn::size2{2, 1}}) {
                    for (std::size_t const groups : {1U, 2U, 6U}) {
                        auto const w = cn::make_window(6, size, size, 6, 5, stride,
                                                       cn::padding2{padding}, dilation, groups);
                        if (w.out_height > 0 && w.out_width > 0) {
                            check_convolution<T>(w, 2);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("convolution whose window reaches far beyond the image", T, float, double) {
    for (cn::size2 dilation : {cn::size2{4}, cn::size2{7}, cn::size2{10}, cn::size2{1, 7}}) {
        for (cn::size2 kernel : {cn::size2{3}, cn::size2{5, 3}}) {
            for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{2, 1}}) {
                for (int const extent : {11, 14}) {
                    auto const w = cn::make_window(
                        5, extent, extent + 3, 70, kernel, stride,
                        cn::padding2{cn::size2{kernel.h / 2 * dilation.h, dilation.w}}, dilation,
                        1);
                    check_convolution<T>(w, 2);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("dilated convolution by Winograd's algorithm", T, float, double) {
    for (std::size_t const dilation : {2U, 3U, 6U}) {
        for (int extent : {7, 8, 12, 13, 19}) {
            for (std::size_t const pad : {0U, 1U, 2U}) { // in dilations
                std::size_t const height = std::size_t(extent) + 2 * dilation;
                auto const w = cn::make_window(32, int(height), extent + int(dilation), 48, 3, 1,
                                               cn::padding2{pad * dilation}, dilation, 1);
                if (w.out_height > 0 && w.out_width > 0) {
                    check_convolution<T>(w, 2);
                }
            }
        }
    }
    for (cn::size2 const dilation : {cn::size2{2}, cn::size2{1, 2}, cn::size2{3, 1}}) {
        check_convolution<T>(cn::make_window(192, 9, 11, 192, 3, 1, cn::same, dilation, 1), 2);
    }
}

TEST_CASE_TEMPLATE("convolution of few vectors by Winograd's algorithm", T, float, double) {
    for (int const channels : {12, 16, 17, 24, 31}) {
        for (int const filters : {12, 15, 16, 18, 29}) {
            for (std::size_t const kernel : {3U, 5U}) {
                for (cn::padding2 padding : {cn::padding2{cn::valid}, cn::padding2{cn::same}}) {
                    check_convolution<T>(
                        cn::make_window(channels, 11, 12, filters, kernel, 1, padding, 1, 1), 3);
                }
            }
        }
    }
    check_convolution<T>(cn::make_window(16, 16, 17, 20, 4, 2, 1, 1, 1), 3);
    check_convolution<T>(cn::make_window(20, 11, 9, 16, 3, 1, 2, 2, 1), 2); // dilated
    check_convolution<T>(cn::make_window(13, 11, 9, 14, 3, 1, 2, 2, 1), 2);
    check_convolution<T>(cn::make_window(14, 16, 17, 13, 4, 2, 1, 1, 1), 3);
}

TEST_CASE_TEMPLATE("convolution of larger windows by Winograd's algorithm", T, float, double) {
    for (cn::size2 kernel : {cn::size2{3, 5}, cn::size2{4}, cn::size2{5}, cn::size2{7, 6}}) {
        for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{1, 2}}) {
            for (cn::padding2 padding : {cn::valid, cn::same, cn::padding2{cn::size2{2, 1}}}) {
                check_convolution<T>(cn::make_window(32, 16, 19, 35, kernel, stride, padding, 1, 1),
                                     2);
            }
        }
        check_convolution<T>(cn::make_window(33, 20, 17, 32, kernel, 1, cn::same, 2, 1), 2);
    }
    check_convolution<T>(cn::make_window(40, 24, 24, 36, 7, 3, cn::same, 1, 1), 9, 1);
    check_convolution<T>(cn::make_window(96, 10, 11, 112, 5, 1, cn::same, 1, 1), 3);
    check_convolution<T>(cn::make_window(97, 12, 12, 113, 4, 2, 1, 1, 1), 3);
    check_convolution<T>(cn::make_window(97, 4, 4, 113, 5, 1, cn::same, 1, 1), 3); // few tiles
}

TEST_CASE_TEMPLATE("convolution of few channels in rows of every length", T, float, double) {
    for (int channels : {1, 3, 4}) {
        for (int filters : {1, 3, 6, 8, 16, 20, 33, 64}) {
            check_convolution<T>(cn::make_window(channels, 5, 28, filters, 3, 1, cn::valid, 1, 1),
                                 2);
        }
    }
    for (int width = 12; width < 34; ++width) {
        check_convolution<T>(cn::make_window(1, 4, width, 7, 3, 1, cn::same, 1, 1), 3);
        check_convolution<T>(cn::make_window(3, 3, 2 * width, 18, 2, 2, cn::valid, 1, 1), 2);
    }
    for (int samples : {1, 9, 20}) {
        check_convolution<T>(cn::make_window(1, 16, 14, 5, {5, 3}, 1, cn::same, 1, 1), samples);
        check_convolution<T>(cn::make_window(2, 3, 40, 5, 3, {1, 3}, cn::same, 2, 1), samples);
    }
    check_convolution<T>(cn::make_window(4, 4, 13, 6, 3, 1, cn::same, 1, 2), 2);
    check_convolution<T>(cn::make_window(5, 4, 13, 6, 3, 1, cn::same, 1, 1), 2);
    check_convolution<T>(cn::make_window(1, 2, 13, 3700, {4, 9}, 1, cn::same, 1, 1), 2);
}

TEST_CASE_TEMPLATE("convolution of few filters, or few channels of the gradient", T, float,
                   double) {
    for (int filters = 1; filters < 9; ++filters) {
        for (int channels : {5, 16, 21, 48}) {
            check_convolution<T>(
                cn::make_window(channels, 4, 19, filters, 3, 1, cn::padding2{1}, 1, 1), 2);
        }
        check_convolution<T>(cn::make_window(32, 4, 16, filters, 1, 1, cn::valid, 1, 1), 9);
        check_convolution<T>(cn::make_window(24, 3, 45, filters, {2, 3}, {1, 2}, cn::same, 1, 1),
                             1);
        check_convolution<T>(cn::make_window(20, 7, 22, filters, 3, 1, cn::padding2{3}, 2, 1), 2);
        check_convolution<T>(cn::make_window(filters, 5, 23, 40, 5, 1, cn::padding2{2}, 1, 1), 3);
    }
    check_convolution<T>(cn::make_window(16, 3, 210, 3, 9, 1, cn::same, 1, 1), 1);
    check_convolution<T>(cn::make_window(40, 6, 20, 24, 5, 1, cn::same, 2, 1), 2);
    check_convolution<T>(cn::make_window(114, 3, 30, 20, 3, 1, cn::same, 1, 1),
                         1); // too deep for runs
}

TEST_CASE_TEMPLATE("convolution of few channels, where windows move by more than a pixel", T, float,
                   double) {
    for (int channels : {1, 2, 3, 5, 12, 20}) {
        check_convolution<T>(cn::make_window(channels, 11, 13, 24, 2, 2, cn::valid, 1, 1), 3);
        check_convolution<T>(cn::make_window(channels, 12, 14, 7, 4, 2, cn::padding2{1}, 1, 1), 2);
        check_convolution<T>(cn::make_window(channels, 9, 30, 20, {5, 9}, {1, 3}, cn::same, 1, 1),
                             2);
    }
    check_convolution<T>(cn::make_window(1, 60, 62, 9, 9, 3, cn::padding2{4}, 1, 1), 3); // bands
    check_convolution<T>(cn::make_window(3, 8, 8, 16, 3, 2, cn::padding2{2}, 1, 1), 80, 40);
    check_convolution<T>(cn::make_window(2, 3, 2, 5, 3, 4, cn::padding2{1}, 1, 1), 9);
}

TEST_CASE_TEMPLATE("convolution in groups", T, float, double) {
    for (int groups : {2, 3, 6}) {
        for (int multiple : {1, 2, 3, 4, 5}) {
            check_convolution<T>(
                cn::make_window(6, 5, 6, 6 * multiple, 3, 1, cn::same, 1, std::size_t(groups)), 2);
        }
    }
}

TEST_CASE_TEMPLATE("convolution in groups whose filters do not fill panels", T, float, double) {
    for (int filters : {3, 16, 23, 70}) {
        for (int stride : {1, 2}) {
            check_convolution<T>(
                cn::make_window(3 * 10, 5, 7, 3 * filters, 3, stride, cn::same, 1, 3), 2);
        }
    }
}
TEST_CASE_TEMPLATE("convolution in groups of channels that share a vector", T, float, double) {
    for (int size : {2, 4, 8, 16}) {
        for (int groups : {2, 3, 5, 16}) {
            int const channels = groups * size;
            check_convolution<T>(
                cn::make_window(channels, 6, 13, channels, 3, 1, cn::same, 1, std::size_t(groups)),
                3);
            check_convolution<T>(cn::make_window(channels, 9, 7, channels, {4, 2}, 2, cn::same, 2,
                                                 std::size_t(groups)),
                                 2);
        }
    }
}

TEST_CASE_TEMPLATE("convolution in narrow groups of every kernel, stride, padding and dilation", T,
                   float, double) {
    for (cn::size2 kernel : {cn::size2{2}, cn::size2{1, 5}, cn::size2{3}, cn::size2{4, 3}}) {
        for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{3, 1}, cn::size2{1, 4}}) {
            for (cn::padding2 padding : {cn::valid, cn::same, cn::padding2{cn::size2{3, 1}}}) {
                for (cn::size2 dilation : {cn::size2{1}, cn::size2{2}, cn::size2{1, 3}}) {
                    check_convolution<T>(
                        cn::make_window(6, 20, 23, 9, kernel, stride, padding, dilation, 3), 2);
                }
            }
        }
    }
    for (int channels : {1, 2, 3, 5, 8}) {
        for (int filters : {1, 2, 3, 6, 7, 12}) {
            check_convolution<T>(
                cn::make_window(channels * 5, 11, 13, filters * 5, 3, 1, cn::same, 1, 5), 3);
            check_convolution<T>(
                cn::make_window(channels * 17, 12, 12, filters * 17, {3, 2}, 2, cn::valid, 1, 17),
                2);
        }
    }
    check_convolution<T>(cn::make_window(24, 30, 31, 12, 7, 1, cn::same, 1, 4), 2);
    check_convolution<T>(cn::make_window(24, 30, 31, 12, 5, 2, cn::padding2{2}, 2, 4), 20);
}

TEST_CASE_TEMPLATE("convolution of channels that are a few more than fill vectors", T, float,
                   double) {
    for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{3, 1}}) {
        for (cn::padding2 padding : {cn::valid, cn::same, cn::padding2{cn::size2{3, 1}}}) {
            for (cn::size2 dilation : {cn::size2{1}, cn::size2{2, 1}}) {
                check_convolution<T>(
                    cn::make_window(17, 20, 23, 33, {2, 5}, stride, padding, dilation, 1), 2);
            }
        }
    }
    for (int channels : {9, 12, 17, 20, 33}) {
        for (int filters : {9, 11, 18, 34}) {
            check_convolution<T>(cn::make_window(channels, 19, 31, filters, 3, 1, cn::same, 1, 1),
                                 2);
        }
    }
    check_convolution<T>(cn::make_window(18, 30, 31, 51, 3, 1, cn::same, 1, 1), 9, 1);
}

TEST_CASE_TEMPLATE("depthwise convolution of every number of channels", T, float, double) {
    for (int channels : {2, 3, 4, 7, 8, 9, 16, 17, 24, 31, 33, 48}) {
        for (int multiple : {1, 2, 3}) {
            check_convolution<T>(cn::make_window(channels, 6, 7, multiple * channels, 3, 1,
                                                 cn::same, 1, std::size_t(channels)),
                                 3);
        }
    }
}

TEST_CASE_TEMPLATE("depthwise convolution of every kernel, stride, padding and dilation", T, float,
                   double) {
    for (cn::size2 kernel : {cn::size2{1}, cn::size2{2}, cn::size2{3}, cn::size2{5, 4}}) {
        for (cn::size2 stride : {cn::size2{1}, cn::size2{2}, cn::size2{3, 1}, cn::size2{4, 6}}) {
            for (cn::padding2 padding : {cn::valid, cn::same, cn::padding2{cn::size2{6, 1}}}) {
                for (cn::size2 dilation : {cn::size2{1}, cn::size2{2}, cn::size2{3, 1}}) {
                    auto const w =
                        cn::make_window(18, 13, 19, 18, kernel, stride, padding, dilation, 18);
                    REQUIRE(w.out_height > 0);
                    check_convolution<T>(w, 2);
                }
            }
        }
    }
    check_convolution<T>(cn::make_window(40, 9, 12, 80, 5, 2, cn::same, 2, 40), 10);
    check_convolution<T>(cn::make_window(5, 30, 31, 5, 7, 1, cn::same, 1, 5), 2);
    check_convolution<T>(cn::make_window(3, 4, 200, 3, 3, 1, cn::same, 1, 3), 1);
    check_convolution<T>(cn::make_window(20, 1, 1, 20, 3, 2, cn::same, 1, 20), 3);
    check_convolution<T>(cn::make_window(213, 9, 11, 213, 5, 1, cn::same, 1, 213), 2);
}

TEST_CASE_TEMPLATE("depthwise convolution of windows and rows of every length", T, float, double) {
    for (std::size_t taps : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15}) {
        for (int width : {3, 4, 5, 6, 7, 8, 9, 11, 17}) {
            for (int channels : {16, 21, 40}) {
                std::size_t const least = taps > std::size_t(width) ? taps - std::size_t(width) : 0;
                for (std::size_t padding : {least, taps / 2 + least, taps + 1}) {
                    check_convolution<T>(cn::make_window(channels, 3, width, channels,
                                                         cn::size2{2, taps}, 1,
                                                         cn::padding2{cn::size2{1, padding}}, 1,
                                                         std::size_t(channels)),
                                         2);
                }
            }
        }
    }
    for (std::size_t taps : {56, 57, 64}) {
        check_convolution<T>(cn::make_window(17, 1, 70, 34, cn::size2{1, taps}, 1, cn::same, 1, 17),
                             2);
    }
}

TEST_CASE_TEMPLATE("depthwise convolution of few channels and many columns", T, float, double) {
    for (int channels : {2, 3, 5, 6}) {
        for (int multiple : {1, 2}) {
            for (int width : {20, 37, 53}) {
                for (cn::padding2 padding : {cn::valid, cn::same}) {
                    check_convolution<T>(cn::make_window(channels, 9, width, multiple * channels,
                                                         {3, 4}, {2, 1}, padding, 2,
                                                         std::size_t(channels)),
                                         3);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("convolution of few filters and rows of every length", T, float, double) {
    for (int width : {6, 7, 8, 9, 14, 15, 16, 17, 21, 24, 30, 32, 33, 40}) {
        for (int filters : {1, 8, 9, 16, 20}) {
            check_convolution<T>(cn::make_window(5, 4, width, filters, 3, 1, cn::same, 1, 1), 2);
        }
    }
}

TEST_CASE_TEMPLATE("convolution of one sample, of many, of one pixel", T, float, double) {
    for (int samples : {1, 2, 7, 8, 9, 20}) {
        check_convolution<T>(cn::make_window(3, 4, 4, 5, 3, 1, cn::valid, 1, 1), samples);
        check_convolution<T>(cn::make_window(3, 4, 3, 20, 3, 1, cn::same, 1, 1), 8 * samples, 5);
    }
    check_convolution<T>(cn::make_window(2, 4, 4, 3, 3, 1, cn::valid, 1, 1), 8 * 50, 50);
    check_convolution<T>(cn::make_window(3, 30, 31, 9, 3, 1, cn::same, 1, 1), 2);
    check_convolution<T>(cn::make_window(2, 9, 200, 3, 3, 1, cn::same, 1, 1), 2);
    check_convolution<T>(cn::make_window(3, 1, 1, 5, 1, 1, cn::valid, 1, 1), 4);
    check_convolution<T>(cn::make_window(3, 2, 2, 5, 3, 1, cn::padding2{1}, 1, 1), 4);
    check_convolution<T>(cn::make_window(2, 16, 40, 24, 7, 2, cn::padding2{3}, 1, 1), 3);
}

TEST_CASE_TEMPLATE("convolution of 3x3 with many channels and filters, of every size", T, float,
                   double) {
    for (int padding : {0, 1, 2}) {
        for (cn::size2 size : {cn::size2{8}, cn::size2{7, 10}, cn::size2{11, 9}}) {
            check_convolution<T>(cn::make_window(32, int(size.h), int(size.w), 48, 3, 1,
                                                 cn::padding2{std::size_t(padding)}, 1, 1),
                                 3);
        }
    }
    check_convolution<T>(cn::make_window(32, 14, 14, 32, 3, 1, cn::same, 1, 1), 20);
    check_convolution<T>(cn::make_window(64, 14, 22, 32, 3, 1, cn::valid, 1, 1), 9, 1);
    check_convolution<T>(cn::make_window(48, 8, 9, 320, 3, 1, cn::same, 1, 1), 5);
    check_convolution<T>(cn::make_window(128, 10, 10, 128, 3, 1, cn::same, 1, 1), 3);
    for (int channels : {33, 40, 72}) {
        for (int filters : {36, 63, 65}) {
            check_convolution<T>(cn::make_window(channels, 8, 9, filters, 3, 1, cn::same, 1, 1), 3);
        }
    }
    check_convolution<T>(cn::make_window(190, 8, 9, 180, 3, 1, cn::same, 1, 1), 3);
}

TEST_CASE_TEMPLATE("convolution of so many weights that chunks share their gradient", T, float,
                   double) {
    check_convolution<T>(cn::make_window(130, 4, 5, 120, 3, 1, cn::same, 1, 1), 3);
    check_convolution<T>(cn::make_window(260, 3, 3, 240, 3, 1, cn::valid, 1, 2), 2);
}

TEST_CASE_TEMPLATE("a sample's convolution does not depend on the samples beside it", T, float,
                   double) {
    check_alone<T>(cn::make_window(1, 14, 14, 24, 3, 1, cn::valid, 1, 1));
    check_alone<T>(cn::make_window(24, 7, 6, 40, 3, 2, cn::same, 1, 1));
    check_alone<T>(cn::make_window(40, 7, 20, 3, 3, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(3, 7, 20, 40, 5, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(3, 20, 22, 40, 4, 2, cn::same, 1, 1));
    check_alone<T>(cn::make_window(32, 4, 4, 64, 3, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(128, 4, 4, 32, 3, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(64, 8, 8, 1024, 3, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(36, 8, 8, 52, 3, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(32, 8, 8, 36, 5, 1, cn::same, 1, 1));
    check_alone<T>(cn::make_window(96, 8, 8, 112, 4, 2, 1, 1, 1));
    check_alone<T>(cn::make_window(17, 31, 31, 33, 5, 1, 2, 1, 1));
}

TEST_CASE_TEMPLATE("threads share the convolution of one sample and change no bit of it", T, float,
                   double) {
    check_threads<T>(cn::make_window(48, 13, 12, 96, 1, 1, cn::valid, 1, 1));
    check_threads<T>(cn::make_window(130, 27, 26, 70, 1, 2, cn::valid, 1, 1));
    check_threads<T>(cn::make_window(24, 24, 21, 24, 3, 1, cn::same, 1, 24));
    check_threads<T>(cn::make_window(20, 41, 40, 40, 5, 2, cn::same, 1, 20));
    check_threads<T>(cn::make_window(40, 23, 22, 40, 3, 2, cn::same, 1, 10));
    check_threads<T>(cn::make_window(40, 33, 32, 60, 5, 1, cn::same, 1, 20)); // in planes
    check_threads<T>(cn::make_window(60, 33, 32, 40, 5, 2, cn::same, 1, 20));
    check_threads<T>(cn::make_window(6, 33, 62, 6, 3, 1, cn::same, 1, 6)); // of joined columns
    check_threads<T>(cn::make_window(14, 19, 17, 40, 3, 1, 1, 1, 1));      // padded rows
    check_threads<T>(cn::make_window(72, 7, 7, 150, 3, 2, 1, 1, 1));   // more weights than pixels
    check_threads<T>(cn::make_window(3, 33, 31, 20, 3, 1, 1, 1, 1));   // few channels
    check_threads<T>(cn::make_window(20, 33, 31, 3, 3, 1, 1, 1, 1));   // few filters
    check_threads<T>(cn::make_window(3, 64, 66, 20, 4, 2, 1, 1, 1));   // by all places
    check_threads<T>(cn::make_window(48, 23, 21, 32, 3, 1, 1, 1, 1));  // by Winograd's algorithm
    check_threads<T>(cn::make_window(192, 11, 9, 192, 3, 1, 1, 1, 1)); // with many weights
    check_threads<T>(cn::make_window(48, 23, 21, 32, 3, 1, cn::same, 3, 1));
    check_threads<T>(cn::make_window(36, 23, 21, 52, 3, 1, 1, 1, 1)); // in part of a vector
    check_threads<T>(cn::make_window(17, 23, 21, 16, 3, 1, 1, 1, 1)); // in little more than one
    check_threads<T>(cn::make_window(13, 23, 21, 12, 3, 1, 1, 1, 1)); // in less than one
    check_threads<T>(cn::make_window(11, 31, 31, 33, 5, 1, 2, 1, 1)); // in planes of all channels
    check_threads<T>(cn::make_window(18, 63, 32, 20, 3, {2, 1}, 1, 1, 1));
    check_threads<T>(cn::make_window(32, 19, 21, 36, 5, 1, 2, 1, 1)); // larger windows
    check_threads<T>(cn::make_window(96, 22, 20, 112, 4, 2, 1, 1, 1));
}

TEST_CASE_TEMPLATE("products of every size", T, float, double) {
    for (int rows : {1, 2, 5, 6, 7, 32}) {
        for (int in : {1, 3, 16, 33}) {
            for (int out : {1, 7, 8, 16, 24, 31, 32, 49, 64, 100}) {
                check_product<T>(rows, in, out);
            }
        }
    }
}

TEST_CASE_TEMPLATE("products of few columns", T, float, double) {
    for (int rows : {12, 14, 15, 57, 128}) {
        for (int in : {2, 16, 17, 64, 600, 1030}) {
            for (int out : {1, 2, 3, 4, 7, 8, 10, 15, 16}) {
                check_product<T>(rows, in, out);
            }
        }
    }
    check_product<T>(300, 70, 10);
}

TEST_CASE_TEMPLATE("products of a weight that is packed", F, float, double, bfloat16_pair) {
    for (int pixels : {16, 77, 150}) {
        check_packed_product<F>(pixels, 70, 97);
        check_packed_product<F>(pixels, 300, 128);
    }
    check_packed_product<F>(16, 129, 1031);
}

TEST_CASE_TEMPLATE("products of few rows", T, float, double) {
    for (int rows : {1, 3, 8, 9}) {
        check_product<T>(rows, 9, 130);
        check_product<T>(rows, 300, 71);
    }
    check_product<T>(2, 5, 4100);
    check_product<T>(13, 700, 410); // of a weight that an L2 cache does not hold
    for (int rows : {1, 2, 3, 4, 7, 8, 24}) {
        check_product<T>(rows, 15, 301); // by the input: fewer columns than a tile
        check_product<T>(rows, 77, 300);
    }
    check_product<T>(5, 1030, 2050); // of a weight that is fetched
}

TEST_CASE_TEMPLATE("a row of a product depends neither on other rows nor on threads", T, float,
                   double) {
    check_rows<T>();
}

TEST_CASE_TEMPLATE("products of the matrices of a batch", T, float, double) {
    for (int rows : {1, 6, 33, 70}) {
        for (int depth : {1, 16, 40}) {
            for (int columns : {1, 8, 33, 65}) {
                check_batch<T>(rows, depth, columns);
            }
        }
    }
    check_batch<T>(40, 700, 20);
}

TEST_CASE("convolutions of factors in bfloat16") {
    for (int kernel : {1, 2, 3, 5}) {
        for (int stride : {1, 2, 3}) {
            for (cn::size2 size : {cn::size2{8, 7}, cn::size2{7, 10}}) {
                check_convolution<bfloat16_pair>(
                    cn::make_window(34, int(size.h), int(size.w), 40, std::size_t(kernel),
                                    std::size_t(stride), cn::padding2{std::size_t(kernel / 2)}, 1,
                                    1),
                    3);
            }
        }
    }
    check_convolution<bfloat16_pair>(cn::make_window(32, 13, 9, 70, 3, 1, cn::valid, 2, 1), 3);
    check_convolution<bfloat16_pair>(cn::make_window(128, 9, 9, 72, 3, 2, cn::same, 1, 2), 9);
    check_convolution<bfloat16_pair>(cn::make_window(66, 4, 4, 130, 1, 1, cn::valid, 1, 1), 50, 9);
    check_convolution<bfloat16_pair>(cn::make_window(32, 2, 200, 32, 1, 1, cn::valid, 1, 1), 2);
    check_convolution<bfloat16_pair>(cn::make_window(130, 4, 5, 120, 3, 1, cn::same, 1, 1), 3);
    check_convolution<bfloat16_pair>(cn::make_window(33, 5, 5, 64, 3, 1, cn::same, 1, 1), 3);
    check_convolution<bfloat16_pair>(cn::make_window(3, 12, 14, 64, 3, 1, cn::same, 1, 1), 3);
}

TEST_CASE("convolutions of 3x3 with factors in bfloat16") {
    for (int padding : {0, 1, 2}) {
        for (cn::size2 size : {cn::size2{8}, cn::size2{7, 10}, cn::size2{11, 9}}) {
            check_convolution<bfloat16_pair>(cn::make_window(32, int(size.h), int(size.w), 64, 3, 1,
                                                             cn::padding2{std::size_t(padding)}, 1,
                                                             1),
                                             3);
        }
    }
    check_convolution<bfloat16_pair>(cn::make_window(48, 8, 9, 32, 3, 1, cn::same, 1, 1), 5);
    check_convolution<bfloat16_pair>(cn::make_window(64, 7, 9, 96, 3, 1, cn::same, 1, 1), 9, 1);
    check_convolution<bfloat16_pair>(cn::make_window(256, 5, 5, 288, 3, 1, cn::same, 1, 1), 3);
}

TEST_CASE("neither threads nor other samples change factors in bfloat16") {
    for (auto const& w : {cn::make_window(34, 9, 10, 40, 1, 1, cn::valid, 1, 1),
                          cn::make_window(40, 23, 22, 40, 3, 2, cn::same, 1, 1),
                          cn::make_window(72, 7, 7, 150, 3, 2, 1, 1, 1),
                          cn::make_window(64, 23, 21, 32, 3, 1, 1, 1, 1),
                          cn::make_window(256, 9, 9, 320, 3, 1, 1, 1, 1)}) {
        check_alone<bfloat16_pair>(w);
        check_threads<bfloat16_pair>(w);
    }
    check_rows<bfloat16_pair>();
}

TEST_CASE("products of factors in bfloat16") {
    for (int rows : {1, 2, 7, 8, 9, 50, 150}) {
        for (int in : {31, 32, 77}) {
            for (int out : {32, 49, 64, 100, 131}) {
                check_product<bfloat16_pair>(rows, in, out);
            }
        }
    }
    check_product<bfloat16_pair>(3, 601, 71);
    check_product<bfloat16_pair>(13, 600, 130);
    check_product<bfloat16_pair>(301, 40, 40);
    check_batch<bfloat16_pair>(33, 40, 65);
    check_batch<bfloat16_pair>(49, 301, 32);
}
