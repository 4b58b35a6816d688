// A device that runs castnet's own CUDA kernels on the host (simt.hpp), and plain loops for
// products and convolutions, which are cuBLASLt's and cuDNN's on a GPU.
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/layout.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/sample_order.hpp>
#include <castnet/plan/penalties.hpp>

#include "simt.hpp"

namespace simt {

template <class T>
struct context {
    using value_type = T;

    T* region[4]{};
    std::ptrdiff_t samples = 0;
    castnet::philox_key key{};
    std::uint32_t step = 0; // for device::run()
    std::uint32_t first_sample = 0;
    castnet::cuda::step_values const* now = nullptr;

    T* at(castnet::array_ref const& r) const {
        return region[static_cast<int>(r.where)] + r.offset;
    }

    template <class Body>
    void launch(castnet::cuda::grid const& g, Body const& body) const {
        simt::launch(g, body);
    }
};

// Calls each(x place, weight place, y place) for every product of a dense layer.
template <class F>
void each_product(std::ptrdiff_t rows, std::ptrdiff_t in, std::ptrdiff_t out, F const& each) {
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
        for (std::ptrdiff_t i = 0; i < in; ++i) {
            for (std::ptrdiff_t o = 0; o < out; ++o) {
                each(r * in + i, i * out + o, r * out + o);
            }
        }
    }
}
template <class T>
void matmul(castnet::step const& s, castnet::step_tables const& t, context<T> const& c) {
    auto const &a = t.arrays[s.first_array], &to = t.arrays[s.output];
    T const *const x = c.at(a), *const w = c.at(t.arrays[s.first_array + 1]);
    T* const y = c.at(to);
    std::ptrdiff_t const rows = c.samples * a.size.pixels;
    std::fill_n(y, rows * to.size.channels, T(0));
    each_product(rows, a.size.channels, to.size.channels,
                 [&](auto i, auto k, auto o) { y[o] += x[i] * w[k]; });
}
template <class T>
void matmul_data(castnet::step const& s, castnet::step_tables const& t, context<T> const& c) {
    auto const &g = t.arrays[s.first_array], &to = t.arrays[s.output];
    T const *const dy = c.at(g), *const w = c.at(t.arrays[s.first_array + 1]);
    T* const dx = c.at(to);
    std::ptrdiff_t const rows = c.samples * g.size.pixels;
    std::fill_n(dx, rows * to.size.channels, T(0));
    each_product(rows, to.size.channels, g.size.channels,
                 [&](auto i, auto k, auto o) { dx[i] += dy[o] * w[k]; });
}
template <class T>
void matmul_weight(castnet::step const& s, castnet::step_tables const& t, context<T> const& c) {
    auto const &a = t.arrays[s.first_array], &g = t.arrays[s.first_array + 1];
    T const *const x = c.at(a), *const dy = c.at(g);
    T* const dw = c.at(t.arrays[s.output]);
    std::fill_n(dw, std::ptrdiff_t{a.size.channels} * g.size.channels, T(0));
    each_product(c.samples * a.size.pixels, a.size.channels, g.size.channels,
                 [&](auto i, auto k, auto o) { dw[k] += x[i] * dy[o]; });
}

// The same for a convolution, with weights as (filters, height, width, channels of the group).
template <class F>
void each_product(castnet::window const& w, std::ptrdiff_t samples, F const& each) {
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    auto const taps = [&](std::ptrdiff_t n, int row, int column, int f) {
        std::ptrdiff_t const y = ((n * w.out_height + row) * w.out_width + column) * w.filters + f;
        for (int u = 0; u < w.kernel_h; ++u) {
            for (int v = 0; v < w.kernel_w; ++v) {
                int const r = row * w.stride_h - w.pad_top + u * w.dilation;
                int const q = column * w.stride_w - w.pad_left + v * w.dilation;
                for (int c = 0; c < channels && r >= 0 && r < w.height && q >= 0 && q < w.width;
                     ++c) {
                    each(((n * w.height + r) * w.width + q) * w.channels + f / filters * channels +
                             c,
                         ((std::ptrdiff_t{f} * w.kernel_h + u) * w.kernel_w + v) * channels + c, y);
                }
            }
        }
    };
    for (std::ptrdiff_t n = 0; n < samples; ++n) {
        for (int row = 0; row < w.out_height; ++row) {
            for (int column = 0; column < w.out_width; ++column) {
                for (int f = 0; f < w.filters; ++f) {
                    taps(n, row, column, f);
                }
            }
        }
    }
}
template <class T>
void conv(castnet::step const& s, castnet::step_tables const& t, context<T> const& c) {
    castnet::window const& w = t.windows[s.window];
    T const* const x = c.at(t.arrays[s.first_array]);
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const y = c.at(t.arrays[s.output]);
    std::fill_n(y, c.samples * w.out_height * w.out_width * w.filters, T(0));
    each_product(w, c.samples, [&](auto i, auto k, auto o) { y[o] += x[i] * weight[k]; });
}
template <class T>
void conv_data(castnet::step const& s, castnet::step_tables const& t, context<T> const& c) {
    castnet::window const& w = t.windows[s.window];
    T const* const dy = c.at(t.arrays[s.first_array]);
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const dx = c.at(t.arrays[s.output]);
    std::fill_n(dx, c.samples * w.height * w.width * w.channels, T(0));
    each_product(w, c.samples, [&](auto i, auto k, auto o) { dx[i] += dy[o] * weight[k]; });
}
template <class T>
void conv_weight(castnet::step const& s, castnet::step_tables const& t, context<T> const& c) {
    castnet::window const& w = t.windows[s.window];
    T const* const x = c.at(t.arrays[s.first_array]);
    T const* const dy = c.at(t.arrays[s.first_array + 1]);
    T* const dw = c.at(t.arrays[s.output]);
    std::fill_n(dw, std::ptrdiff_t{w.filters} * (w.channels / w.groups) * w.kernel_h * w.kernel_w,
                T(0));
    each_product(w, c.samples, [&](auto i, auto k, auto o) { dw[k] += x[i] * dy[o]; });
}

// Runs what a GPU is given to do, at once.
template <class Device>
class executor : public castnet::cpu::executor<Device> {
    using T = typename Device::value_type;
    using base = castnet::cpu::executor<Device>;

public:
    executor(castnet::cpu::session const& where, T* parameters, castnet::philox_key key,
             castnet::executor_sizes const& z)
        : base{where, parameters, key, z} {
        context_.key = key;
        for (int i = 0; i < 4; ++i) {
            context_.region[i] = this->at(castnet::region(i));
        }
        context_.now = &now_;
    }
    executor(executor const&) = delete;
    executor& operator=(executor const&) = delete;

    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        castnet::cuda::update_values<Rule, T> const values{rule, scale};
        auto const ranges = penalties<Plan>();
        launch(castnet::cuda::update_call<Plan, Slots>(context_, &values, ranges.data()));
    }
    template <auto const& Plan>
    void add_totals() {
        launch(castnet::cuda::totals_call<Plan>(context_, totals_));
    }

    template <auto const& Plan, int Slots, class Rule>
    void train(std::ptrdiff_t, std::uint64_t step, Rule const& rule, T scale) {
        castnet::cuda::update_values<Rule, T> const values{rule, scale};
        auto const ranges = penalties<Plan>();
        now_ = {static_cast<std::uint32_t>(step), 0};
        context_.samples = Plan.batch;
        castnet::cuda::enqueue<Device, Plan>(
            context_, castnet::cuda::update_call<Plan, Slots>(context_, &values, ranges.data()),
            castnet::cuda::totals_call<Plan>(context_, totals_));
    }
    template <auto const& Plan>
    void evaluate(std::ptrdiff_t) {
        now_ = {};
        context_.samples = Plan.batch;
        castnet::cuda::enqueue<Device, Plan>(context_,
                                             castnet::cuda::totals_call<Plan>(context_, totals_));
    }

    void read_totals(double* to, std::size_t count) const { std::copy_n(totals_, count, to); }
    void set_totals(double const* from, std::size_t count) { std::copy_n(from, count, totals_); }

private:
    template <class Body>
    void launch(castnet::cuda::kernel_call<Body> const& call) {
        context_.launch(call.where, call.body);
    }
    template <auto const& Plan>
    static std::vector<castnet::cuda::penalized_range> penalties() {
        std::vector<castnet::cuda::penalized_range> all;
        castnet::for_each_penalty(Plan, [&](castnet::penalty const& cost, std::ptrdiff_t,
                                            std::ptrdiff_t last) { all.push_back({last, cost}); });
        return all;
    }

    typename Device::context context_{};
    castnet::cuda::step_values now_{};
    double totals_[castnet::cuda::max_totals]{};
};

// OneBlock: a plan that fits one block is one kernel.
template <class T, bool OneBlock>
struct device {
    using value_type = T;
    using context = simt::context<T>;
    using memory = castnet::cpu::memory;
    using session = castnet::cpu::session;
    using executor = simt::executor<device>;
    using kernel = castnet::cuda::kernel<context>;
    static constexpr bool whole_batches = true;
    using replica_scope = castnet::cpu::replica_scope;
    static constexpr int count() { return 1; }
    static constexpr std::ptrdiff_t alignment =
        static_cast<std::ptrdiff_t>(castnet::cuda::alignment_bytes / sizeof(T));

    static constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, castnet::extents size,
                                                    bool image) {
        return castnet::place_in_sample(i, size, image);
    }
    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i,
                                                       castnet::parameter const& p) {
        return castnet::cuda::place_in_parameter(i, p);
    }
    static constexpr castnet::scratch_size scratch(castnet::step const& s, castnet::window const*,
                                                   castnet::instruction const& end) {
        return s.kind == castnet::op::reduce ? castnet::cuda::reduce_scratch(s, end) : 0;
    }

    template <auto const& Plan>
    static constexpr bool in_one_block = OneBlock && castnet::cuda::fits_one_block<T>(Plan);

    // As if a library were asked for these and had none of them.
    static constexpr bool takes_epilogue(castnet::op product, castnet::epilogue const& e) {
        return castnet::cuda::takes_epilogue<float>(product, e);
    }
    static bool finishes(castnet::step const&, castnet::step_tables const&, context const&) {
        return false;
    }

    template <auto const& Plan, class After = castnet::ignore_steps>
    static void run(context c, After const& after = {}) {
        castnet::cuda::step_values const values{c.step, c.first_sample};
        c.now = &values;
        c.samples = Plan.batch;
        if constexpr (std::is_same_v<After, castnet::ignore_steps>) {
            castnet::cuda::enqueue<device, Plan>(c);
        } else {
            castnet::run_steps<device, Plan>(c, after);
        }
    }

    template <class Program>
    static constexpr kernel fused_kernel() {
        return castnet::cuda::fused_kernel<Program, context>();
    }
    static kernel kernel_of(castnet::op kind) {
        switch (kind) {
        case castnet::op::matmul:
            return &matmul<T>;
        case castnet::op::matmul_data:
            return &matmul_data<T>;
        case castnet::op::matmul_weight:
            return &matmul_weight<T>;
        case castnet::op::conv:
            return &conv<T>;
        case castnet::op::conv_data:
            return &conv_data<T>;
        case castnet::op::conv_weight:
            return &conv_weight<T>;
        default:
            return castnet::cuda::own_kernel<context>(kind);
        }
    }
};

// The CUDA device's kernels as a policy.
template <bool OneBlock>
struct policy {
    using value_type = double;
    using device = simt::device<double, OneBlock>;
    static constexpr char const* name = "cuda on the host";
    static constexpr std::size_t budget = std::size_t(-1);
};

} // namespace simt
