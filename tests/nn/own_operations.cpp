// Functions and operations that a program adds to castnet's, without touching a file of it.
#include "../docs/own.hpp"
#include "harness.hpp"

using cn::shape;

// sqrt(x^2 + y^2).
inline constexpr auto distance_number = static_cast<cn::fn>(int(cn::fn::own) + 1);
template <>
struct cn::function<distance_number> : cn::derivative_reads<0b101, 0b110> {
    static constexpr char const* name = "distance";
    template <class T>
    CASTNET_HD static constexpr T value(T x, T y) {
        using std::sqrt;
        return sqrt(x * x + y * y);
    }
    template <int I, class T>
    CASTNET_HD static constexpr T derivative(T x, T y, T result) {
        return (I == 0 ? x : y) / result;
    }
};
inline constexpr cn::elementwise<distance_number> distance_of{};

#ifdef CASTNET_TEST_DEVICE
// On a GPU: a thread for each row.
template <class T, bool FromEnd>
struct running_sum_body {
    cn::cuda::stored<T> from, to;
    int channels;
    std::ptrdiff_t rows;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        cn::cuda::for_each_index(block, rows, [&](std::ptrdiff_t row) {
            T sum = 0;
            for (int k = 0; k < channels; ++k) {
                std::ptrdiff_t const at = row * channels + (FromEnd ? channels - 1 - k : k);
                sum += from.get(at);
                to.set(at, sum);
            }
        });
    }
};
template <class Context, cn::op K>
    requires(K == running_sum || K == running_sum_from_end)
struct cn::cuda::kernel_for<Context, K> {
    CASTNET_HD static constexpr kernel<Context> of() { return &run; }

    CASTNET_CALLS_UNCHECKED
    CASTNET_HD static void run(kernel_launch const& s, tables const& t, Context const& c) {
        using T = typename Context::value_type;
        array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
        std::ptrdiff_t const rows = c.samples * from.size.pixels;
        c.launch(grid_for(rows), running_sum_body < T,
                 K == running_sum_from_end >
                          {stored_at(c, from), stored_at(c, to), from.size.channels, rows});
    }
};
#endif

namespace {

struct shifted_bells {
    constexpr auto operator()(auto x) const { return 2 * bell(x + 1) - x; }
};
struct distances {
    constexpr auto operator()(auto x) const { return distance_of(x, 3 + bell(x)); }
};
struct running_sums {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        return cn::apply_operation<running_sum, S>(x) * 0.5;
    }
};

} // namespace

TEST_CASE("a function of the program's own is a function as castnet's are") {
    CHECK(bell(0.5) == doctest::Approx(std::exp(-0.25)));
    CHECK(bell(1) == doctest::Approx(std::exp(-1.0))); // of an integer: in double
    cn::tensor<double, shape<3>> const x{-1, 0, 2};
    cn::tensor<double, shape<3>> const y = bell(x) + 1;
    CHECK(y[2] == doctest::Approx(std::exp(-4.0) + 1));

    auto r = check::run_of<shifted_bells{}, shape<2, 3, 4>, true, 2>();
    check::values const in = check::random_values(48, 1);
    r.set_input(in);
    r.run();
    check::values expected;
    for (double v : in) {
        expected.push_back(2 * std::exp(-(v + 1) * (v + 1)) - v);
    }
    check::close("shifted bells", r.output(), expected, 1e-14);
    check::against_finite_differences(std::move(r));
    check::against_finite_differences(check::run_of<distances{}, shape<5>, true, 2>());
}

TEST_CASE("an operation of the program's own has a gradient and kernels as castnet's have") {
    auto r = check::run_of<running_sums{}, shape<3, 4>, true, 2>();
    check::values const in = check::random_values(24, 2);
    r.set_input(in);
    r.run();
    check::values expected;
    for (std::size_t i = 0; i < in.size(); ++i) {
        double sum = 0;
        for (std::size_t k = i - i % 4; k <= i; ++k) {
            sum += in[k];
        }
        expected.push_back(sum / 2);
    }
    check::close("running sums", r.output(), expected, 1e-14);
    check::against_finite_differences(std::move(r));
    check::against_finite_differences(check::run_of<running_sums{}, shape<3, 2, 2>, true, 3>());
}
