// scan: loops of one's own against their unrolled graphs and against finite differences.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/recurrent.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/take.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "harness.hpp"

#include <array>

namespace cn = castnet;
using cn::input, cn::shape;

namespace {

constexpr auto back = cn::shared<"back", cn::dense<3>>;
constexpr auto back_of_two = cn::shared<"back", cn::dense<2>>;

struct looped {
    constexpr auto operator()(auto x) const {
        auto const z = x | cn::named<"in", cn::dense<3>>;
        return cn::scan(z, shape<3>{}, [](auto z_t, auto h) { return cn::tanh(z_t + (h | back)); })
            .outputs;
    }
};

struct unrolled {
    template <std::size_t T>
    static constexpr auto at(auto z) {
        return z | cn::reshape_to<shape<12>> | cn::slice_channels<3 * T, 3>;
    }
    constexpr auto operator()(auto x) const {
        auto const z = x | cn::named<"in", cn::dense<3>>;
        auto const a = cn::tanh(at<0>(z) + (0 * at<0>(z) | back));
        auto const b = cn::tanh(at<1>(z) + (a | back));
        auto const c = cn::tanh(at<2>(z) + (b | back));
        auto const d = cn::tanh(at<3>(z) + (c | back));
        return cn::concat(a, b, c, d) | cn::reshape_to<shape<4, 3>>;
    }
};

constexpr auto of_both = cn::shared<"both", cn::dense<3>>;

// A decoder's context, joined with each step: as a carry, and repeated before the loop.
struct context_as_carry {
    constexpr auto operator()(auto x, auto context) const {
        return cn::scan(x, shape<3>{}, context,
                        [](auto x_t, auto h, auto c) {
                            return cn::carry(cn::tanh((cn::concat(x_t, c) | of_both) + h), c);
                        })
            .outputs;
    }
};
struct context_repeated {
    constexpr auto operator()(auto x, auto context) const {
        auto const both = cn::concat(x, cn::broadcast_to<5, 4>(context));
        return cn::scan(both, shape<3>{},
                        [](auto x_t, auto h) { return cn::tanh((x_t | of_both) + h); })
            .outputs;
    }
};

// A state to begin with that is an image, flattened.
struct from_an_image {
    constexpr auto operator()(auto x, auto image) const {
        return cn::scan(x | cn::dense<8>, image | cn::flatten,
                        [](auto x_t, auto h) { return cn::tanh(x_t + h); })
            .last;
    }
};

// Runs F with Batch samples of random inputs.
template <auto F, std::size_t Batch, auto... Inputs>
check::layer_run run_at_random() {
    auto r = check::layer_run::of<cn::network<F, Inputs...>, true, Batch>();
    std::uint32_t stream = 0;
    for (std::size_t i = 0; i < r.inputs(); ++i) {
        r.set_input(check::random_values(r.input(i).size(), ++stream), i);
    }
    r.set_grad_output(check::random_values(r.grad_output().size(), ++stream));
    for (auto const& p : r.parameters()) {
        r.set(p.name.text(), check::random_values(std::size_t(p.count()), ++stream));
    }
    r.run();
    return r;
}

template <auto F, auto... Inputs>
void differentiate() {
    check::against_finite_differences(check::layer_run::of<cn::network<F, Inputs...>, true, 3>());
}

// Two carries, one of them a number, an output of its own, and values from outside: of a sample, of
// all samples, and a parameter that the cell asks for.
struct everything {
    constexpr auto operator()(auto x, auto outside, auto start) const {
        auto const cell = [&](auto x_t, auto h, auto n) {
            cn::scope_guard const scope{*x_t.g, cn::layer_kind{"cell"}};
            auto const scale = cn::new_parameter<shape<4>>(*x_t.g, "scale", {});
            auto const joined = cn::concat(x_t, h) | cn::dense<4>;
            auto const next = cn::tanh(joined * scale + outside);
            auto const count = n / 2 + cn::mean(next * next);
            auto const y = cn::softmax(next) * n | cn::slice_channels<1, 2>;
            return cn::carry(next, count).output(y);
        };
        auto const [outputs, last] = cn::scan(x, start, shape<>{}, cell);
        auto const [h, n] = last;
        return cn::concat(cn::reshape<10>(outputs), h * n);
    }
};

struct numbers { // a sequence of numbers, backwards
    constexpr auto operator()(auto x) const {
        return cn::scan(cn::backward(x), shape<>{},
                        [](auto x_t, auto sum) { return cn::sin(sum) + x_t; })
            .outputs;
    }
};

struct delay_line { // carries that change places, and one that is the step itself
    constexpr auto operator()(auto x) const {
        auto const [y, last] =
            cn::scan(x, shape<2>{}, shape<2>{}, shape<2>{}, [](auto x_t, auto a, auto b, auto c) {
                return cn::carry(x_t, a, b).output(x_t * b + c);
            });
        auto const [a, b, c] = last;
        return cn::concat(cn::reshape<10>(y), a, b, c);
    }
};

struct no_gradient_back { // reads a carry only where that has no gradient
    constexpr auto operator()(auto x) const {
        return cn::scan(x, shape<2>{},
                        [](auto x_t, auto h) { return cn::square(x_t) * (1 + cn::less(h, 0.5)); })
            .outputs;
    }
};

struct powers { // a state that is a product alone, of which a sum is the result
    constexpr auto operator()(auto x, auto start) const {
        auto const [h, sum] =
            cn::scan(x, start, shape<3>{}, [](auto, auto now, auto before) {
                auto const all = before + now;
                return cn::carry(now | cn::named<"matrix", cn::dense<3>.no_bias()>, all);
            }).last;
        static_cast<void>(h);
        return cn::concat(cn::reshape<8>(x), sum);
    }
};

struct with_initial_parameter { // the initial state is learned, the loop drops at random
    constexpr auto operator()(auto x) const {
        auto const start = cn::new_parameter<shape<3>>(*x.g, "start", {});
        auto const z = x | cn::named<"in", cn::dense<3>>;
        return cn::scan(cn::backward(z), start,
                        [](auto z_t, auto h) {
                            return cn::tanh((z_t + (h | back)) | cn::dropout<0.3F>);
                        })
            .last;
    }
};

struct read_in_slices { // the states of a loop, some of whose features nobody reads
    constexpr auto operator()(auto x) const {
        auto const h = cn::scan(x, shape<4>{}, [](auto x_t, auto before) {
                           return cn::tanh((before | cn::dense<4>)+cn::sum(x_t));
                       }).outputs;
        return cn::concat(h | cn::slice_channels<0, 2>, h | cn::slice_channels<1, 2>);
    }
};

// Cells with two gates, made of what lies beside each other in the sequence's projection.
template <class Part>
constexpr auto gated(auto z, Part second) {
    return cn::scan(z, shape<2>{}, [=](auto z_t, auto h) {
        auto const keep = cn::sigmoid((z_t | cn::slice_channels<0, 2>)+h);
        auto const next = cn::tanh((z_t | second) - h);
        return cn::carry(keep * h + (1 - keep) * cn::sin(next * keep));
    });
}
struct gates_apart { // which may lie where they are made of
    constexpr auto operator()(auto x) const {
        return gated(x | cn::dense<4>, cn::slice_channels<2, 2>).outputs;
    }
};
struct gates_overlapping { // of which one would overwrite what the other one reads
    constexpr auto operator()(auto x) const {
        return gated(x | cn::dense<4>, cn::slice_channels<1, 2>).outputs;
    }
};
struct gates_of_used_sequence { // which is read again after the loop
    constexpr auto operator()(auto x) const {
        auto const z = x | cn::dense<4>;
        auto const h = gated(z, cn::slice_channels<2, 2>).outputs;
        return cn::concat(h, cn::square(z));
    }
};
struct gates_of_input { // which the step does not own
    constexpr auto operator()(auto x) const { return gated(x, cn::slice_channels<2, 2>).outputs; }
};
struct gates_with_lengths { // of three steps
    constexpr auto operator()(auto x) const {
        auto const lengths = 3 + 0 * cn::sum(x);
        return gated(cn::with_lengths(x | cn::dense<4>, lengths), cn::slice_channels<2, 2>).outputs;
    }
};
struct gates_as_outputs { // kept in an array of their own
    constexpr auto operator()(auto x) const {
        auto const cell = [](auto z_t, auto h) {
            auto const keep = cn::sigmoid((z_t | cn::slice_channels<0, 2>)+h);
            auto const next = cn::tanh((z_t | cn::slice_channels<2, 2>)*keep);
            return cn::carry(keep * h + next).output(keep);
        };
        auto const [keep, last] = cn::scan(x | cn::dense<4>, shape<2>{}, cell);
        return cn::concat(cn::reshape<10>(cn::sin(keep)), last);
    }
};

struct gates_by_split { // by the functions for any axis, of a step and of a carry
    constexpr auto operator()(auto x) const {
        return cn::scan(x | cn::dense<4>, shape<2>{},
                        [](auto z_t, auto h) {
                            auto const [gate, next] = cn::split<0, 2>(z_t);
                            auto const keep = cn::sigmoid(gate + h);
                            auto const first = cn::slice<0, 0, 1>(h), last = cn::slice<0, 1, 2>(h);
                            auto const turned =
                                cn::concatenate<0>(last, first) * h[1] + (first | cn::pad<0, 1, 0>);
                            return keep * turned + (1 - keep) * cn::roll<0>(next, 1);
                        })
            .outputs;
    }
};

// Every second feature of a step, and of a carry.
struct odd_features {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, shape<2>{},
                        [](auto x_t, auto h) {
                            return cn::tanh(cn::slice<0, 1, 5, 2>(x_t) + (h | back_of_two));
                        })
            .outputs;
    }
};
struct odd_features_before {
    constexpr auto operator()(auto x) const {
        return cn::scan(cn::slice<1, 1, 5, 2>(x), shape<2>{},
                        [](auto x_t, auto h) { return cn::tanh(x_t + (h | back_of_two)); })
            .outputs;
    }
};
struct rotated_pairs {
    constexpr auto operator()(auto x) const {
        auto const cell = [](auto x_t, auto h) {
            auto const a = cn::slice<0, 0, 4, 2>(h), b = cn::slice<0, 1, 4, 2>(h),
                       angle = cn::slice<0, 0, 5, 3>(x_t);
            return cn::concat(a * cn::cos(angle) - b * cn::sin(angle), b + cn::sin(a)) +
                   cn::slice<0, 1, 5>(x_t);
        };
        return cn::scan(x, shape<4>{}, cell).outputs;
    }
};

// A state that is a matrix (fast weights), as a vector of its rows, and unrolled as it is.
template <std::size_t... Row>
constexpr auto rows_of_outer(auto k, auto v, std::index_sequence<Row...>) {
    return cn::concat((k[Row] * v)...);
}
template <std::size_t Columns, std::size_t... Row>
constexpr auto product_with_rows(auto k, auto s, std::index_sequence<Row...>) {
    return ((k[Row] * cn::slice<0, Row * Columns, (Row + 1) * Columns>(s)) + ...);
}
struct matrix_in_rows {
    constexpr auto operator()(auto x, auto start) const {
        constexpr auto rows = std::make_index_sequence<3>{};
        return cn::scan(x, start,
                        [=](auto x_t, auto s) {
                            auto const k = cn::slice<0, 0, 3>(x_t);
                            auto const v = cn::slice<0, 3, 5>(x_t);
                            auto const seen = product_with_rows<2>(k, s, rows);
                            auto const now = s + rows_of_outer(k, v - seen, rows);
                            return cn::carry(now).output(product_with_rows<2>(k, now, rows));
                        })
            .outputs;
    }
};
struct matrix_unrolled {
    constexpr auto operator()(auto x, auto start) const {
        auto s = start | cn::reshape<3, 2>;
        auto const step = [&](std::size_t t) {
            auto const x_t = cn::select<0>(x, t);
            auto const k = cn::slice<0, 0, 3>(x_t);
            auto const v = cn::slice<0, 3, 5>(x_t);
            s = s + cn::outer(k, v - cn::matmul(k, s));
            return cn::matmul(k, s);
        };
        auto const a = step(0), b = step(1), c = step(2), d = step(3);
        return cn::stack<0>(a, b, c, d);
    }
};

struct constant_carry { // does not depend on the step before, nor on the sequence
    constexpr auto operator()(auto x, auto outside) const {
        auto const result = cn::scan(x, shape<2>{}, [&](auto x_t, auto h) {
            return cn::carry(outside).output(x_t * h + outside);
        });
        return cn::concat(cn::reshape<6>(result.outputs), result.last);
    }
};

struct unused_loop { // nothing reads what the loop computes
    constexpr auto operator()(auto x) const {
        cn::scan(x, shape<2>{}, [](auto x_t, auto h) { return cn::sin(x_t + h); });
        return 2 * x;
    }
};

} // namespace

// Within a loop as without: a GPU does so by a kernel of its own.
template <class Device>
constexpr bool multiplies_alike = !requires { Device::is_gpu; };

TEST_CASE("a loop computes the bits of its unrolled graph") {
    auto const a = run_at_random<looped{}, 7, input<4, 2>>();
    auto const b = run_at_random<unrolled{}, 7, input<4, 2>>();
    constexpr double tolerance = multiplies_alike<check::device> ? 0 : 1e-14;
    check::close("output", a.output(), b.output(), tolerance);
    check::close("gradient by the input", a.grad_input(), b.grad_input(), tolerance);
    for (auto const& p : a.parameters()) { // sums over time in another order
        std::string const name = p.name.text();
        check::close(name, a.gradient(name), b.gradient(name), 1e-14);
    }
}

TEST_CASE("a carry that does not change is what every step reads") {
    auto const a = run_at_random<context_as_carry{}, 7, input<5, 2>, input<4>>();
    auto const b = run_at_random<context_repeated{}, 7, input<5, 2>, input<4>>();
    check::close("output", a.output(), b.output(), 1e-14);
    for (std::size_t i = 0; i < 2; ++i) {
        check::close("gradient by an input", a.grad_input(i), b.grad_input(i), 1e-14);
    }
    differentiate<context_as_carry{}, input<5, 2>, input<4>>();
}

TEST_CASE("a state may be a matrix, as a vector of its rows") {
    auto const a = run_at_random<matrix_in_rows{}, 7, input<4, 5>, input<6>>();
    auto const b = run_at_random<matrix_unrolled{}, 7, input<4, 5>, input<6>>();
    check::close("output", a.output(), b.output(), 1e-13);
    for (std::size_t i = 0; i < 2; ++i) {
        check::close("gradient by an input", a.grad_input(i), b.grad_input(i), 1e-13);
    }
}

TEST_CASE("a cell takes slices with a step") {
    auto const a = run_at_random<odd_features{}, 7, input<4, 5>>();
    auto const b = run_at_random<odd_features_before{}, 7, input<4, 5>>();
    check::close("output", a.output(), b.output(), 1e-14);
    check::close("gradient by the input", a.grad_input(), b.grad_input(), 1e-14);
    check::against_finite_differences(check::run_of<rotated_pairs{}, shape<3, 5>>(), 1e-6);
}

TEST_CASE("gradients of cells of one's own") {
    differentiate<looped{}, input<4, 2>>();
    differentiate<everything{}, input<5, 2>, input<4>, input<4>>();
    differentiate<numbers{}, input<6>>();
    differentiate<delay_line{}, input<5, 2>>();
    differentiate<no_gradient_back{}, input<4, 2>>();
    differentiate<with_initial_parameter{}, input<4, 2>>();
    differentiate<read_in_slices{}, input<4, 2>>();
    differentiate<constant_carry{}, input<3, 2>, input<2>>();
    differentiate<from_an_image{}, input<3, 2>, input<2, 2, 2>>();
}

TEST_CASE("gradients of gates, wherever they lie") {
    differentiate<gates_apart{}, input<5, 3>>();
    differentiate<gates_overlapping{}, input<5, 3>>();
    differentiate<gates_of_used_sequence{}, input<5, 3>>();
    differentiate<gates_of_input{}, input<5, 4>>();
    differentiate<gates_with_lengths{}, input<5, 3>>();
    differentiate<gates_as_outputs{}, input<5, 3>>();
    differentiate<gates_by_split{}, input<5, 3>>();
}

TEST_CASE("one step is a layer") {
    differentiate<looped{}, input<1, 2>>();
    differentiate<numbers{}, input<1>>();
}

TEST_CASE("a state may be a product alone") {
    using network = cn::network<powers{}, input<4, 2>, input<3>>;
    auto r = check::layer_run::of<network, false, 2>();
    r.set_input(check::random_values(16, 1), 0);
    check::values const start = check::random_values(6, 2), matrix = check::random_values(9, 3);
    r.set_input(start, 1);
    r.set("matrix.weight", matrix);
    r.run();
    for (std::size_t sample = 0; sample < 2; ++sample) {
        std::array<double, 3> h{start[3 * sample], start[3 * sample + 1], start[3 * sample + 2]},
            sum{};
        for (int t = 0; t < 4; ++t) {
            std::array<double, 3> next{};
            for (std::size_t i = 0; i < 3; ++i) { // (units, features), as PyTorch's
                sum[i] += h[i];
                for (std::size_t j = 0; j < 3; ++j) {
                    next[i] += matrix[3 * i + j] * h[j];
                }
            }
            h = next;
        }
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(r.output()[11 * sample + 8 + i] == doctest::Approx(sum[i]));
        }
    }
}

TEST_CASE("steps lie in the order of the sequence, whatever the direction") {
    auto r = check::layer_run::of<cn::network<numbers{}, input<3>>, true, 1>();
    r.set_input({1, 2, 3});
    r.set_grad_output({0, 0, 0});
    r.run();
    double const last = 3, middle = std::sin(last) + 2, first = std::sin(middle) + 1;
    check::close("outputs", r.output(), {first, middle, last}, 1e-15);
}

TEST_CASE("a loop that nothing depends on is not computed") {
    using net = cn::network<unused_loop{}, input<4, 2>>;
    using step =
        castnet::detail::compiled_step<check::gradients_recipe, net, check::device, 2, true>;
    for (auto const& s : step::value.launches) {
        CHECK(s.loop < 0);
        CHECK(s.kind != cn::op::delay);
    }
}

TEST_CASE("products and sums over time leave the loop") {
    using net = cn::sequential<input<9, 3>, cn::lstm<4>.return_sequences(), cn::lstm<4>>;
    using step =
        castnet::detail::compiled_step<check::gradients_recipe, net, check::device, 2, true>;
    int loops = 0, products = 0;
    for (auto const& s : step::value.stages) {
        loops += s.iterations == 9;
    }
    for (auto const& s : step::value.launches) {
        if (s.loop >= 0) {
            products += castnet::ir::is_matmul(s.kind);
            CHECK(s.kind != cn::op::matmul_weight);
            CHECK(s.kind != cn::op::reduce);
        }
    }
    CHECK(loops == 4);    // forward and back through both layers
    CHECK(products == 4); // with the recurrent weights only
}

TEST_CASE("a loop keeps what its backward pass reads, and one step of everything else") {
    constexpr int length = 400, units = 3;
    using net = cn::sequential<cn::input<length, 2>, cn::lstm<units>>;
    using step =
        castnet::detail::compiled_step<check::gradients_recipe, net, check::device, 1, true>;
    for (auto const& s : step::value.launches) {
        auto const& result = step::value.arrays[s.output];
        if (s.loop == 0 && s.kind != cn::op::feedback && result.size.pixels == length) {
            CHECK(result.row == 4 * units); // gates take the place of what they are made of
        }
        CHECK((s.loop < 0 || s.kind != cn::op::slice)); // and are read where they are
    }
    // The gates, whose gradients take their place in turn, h and c; the backward pass computes
    // tanh(c) again.
    std::ptrdiff_t const arrays = (4 + 2) * units * length;
    CHECK(step::value.elements(castnet::ir::region::workspace) < arrays + arrays / 16);
}

#ifndef __CUDACC__ // cuBLASLt adds no bias to products in double, which then take an array more
TEST_CASE("a loop keeps once what two gradients have in common") {
    constexpr int length = 400, units = 3;
    using net = cn::sequential<cn::input<length, 2>, cn::gru<units>>;
    using step =
        castnet::detail::compiled_step<check::gradients_recipe, net, check::device, 1, true>;
    // The gates, the new state's product with the weight, and h. Of the gradients with respect to
    // the input and by the state only a third differs, which takes the place of that product.
    std::ptrdiff_t const arrays = (3 + 1 + 1) * units * length;
    CHECK(step::value.elements(castnet::ir::region::workspace) < arrays + arrays / 16);
}
#endif
