// Convolutions and products of dense layers on the GPU against the plainest loops on the CPU in
// double, over many sizes.
#include <castnet/core/philox.hpp>
#include <castnet/device/cuda/device.hpp>
#include <castnet/device/cuda/prepare.hpp>
#include <castnet/device/cuda/stream.hpp>
#include <castnet/nn/window.hpp>

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <type_traits>
#include <vector>

namespace cn = castnet;
using cn::op;
using cn::cuda::product_precision;
using numbers = std::vector<double>;

namespace {

// In [-1, 1), exact in float.
numbers random_numbers(std::ptrdiff_t count, std::uint64_t seed) {
    numbers x;
    for (std::uint32_t i = 0; std::ptrdiff_t(x.size()) < count; ++i) {
        x.push_back(double(cn::philox({i, 0, 0, 0}, cn::key_of(seed)).x0 >> 12) / 524288 - 1);
    }
    return x;
}

// One step on the GPU: runs it on two operands, and a bias if it has an epilogue, and gives its
// result; of a bias's gradient, what was there before takes the place of the bias.
template <class T>
class one_step {
public:
    one_step(cn::ir::kernel_launch s, cn::ir::window const& w, std::ptrdiff_t samples,
             numbers const& a, cn::ir::extents a_size, numbers const& b, cn::ir::extents b_size,
             cn::ir::extents result, product_precision precision = {}, numbers const& bias = {})
        : step_{s}, window_{w} {
        step_.window = 0;
        step_.arrays = s.end.bias ? 4 : 2;
        step_.output = step_.arrays;
        step_.results = s.end.bias_gradient ? 2 : 1;
        numbers const unwritten(std::size_t(result.count() * (result.sample ? samples : 1)),
                                std::numeric_limits<double>::quiet_NaN());
        place(0, a, a_size);
        place(1, b, b_size);
        place(3, bias, {false, 1, int(bias.size())});
        place(2, unwritten, result);
        arrays_[4] = arrays_[2];
        memory_ = cn::cuda::memory{content_.size() * sizeof(T)};
        CASTNET_CUDA(cudaMemcpyAsync(memory_.as<T>(), content_.data(), content_.size() * sizeof(T),
                                     cudaMemcpyHostToDevice, stream_.get()));
        context_.region[int(cn::ir::region::workspace)] = memory_.as<T>();
        context_.samples = samples;
        context_.stream = stream_.get();
        context_.library = &libraries_;
        context_.precision = precision;
    }

    void run() {
        cn::ir::launch_tables const tables{arrays_, nullptr, &window_};
        switch (step_.kind) {
        case op::conv:
            return cn::cuda::conv(step_, tables, context_);
        case op::conv_data:
            return cn::cuda::conv_data(step_, tables, context_);
        case op::conv_weight:
            return cn::cuda::conv_weight(step_, tables, context_);
        default:
            return cn::cuda::multiply(step_, tables, context_);
        }
    }

    // Whether the library does the epilogue.
    bool finishes() {
        cn::ir::launch_tables const tables{arrays_, nullptr, &window_};
        return cn::cuda_device<T>::finishes(step_, tables, context_);
    }

    numbers result() const { return read(arrays_[2], count_); }
    numbers bias_gradient() const { return read(arrays_[3], std::size_t(arrays_[3].size.count())); }

    void forget_result() {
        CASTNET_CUDA(cudaMemsetAsync(memory_.as<T>(arrays_[2].offset), 0xff, count_ * sizeof(T),
                                     stream_.get()));
    }
    cn::cuda::stream const& stream() const { return stream_; }

private:
    numbers read(cn::ir::array_ref const& from, std::size_t count) const {
        std::vector<T> found(count);
        CASTNET_CUDA(cudaMemcpyAsync(found.data(), memory_.as<T>(from.offset), count * sizeof(T),
                                     cudaMemcpyDeviceToHost, stream_.get()));
        stream_.wait();
        return {found.begin(), found.end()};
    }
    void place(int i, numbers const& values, cn::ir::extents size) {
        arrays_[i] = {cn::ir::region::workspace, std::ptrdiff_t(content_.size()), size};
        for (double const x : values) {
            content_.push_back(static_cast<T>(x));
        }
        count_ = values.size();
        constexpr std::size_t line = cn::cuda::alignment_bytes / sizeof(T);
        content_.resize((content_.size() + line - 1) / line * line);
    }

    cn::ir::kernel_launch step_;
    cn::ir::window window_;
    cn::ir::array_ref arrays_[5]; // the factors, the result, the bias or its gradient, the result
    std::vector<T> content_;
    std::size_t count_ = 0; // of the result
    cn::cuda::memory memory_;
    cn::cuda::stream stream_;
    cn::cuda::libraries libraries_{stream_};
    cn::cuda::context<T> context_;
};

// Sums of up to `terms` products of numbers below 1.
template <class T>
double tolerance(product_precision precision, double terms) {
    double const factor = std::is_same_v<T, double>              ? 1e-15
                          : precision == product_precision::tf32 ? 1e-3
                                                                 : 1e-6;
    return 8 * factor * std::sqrt(terms) + (std::is_same_v<T, double> ? 1e-13 : 1e-5);
}

void close(numbers const& found, numbers const& expected, double tolerance) {
    REQUIRE(found.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double const d = std::fabs(found[i] - expected[i]);
        worst = d <= worst ? worst : std::isnan(d) ? 1e300 : d;
    }
    CHECK(worst <= tolerance);
}

// x (samples, pixels, channels), weight in the order of the device, y (samples, pixels, filters).
struct convolution {
    cn::ir::window w;
    int samples;

    cn::ir::extents x_size() const { return {true, w.height * w.width, w.channels}; }
    cn::ir::extents y_size() const { return {true, w.out_height * w.out_width, w.filters}; }
    cn::ir::extents weight_size() const {
        return {false, 1, w.filters * (w.channels / w.groups) * w.kernel_h * w.kernel_w};
    }

    // Calls visit(place in x, place in weight, place in y) for every product.
    template <class Visit>
    void each(Visit visit) const {
        cn::parameter p;
        p.kind = cn::role::conv_weight;
        int const channels = w.channels / w.groups, filters = w.filters / w.groups;
        p.shape = {4, {w.filters, channels, w.kernel_h, w.kernel_w}};
        auto const one_sample = [&](int n, int f, int c, int u, int v) {
            int const logical = ((f * channels + c) * w.kernel_h + u) * w.kernel_w + v;
            auto const weight = cn::cuda::place_in_parameter(logical, p);
            for (int i = 0; i < w.out_height; ++i) {
                for (int j = 0; j < w.out_width; ++j) {
                    int const row = i * w.stride_h - w.pad_top + u * w.dilation_h;
                    int const column = j * w.stride_w - w.pad_left + v * w.dilation_w;
                    if (row >= 0 && row < w.height && column >= 0 && column < w.width) {
                        visit(std::size_t(((n * w.height + row) * w.width + column) * w.channels +
                                          f / filters * channels + c),
                              std::size_t(weight),
                              std::size_t(((n * w.out_height + i) * w.out_width + j) * w.filters +
                                          f));
                    }
                }
            }
        };
        for (int n = 0; n < samples; ++n) {
            for (int f = 0; f < w.filters; ++f) {
                for (int c = 0; c < channels; ++c) {
                    for (int tap = 0; tap < w.kernel_h * w.kernel_w; ++tap) {
                        one_sample(n, f, c, tap / w.kernel_w, tap % w.kernel_w);
                    }
                }
            }
        }
    }
};

template <class T>
void check_convolution(convolution const& c, product_precision precision = {}) {
    cn::ir::window const& w = c.w;
    CAPTURE(w.channels);
    CAPTURE(w.filters);
    CAPTURE(w.groups);
    CAPTURE(w.stride_h);
    auto const x = random_numbers(c.x_size().count() * c.samples, 1);
    auto const weight = random_numbers(c.weight_size().count(), 2);
    auto const dy = random_numbers(c.y_size().count() * c.samples, 3);
    numbers y(dy.size()), dx(x.size()), dw(weight.size());
    c.each([&](std::size_t in, std::size_t tap, std::size_t out) {
        y[out] += x[in] * weight[tap];
        dx[in] += dy[out] * weight[tap];
        dw[tap] += dy[out] * x[in];
    });
    double const taps = double(w.kernel_h * w.kernel_w);
    cn::ir::kernel_launch s;
    s.kind = op::conv;
    one_step<T> forward{s,          w,        c.samples, x, c.x_size(), weight, c.weight_size(),
                        c.y_size(), precision};
    forward.run();
    close(forward.result(), y, tolerance<T>(precision, taps * w.channels / w.groups));
    s.kind = op::conv_data;
    one_step<T> data{s,          w,        c.samples, dy, c.y_size(), weight, c.weight_size(),
                     c.x_size(), precision};
    data.run();
    close(data.result(), dx, tolerance<T>(precision, taps * w.filters / w.groups));
    s.kind = op::conv_weight;
    one_step<T> gradient{s,  w,          c.samples,       x,        c.x_size(),
                         dy, c.y_size(), c.weight_size(), precision};
    gradient.run();
    close(gradient.result(), dw,
          tolerance<T>(precision, double(c.samples) * w.out_height * w.out_width));
}

struct product {
    int samples, pixels, features, units;
};

template <class T>
void check_product(product const& p, product_precision precision = {}) {
    CAPTURE(p.samples);
    CAPTURE(p.pixels);
    CAPTURE(p.features);
    CAPTURE(p.units);
    int const rows = p.samples * p.pixels;
    cn::ir::extents const x_size{true, p.pixels, p.features}, y_size{true, p.pixels, p.units};
    cn::ir::extents const w_size{false, 1, p.features * p.units};
    auto const x = random_numbers(rows * p.features, 1);
    auto const weight = random_numbers(p.features * p.units, 2); // (features, units)
    auto const dy = random_numbers(rows * p.units, 3);
    numbers y(dy.size()), dx(x.size()), dw(weight.size());
    for (std::size_t r = 0; r < std::size_t(rows); ++r) {
        for (std::size_t i = 0; i < std::size_t(p.features); ++i) {
            for (std::size_t o = 0; o < std::size_t(p.units); ++o) {
                std::size_t const in = r * std::size_t(p.features) + i;
                std::size_t const tap = i * std::size_t(p.units) + o;
                std::size_t const out = r * std::size_t(p.units) + o;
                y[out] += x[in] * weight[tap];
                dx[in] += dy[out] * weight[tap];
                dw[tap] += dy[out] * x[in];
            }
        }
    }
    cn::ir::kernel_launch s;
    s.kind = op::matmul;
    one_step<T> forward{s, {}, p.samples, x, x_size, weight, w_size, y_size, precision};
    forward.run();
    close(forward.result(), y, tolerance<T>(precision, p.features));
    s.kind = op::matmul_data;
    one_step<T> data{s, {}, p.samples, dy, y_size, weight, w_size, x_size, precision};
    data.run();
    close(data.result(), dx, tolerance<T>(precision, p.units));
    s.kind = op::matmul_weight;
    one_step<T> gradient{s, {}, p.samples, x, x_size, dy, y_size, w_size, precision};
    gradient.run();
    close(gradient.result(), dw, tolerance<T>(precision, rows));
}

double finished(cn::ir::epilogue const& e, double x) {
    return !e.activates                   ? x
           : e.activation == cn::fn::relu ? std::max(x, 0.0)
                                          : cn::function<cn::fn::gelu_tanh>::value(x);
}

// With their epilogue in the library's kernel; or without, where the library has none.
template <class T>
void check_epilogue(one_step<T>& step, cn::ir::epilogue const& e, numbers products,
                    numbers const& bias, double tolerance) {
    bool const done = step.finishes();
    WARN(done);
    for (std::size_t i = 0; i < products.size() && done; ++i) {
        products[i] = finished(e, products[i] + bias[i % bias.size()]);
    }
    step.run();
    close(step.result(), products, tolerance);
}

template <class T>
void check_epilogues(convolution const& c, product_precision precision = {}) {
    cn::ir::window const& w = c.w;
    CAPTURE(w.channels);
    CAPTURE(w.filters);
    auto const x = random_numbers(c.x_size().count() * c.samples, 1);
    auto const weight = random_numbers(c.weight_size().count(), 2);
    auto const bias = random_numbers(w.filters, 3);
    numbers y(std::size_t(c.y_size().count() * c.samples));
    c.each(
        [&](std::size_t in, std::size_t tap, std::size_t out) { y[out] += x[in] * weight[tap]; });
    for (cn::ir::epilogue const e :
         {cn::ir::epilogue{true}, cn::ir::epilogue{true, true, cn::fn::relu}}) {
        cn::ir::kernel_launch s;
        s.kind = op::conv;
        s.end = e;
        one_step<T> step{s,          w,         c.samples, x, c.x_size(), weight, c.weight_size(),
                         c.y_size(), precision, bias};
        check_epilogue(
            step, e, y, bias,
            tolerance<T>(precision, double(w.kernel_h * w.kernel_w) * w.channels / w.groups));
    }
}

template <class T>
void check_epilogues(product const& p, product_precision precision = {}) {
    CAPTURE(p.features);
    CAPTURE(p.units);
    int const rows = p.samples * p.pixels;
    cn::ir::extents const x_size{true, p.pixels, p.features}, y_size{true, p.pixels, p.units};
    auto const x = random_numbers(rows * p.features, 1);
    auto const weight = random_numbers(p.features * p.units, 2);
    auto const bias = random_numbers(p.units, 3);
    auto const [features, units] = std::pair{std::size_t(p.features), std::size_t(p.units)};
    numbers y(std::size_t(rows) * units);
    for (std::size_t o = 0; o < y.size(); ++o) {
        for (std::size_t i = 0; i < features; ++i) {
            y[o] += x[o / units * features + i] * weight[i * units + o % units];
        }
    }
    for (cn::ir::epilogue const e :
         {cn::ir::epilogue{true}, cn::ir::epilogue{true, true, cn::fn::relu},
          cn::ir::epilogue{true, true, cn::fn::gelu_tanh}}) {
        cn::ir::kernel_launch s;
        s.kind = op::matmul;
        s.end = e;
        one_step<T> step{
            s,      {},        p.samples, x, x_size, weight, {false, 1, p.features * p.units},
            y_size, precision, bias};
        check_epilogue(step, e, y, bias, tolerance<T>(precision, p.features));
    }
}

// The gradient of a weight, and that of the bias by the same kernel, where the library has one.
template <class T>
void check_bias_gradient(product const& p, product_precision precision) {
    CAPTURE(p.features);
    CAPTURE(p.units);
    int const rows = p.samples * p.pixels;
    auto const x = random_numbers(rows * p.features, 1), dy = random_numbers(rows * p.units, 2);
    auto const [features, units] = std::pair{std::size_t(p.features), std::size_t(p.units)};
    numbers dw(features * units), db(units);
    for (std::size_t o = 0; o < dy.size(); ++o) {
        db[o % units] += dy[o];
        for (std::size_t i = 0; i < features; ++i) {
            dw[i * units + o % units] += x[o / units * features + i] * dy[o];
        }
    }
    cn::ir::kernel_launch s;
    s.kind = op::matmul_weight;
    s.end.bias_gradient = true;
    numbers const unwritten(units, std::numeric_limits<double>::quiet_NaN());
    one_step<T> step{s,
                     {},
                     p.samples,
                     x,
                     {true, p.pixels, p.features},
                     dy,
                     {true, p.pixels, p.units},
                     {false, 1, p.features * p.units},
                     precision,
                     unwritten};
    bool const done = step.finishes();
    WARN(done);
    step.run();
    close(step.result(), dw, tolerance<T>(precision, rows));
    if (done) {
        close(step.bias_gradient(), db, tolerance<T>(precision, rows));
    }
}

std::vector<convolution> convolutions() {
    using cn::make_window, cn::same, cn::size2, cn::valid;
    return {
        {make_window(1, 28, 28, 32, 3, 1, valid, 1, 1), 5},  // one channel
        {make_window(2, 13, 11, 16, 5, 2, 2, 1, 1), 3},      // two of them
        {make_window(3, 17, 15, 8, 7, 2, 3, 1, 1), 3},       // the first layer of ResNet
        {make_window(32, 13, 13, 64, 3, 1, valid, 1, 1), 9}, // the second of the ConvNet
        {make_window(13, 7, 6, 17, 3, 1, same, 1, 1), 4},    // odd numbers
        {make_window(5, 9, 11, 7, size2{2, 3}, size2{3, 2}, 1, 1, 1), 3}, // nothing is square
        {make_window(8, 12, 10, 12, 3, 2, same, 1, 1), 2},   // padding below and on the right only
        {make_window(8, 14, 14, 16, 3, 1, same, 2, 1), 2},   // dilation
        {make_window(8, 9, 9, 12, 3, 1, same, 1, 4), 3},     // groups
        {make_window(16, 10, 10, 16, 3, 2, same, 1, 16), 2}, // a group for each channel
        {make_window(24, 6, 6, 40, 1, 1, valid, 1, 1), 1},   // single pixels, one sample
    };
}

std::vector<product> products() {
    return {{1, 1, 1, 1},     {7, 1, 13, 16},  {128, 1, 16, 32},   {128, 1, 32, 1},
            {9, 1, 784, 100}, {33, 1, 65, 31}, {128, 1, 512, 512}, {5, 7, 12, 20}};
}

} // namespace

TEST_CASE("convolutions in float") {
    for (auto const& c : convolutions()) {
        check_convolution<float>(c);
    }
}
TEST_CASE("convolutions in TF32") {
    for (auto const& c : convolutions()) {
        check_convolution<float>(c, product_precision::tf32);
    }
}
TEST_CASE("convolutions in double") {
    for (auto const& c : convolutions()) {
        check_convolution<double>(c);
    }
}
TEST_CASE("products in float") {
    for (auto const& p : products()) {
        check_product<float>(p);
    }
}
TEST_CASE("products in TF32") {
    for (auto const& p : products()) {
        check_product<float>(p, product_precision::tf32);
    }
}
TEST_CASE("products in double") {
    for (auto const& p : products()) {
        check_product<double>(p);
    }
}

TEST_CASE("biases and activations behind convolutions") {
    for (auto const& c : convolutions()) {
        check_epilogues<float>(c);
        check_epilogues<float>(c, product_precision::tf32);
    }
}
TEST_CASE("biases and activations behind products") {
    for (auto const& p : products()) {
        check_epilogues<float>(p);
        check_epilogues<float>(p, product_precision::tf32);
    }
}

TEST_CASE("gradients of biases beside those of weights") {
    for (auto const& p : products()) {
        check_bias_gradient<float>(p, product_precision::full);
        check_bias_gradient<float>(p, product_precision::tf32);
    }
}

// What a step does eagerly and what a captured graph does, as often as it runs, is the same.
TEST_CASE("a captured step repeats the same bits") {
    convolution const c{cn::make_window(32, 13, 13, 64, 3, 1, cn::valid, 1, 1), 64};
    for (op const kind : {op::conv, op::conv_data, op::conv_weight}) {
        cn::ir::kernel_launch s;
        s.kind = kind;
        cn::ir::extents const x = c.x_size(), y = c.y_size(), w = c.weight_size();
        cn::ir::extents const sizes[] = {kind == op::conv_data ? y : x,
                                         kind == op::conv_weight ? y : w,
                                         kind == op::conv        ? y
                                         : kind == op::conv_data ? x
                                                                 : w};
        auto const operand = [&](int i) {
            return random_numbers(sizes[i].count() * (sizes[i].sample ? c.samples : 1),
                                  std::uint64_t(i));
        };
        one_step<float> step{s,        c.w,        c.samples, operand(0),
                             sizes[0], operand(1), sizes[1],  sizes[2]};
        step.run();
        numbers const eager = step.result();
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        CASTNET_CUDA(cudaStreamBeginCapture(step.stream().get(), cudaStreamCaptureModeThreadLocal));
        step.run();
        CASTNET_CUDA(cudaStreamEndCapture(step.stream().get(), &graph));
        CASTNET_CUDA(cudaGraphInstantiate(&executable, graph, 0));
        for (int i = 0; i < 3; ++i) {
            step.forget_result();
            CASTNET_CUDA(cudaGraphLaunch(executable, step.stream().get()));
            CHECK(step.result() == eager);
        }
        CASTNET_CUDA(cudaGraphExecDestroy(executable));
        CASTNET_CUDA(cudaGraphDestroy(graph));
    }
}
