// A device that runs castnet's own CUDA kernels on the host (simt.hpp), and plain loops for
// products and convolutions, which are cuBLASLt's and cuDNN's on a GPU.
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/few_channels.hpp>
#include <castnet/device/cuda/gradients.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/layout.hpp>
#include <castnet/device/cuda/planning.hpp>
#include <castnet/device/cuda/product_precision.hpp>
#include <castnet/device/cuda/small_weight.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/sample_order.hpp>
#include <castnet/device/weight_elements.hpp>
#include <castnet/plan/penalties.hpp>

#include "simt.hpp"

#include <algorithm>
#include <vector>

namespace simt {

template <class T>
struct context {
    using value_type = T;
    static constexpr std::ptrdiff_t few_elements = 24;

    T* region[4]{};
    std::ptrdiff_t samples = 0;
    std::ptrdiff_t iteration = -1;
    std::ptrdiff_t repetition = 0;
    castnet::philox_key key{};
    std::uint32_t step = 0; // for device::run()
    std::uint32_t first_sample = 0;
    bool backwards = false; // set by the CPU's executor, for its kernels
    castnet::cuda::step_values const* now = nullptr;
    castnet::cuda::reduction_parts<T> parts{};
    castnet::cuda::product_precision precision = castnet::cuda::product_precision::full;

    T* at(castnet::ir::array_ref const& r) const {
        return region[static_cast<int>(r.where)] + r.offset + repetition * r.repeat_stride;
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
// The numbers of an array, and back.
template <class T>
std::vector<T> numbers(context<T> const& c, castnet::ir::array_ref const& r, std::ptrdiff_t count) {
    castnet::cuda::stored<T> const from = castnet::cuda::stored_at(c, r);
    std::vector<T> all;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        all.push_back(from.get(i));
    }
    return all;
}
template <class T>
void put(std::vector<T> const& numbers, context<T> const& c, castnet::ir::array_ref const& r) {
    castnet::cuda::stored<T> const to = castnet::cuda::stored_at(c, r);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        to.set(std::ptrdiff_t(i), numbers[i]);
    }
}

// How many elements the operands and the result of a product have, and which of them is its result.
struct product_sizes {
    std::ptrdiff_t x, weight, y;
    castnet::op kind, forward, data;
};

// Sums the products that `each` calls for.
template <class T, class Each>
void add_products(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
                  context<T> const& c, product_sizes const& z, Each const& each) {
    auto const &first = t.arrays[s.first_array], &second = t.arrays[s.first_array + 1];
    bool const forward = z.kind == z.forward, data = z.kind == z.data;
    std::vector<T> const a = numbers(c, first, data ? z.y : z.x);
    std::vector<T> const b = numbers(c, second, forward || data ? z.weight : z.y);
    std::vector<T> sums(std::size_t(forward ? z.y : data ? z.x : z.weight));
    each([&](std::ptrdiff_t x, std::ptrdiff_t weight, std::ptrdiff_t y) {
        auto const at = [](std::ptrdiff_t i) { return std::size_t(i); };
        if (forward) {
            sums[at(y)] += a[at(x)] * b[at(weight)];
        } else if (data) {
            sums[at(x)] += a[at(y)] * b[at(weight)];
        } else {
            sums[at(weight)] += a[at(x)] * b[at(y)];
        }
    });
    put(sums, c, t.arrays[s.output]);
}

// A product in a loop: one pixel of each sample.
template <class T>
void multiply_pixels(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
                     context<T> const& c, std::ptrdiff_t in, std::ptrdiff_t out) {
    auto const &first = t.arrays[s.first_array], &result = t.arrays[s.output];
    auto const x = castnet::cuda::stored_at(c, first), y = castnet::cuda::stored_at(c, result);
    auto const weight = castnet::cuda::stored_at(c, t.arrays[s.first_array + 1]);
    auto const rows = castnet::ir::rows_of(first.size, c.samples, c.iteration);
    auto const to = castnet::ir::rows_of(result.size, c.samples, c.iteration);
    bool const data = s.kind == castnet::op::matmul_data;
    std::ptrdiff_t const depth = data ? out : in, columns = data ? in : out;
    for (std::ptrdiff_t i = 0; i < rows.count; ++i) {
        for (std::ptrdiff_t column = 0; column < columns; ++column) {
            T sum = 0;
            for (std::ptrdiff_t k = 0; k < depth; ++k) {
                sum += x.get(rows(i) * depth + k) *
                       weight.get(data ? column * out + k : k * out + column);
            }
            y.set(to(i) * columns + column, sum);
        }
    }
}

template <class T>
void matmul(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
            context<T> const& c) {
    using castnet::op;
    if (castnet::cuda::is_small_weight(s, t)) {
        castnet::cuda::small_weight(s, t, c);
        return;
    }
    auto const &first = t.arrays[s.first_array], &second = t.arrays[s.first_array + 1];
    auto const& result = t.arrays[s.output];
    std::ptrdiff_t const rows = c.samples * first.size.pixels;
    std::ptrdiff_t const in = (s.kind == op::matmul_data ? result : first).size.channels;
    std::ptrdiff_t const out = (s.kind == op::matmul        ? result
                                : s.kind == op::matmul_data ? first
                                                            : second)
                                   .size.channels;
    if (c.iteration >= 0) {
        multiply_pixels(s, t, c, in, out);
        return;
    }
    add_products(s, t, c, {rows * in, in * out, rows * out, s.kind, op::matmul, op::matmul_data},
                 [&](auto const& add) { each_product(rows, in, out, add); });
}

// Those of an update.
template <class T>
void multiply_matrices(castnet::cuda::matrix_product const& m, T const* a, T const* b,
                       T const* addend, T* d, context<T> const&) {
    for (std::ptrdiff_t i = 0; i < m.rows; ++i) {
        for (std::ptrdiff_t j = 0; j < m.columns; ++j) {
            T sum = 0;
            for (std::ptrdiff_t k = 0; k < m.depth; ++k) {
                sum += a[m.transposed_a ? k * m.rows + i : i * m.depth + k] *
                       b[m.transposed_b ? j * m.depth + k : k * m.columns + j];
            }
            std::ptrdiff_t const at = i * m.columns + j;
            d[at] = T(m.of_product) * sum + (m.of_addend != 0 ? T(m.of_addend) * addend[at] : T(0));
        }
    }
}

// The same for a convolution, with weights as (filters, height, width, channels of the group).
template <class F>
void each_product(castnet::ir::window const& w, std::ptrdiff_t samples, F const& each) {
    int const channels = w.channels / w.groups, filters = w.filters / w.groups;
    auto const taps = [&](std::ptrdiff_t n, int row, int column, int f) {
        std::ptrdiff_t const y = ((n * w.out_height + row) * w.out_width + column) * w.filters + f;
        for (int u = 0; u < w.kernel_h; ++u) {
            for (int v = 0; v < w.kernel_w; ++v) {
                int const r = row * w.stride_h - w.pad_top + u * w.dilation_h;
                int const q = column * w.stride_w - w.pad_left + v * w.dilation_w;
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
void conv(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
          context<T> const& c) {
    using castnet::op;
    if (castnet::cuda::has_few_channels(s, t, c)) {
        castnet::cuda::convolve_few_channels(s, t, c);
        return;
    }
    castnet::ir::window const& w = t.windows[s.window];
    std::ptrdiff_t const images = castnet::cuda::images_of(w, c);
    std::ptrdiff_t const x = images * w.height * w.width * w.channels;
    std::ptrdiff_t const y = images * w.out_height * w.out_width * w.filters;
    add_products(s, t, c, {x, castnet::ir::weight_elements(w), y, s.kind, op::conv, op::conv_data},
                 [&](auto const& add) { each_product(w, images, add); });
}

// What a context's reductions need.
template <class T>
class memory_of_parts {
public:
    castnet::cuda::reduction_parts<T> here() { return {elements_.data(), tickets_.data()}; }
    bool has_no_tickets_out() const {
        return std::all_of(tickets_.begin(), tickets_.end(), [](unsigned t) { return t == 0; });
    }

private:
    std::vector<T> elements_ = std::vector<T>(castnet::cuda::max_parts);
    std::vector<unsigned> tickets_ = std::vector<unsigned>(castnet::cuda::max_tickets);
};

struct nothing { // a body
    template <class Block>
    void operator()(Block const&) const {}
};

struct session : castnet::cpu::session {
    using castnet::cpu::session::session;
    int index() const { return 0; }
    castnet::cpu::memory allocate(std::size_t bytes) const { return castnet::cpu::memory{bytes}; }
};

// Runs what a GPU is given to do, at once.
template <class Device>
class executor : public castnet::cpu::executor<Device> {
    using T = typename Device::value_type;
    using base = castnet::cpu::executor<Device>;

public:
    executor(session const& where, T* parameters, castnet::philox_key key,
             castnet::ir::executor_sizes const& z)
        : base{where, parameters, key, z}, totals_(std::size_t(z.totals)),
          numbers_(std::size_t(z.samples)) {
        context_.key = key;
        for (int i = 0; i < 4; ++i) {
            context_.region[i] = this->at(castnet::ir::region(i));
        }
        context_.now = &now_;
        context_.parts = parts_.here();
    }
    executor(executor const&) = delete;
    executor& operator=(executor const&) = delete;

    T* batch() {
        gathers_ = false;
        arrays_[0] = {};
        return base::batch();
    }
    std::uint32_t* gather_from(std::span<castnet::cuda::stored_array<T> const> arrays) {
        gathers_ = true;
        std::copy(arrays.begin(), arrays.end(), arrays_);
        return numbers_.data();
    }

    template <auto const& Plan, class... After>
    void run(std::ptrdiff_t samples, std::uint64_t step, After const&... after) {
        if (gathers_) {
            launch(gather_call<Plan>());
        }
        base::template run<Plan>(samples, step, after...);
    }

    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        castnet::cuda::update_values<Rule, T> values{rule, scale};
        update_tables<Plan> tables{groups_, rule};
        castnet::cuda::enqueue_update<Plan, Slots>(context_, &values, tables.here());
    }
    template <auto const& Plan>
    double squares(T scale, std::ptrdiff_t first, std::ptrdiff_t last) {
        update_tables<Plan> tables{groups_, nothing{}};
        auto const t = tables.here();
        launch(castnet::cuda::squares_call<Device, Plan>(context_, &scale, t.penalties, t.squares,
                                                         first, last));
        return t.squares[0];
    }
    void keep_gradients(std::ptrdiff_t place, castnet::ir::element_range const& r, bool first) {
        T* const from = this->at(r.where) + r.offset;
        castnet::cuda::keep_body<T> const body{from, from + place, r.count, first};
        context_.launch(castnet::cuda::grid_for(r.count), body);
    }
    void take_kept(std::ptrdiff_t place, castnet::ir::element_range const& r) {
        T* const to = this->at(r.where) + r.offset;
        castnet::cuda::take_kept_body<T> const body{to, to + place, r.count};
        context_.launch(castnet::cuda::grid_for(r.count), body);
    }
    template <class Body>
    void launch_body(Body const& body) {
        context_.launch(castnet::cuda::grid_for(body.count), body);
    }
    template <auto const& Plan>
    void set_groups(std::span<castnet::ir::update_group const> groups) {
        groups_.assign(groups.begin(), groups.end());
    }
    template <auto const& Plan>
    void keep_statistics() {
        base::template keep_statistics<Plan>();
        kept_totals_ = totals_;
    }
    template <auto const& Plan>
    void bring_back_statistics() {
        base::template bring_back_statistics<Plan>();
        totals_ = kept_totals_;
    }

    template <auto const& Plan>
    void add_totals() {
        launch(castnet::cuda::totals_call<Plan>(context_, totals_.data()));
    }

    template <auto const& Plan, int Slots, class Rule>
    void train(std::ptrdiff_t, std::uint64_t step, Rule const& rule, T scale) {
        castnet::cuda::update_values<Rule, T> values{rule, scale};
        update_tables<Plan> tables{groups_, rule};
        now_ = {static_cast<std::uint32_t>(step), 0};
        context_.samples = Plan.batch;
        constexpr int left_out = castnet::cuda::widens_in_update<Rule>(Plan) ? 1 : 0;
        std::apply(
            [&](auto const&... call) {
                castnet::cuda::enqueue<Device, Plan, left_out>(context_, gathers_,
                                                               gather_call<Plan>(), call...);
            },
            castnet::cuda::closing_calls<Device, Plan, Slots>(context_, &values, tables.here(),
                                                              totals_.data()));
        if constexpr (castnet::Orthogonalizes<Rule>) {
            castnet::cuda::enqueue_update<Plan, Slots>(context_, &values, tables.here());
        }
    }
    template <auto const& Plan>
    void evaluate(std::ptrdiff_t, std::uint64_t batch) {
        now_ = {static_cast<std::uint32_t>(batch), 0};
        context_.samples = Plan.batch;
        castnet::cuda::enqueue<Device, Plan>(
            context_, gathers_, gather_call<Plan>(),
            castnet::cuda::totals_call<Plan>(context_, totals_.data()));
    }

    void read_totals(double* to, std::size_t count) const {
        std::copy_n(totals_.begin(), count, to);
    }
    void set_totals(double const* from, std::size_t count) {
        std::copy_n(from, count, totals_.begin());
    }

private:
    template <auto const& Plan>
    auto gather_call() const {
        return castnet::cuda::gather_call<Plan>(context_, arrays_, numbers_.data());
    }
    template <class Body>
    void launch(castnet::cuda::kernel_call<Body> const& call) {
        context_.launch(call.where, call.body);
    }
    template <auto const& Plan>
    struct update_tables {
        template <class Rule>
        update_tables(std::vector<castnet::ir::update_group> const& groups,
                      [[maybe_unused]] Rule const& rule)
            : pieces{castnet::cuda::pieces_of<T>(Plan, groups)}, squares(3 * pieces.size()) {
            castnet::ir::for_each_penalty(
                Plan, groups,
                [&](castnet::penalty const& cost, castnet::ir::update_group group, std::ptrdiff_t,
                    std::ptrdiff_t last) { penalties.push_back({last, cost, group}); });
            if constexpr (castnet::Orthogonalizes<Rule>) {
                orthogonal = castnet::cuda::orthogonalizations_of(Plan, rule, groups);
            }
        }
        castnet::cuda::update_tables here() {
            return {penalties.data(), norm, pieces.data(), squares.data(), orthogonal};
        }
        std::vector<castnet::cuda::penalized_range> penalties;
        std::vector<castnet::cuda::parameter_piece> pieces;
        std::vector<double> squares;
        std::vector<castnet::orthogonalization> orthogonal;
        double norm[castnet::cuda::norm_elements];
    };

    typename Device::context context_{};
    castnet::cuda::step_values now_{};
    memory_of_parts<T> parts_;
    std::vector<castnet::ir::update_group> groups_;
    std::vector<double> totals_, kept_totals_;
    bool gathers_ = false;
    castnet::cuda::stored_array<T> arrays_[castnet::cuda::max_stored_arrays]{};
    std::vector<std::uint32_t> numbers_;
};

// OneBlock: a plan that fits one block is one kernel. Bf16: products read bfloat16.
template <class T, bool OneBlock, bool Bf16 = false>
struct device : castnet::cuda::planning<T, Bf16> {
    using context = simt::context<T>;
    using memory = castnet::cpu::memory;
    using session = simt::session;
    using stored_array = castnet::cuda::stored_array<T>;
    using executor = simt::executor<device>;
    using kernel = castnet::cuda::kernel<context>;
    static constexpr bool whole_batches = true;
    using replica_scope = castnet::cpu::replica_scope;
    static constexpr int count() { return 1; }

    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i,
                                                       castnet::parameter const& p) {
        return castnet::cuda::place_in_parameter(i, p);
    }
    template <auto const& Plan>
    static constexpr bool in_one_block = OneBlock && castnet::cuda::fits_one_block<T>(Plan);
    template <auto const& Plan, int Stage>
    static constexpr bool in_one_kernel =
        OneBlock && castnet::cuda::is_loop_kernel<T>(Plan, Plan.stages[Stage]);

    // As if a library were asked for these and had none of them; castnet's kernels have theirs.
    static constexpr bool takes_epilogue(castnet::op product, castnet::ir::epilogue const& e) {
        return castnet::cuda::takes_epilogue<float>(product, e);
    }
    static bool finishes(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
                         context const& c) {
        return castnet::cuda::is_small_weight(s, t) ||
               (s.kind == castnet::op::conv && castnet::cuda::has_few_channels(s, t, c));
    }

    template <auto const& Plan, class After = castnet::ir::ignore_launches>
    static void run(context c, After const& after = {}) {
        castnet::cuda::step_values const values{c.step, c.first_sample};
        memory_of_parts<T> parts;
        c.now = &values;
        c.precision =
            Bf16 ? castnet::cuda::product_precision::bf16 : castnet::cuda::product_precision::full;
        c.parts = parts.here();
        c.samples = Plan.batch;
        if constexpr (std::is_same_v<After, castnet::ir::ignore_launches>) {
            castnet::cuda::enqueue<device, Plan>(c, false, castnet::cuda::kernel_call<nothing>{});
        } else {
            castnet::ir::run_launches<device, Plan>(c, after);
        }
    }

    template <class Program>
    static constexpr kernel fused_kernel() {
        return castnet::cuda::fused_kernel<Program, context>();
    }
    template <castnet::op K>
    static constexpr kernel operation_kernel() {
        using castnet::op;
        if constexpr (K == op::matmul || K == op::matmul_data || K == op::matmul_weight) {
            return &matmul<T>;
        } else if constexpr (K == op::conv || K == op::conv_data || K == op::conv_weight) {
            return &conv<T>;
        } else {
            return castnet::cuda::kernel_for<context, K>::of();
        }
    }
};

// The CUDA device's kernels as a policy.
template <bool OneBlock, bool Bf16 = false>
struct policy {
    using value_type = double;
    using device = simt::device<double, OneBlock, Bf16>;
    static constexpr char const* name = "cuda on the host";
    static constexpr std::size_t budget = std::size_t(-1);
};
using bf16 = policy<false, true>; // as policy::bf16<policy::cuda>, but for other sums than float's

} // namespace simt
