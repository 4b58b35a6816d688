// Attention on tensor cores beside the kernels without them.
#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/attention.hpp>
#include <castnet/device/cuda/attention_gradient.hpp>

#include "simt.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cuda = castnet::cuda;
using numbers = std::vector<float>;

namespace {

struct problem_case {
    int queries, keys, heads, features, values;
    bool causal = false;
    float keep = 1;
    bool lengths = false;
};

struct attention_result {
    numbers y, log_sum_exp, dq, dk, dv;
};

constexpr int samples = 3;

// Numbers that bfloat16 can hold.
numbers some_numbers(std::size_t count, std::uint32_t seed, float most) {
    numbers all(count);
    for (float& x : all) {
        seed = seed * 1664525U + 1013904223U;
        x = float(castnet::bfloat16(most * (float(seed >> 8) * 0x1p-23F - 1)));
    }
    return all;
}

// Numbers in float or bfloat16, as kernels are given them.
class array {
public:
    array(numbers const& all, bool in_bf16) : wide_{all}, in_bf16_{in_bf16} {
        for (float const x : all) {
            narrow_.emplace_back(x);
        }
    }
    cuda::stored<float> stored() {
        return {in_bf16_ ? reinterpret_cast<float*>(narrow_.data()) : wide_.data(), in_bf16_};
    }
    numbers values() const { return in_bf16_ ? numbers(narrow_.begin(), narrow_.end()) : wide_; }

private:
    numbers wide_;
    std::vector<castnet::bfloat16> narrow_;
    bool in_bf16_;
};

attention_result attend(problem_case const& c, bool on_tensor_cores, bool in_bf16 = false) {
    auto const count = [&](int rows, int columns) {
        return std::size_t(samples * rows * c.heads * columns);
    };
    auto const some = [&](int rows, int columns, std::uint32_t seed, float most) {
        return array{some_numbers(count(rows, columns), seed, most), in_bf16};
    };
    auto const result = [&](int rows, int columns) {
        return array{numbers(count(rows, columns)), in_bf16};
    };
    array q = some(c.queries, c.features, 1, 2), k = some(c.keys, c.features, 2, 2),
          v = some(c.keys, c.values, 3, 1), dy = some(c.queries, c.values, 4, 1),
          lengths{{0, float(c.keys), 1}, false};
    array y = result(c.queries, c.values), dq = result(c.queries, c.features),
          dk = result(c.keys, c.features), dv = result(c.keys, c.values);
    numbers log_sum_exp(count(c.queries, 1));

    castnet::cuda::step_values const now{7, 0};
    cuda::attention_problem<float> p{};
    p.form = {c.heads, c.causal, c.keep < 1 ? 0 : -1};
    p.queries = c.queries;
    p.keys = c.keys;
    p.features = c.features;
    p.values = c.values;
    p.samples = samples;
    p.scale = 1 / std::sqrt(float(c.features));
    p.keep = c.keep;
    p.now = &now;
    p.q = q.stored();
    p.k = k.stored();
    p.v = v.stored();
    if (c.lengths) {
        p.lengths = lengths.stored();
    }
    auto const launch = [&](auto body, int rows) {
        std::size_t const bytes = cuda::fit_tiles(body, sizeof(float));
        int const tiles = samples * c.heads * ((rows + body.tile_side - 1) / body.tile_side);
        simt::launch({unsigned(tiles), cuda::attention_threads, bytes}, body);
    };
    if (on_tensor_cores) {
        launch(cuda::tensor_core_attention_body<float>{{p}, y.stored(), log_sum_exp.data()},
               c.queries);
        cuda::tensor_core_attention_gradient<float> const g{
            {p}, y.stored(), dy.stored(), log_sum_exp.data()};
        launch(cuda::tensor_core_query_gradient_body<float>{g, dq.stored()}, c.queries);
        launch(cuda::tensor_core_key_gradient_body<float>{g, dk.stored(), dv.stored()}, c.keys);
    } else {
        launch(cuda::attention_body<float>{p, y.stored(), log_sum_exp.data()}, c.queries);
        cuda::attention_gradient_problem<float> const g{p, y.stored(), dy.stored(),
                                                        log_sum_exp.data()};
        launch(cuda::attention_query_gradient_body<float>{g, dq.stored()}, c.queries);
        launch(cuda::attention_key_gradient_body<float>{g, dk.stored(), dv.stored()}, c.keys);
    }
    return {y.values(), log_sum_exp, dq.values(), dk.values(), dv.values()};
}

double length(numbers const& x) {
    double sum = 0;
    for (float const one : x) {
        sum += double(one) * one;
    }
    return std::sqrt(sum);
}

// The difference, as a share of what was expected.
double error(numbers found, numbers const& expected) {
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i] -= expected[i];
    }
    return length(found) / length(expected);
}

void compare(problem_case const& c) {
    CAPTURE(c.queries);
    CAPTURE(c.keys);
    CAPTURE(c.features);
    CAPTURE(c.values);
    CAPTURE(c.causal);
    attention_result const expected = attend(c, false);
    // scores are exact but for the order of sums; weights and their gradients have 8 bits, and so
    // have the results in bfloat16
    for (bool const in_bf16 : {false, true}) {
        CAPTURE(in_bf16);
        attention_result const found = attend(c, true, in_bf16);
        CHECK(error(found.log_sum_exp, expected.log_sum_exp) < 1e-6);
        CHECK(error(found.y, expected.y) < 4e-3);
        CHECK(error(found.dq, expected.dq) < 8e-3);
        CHECK(error(found.dk, expected.dk) < 8e-3);
        CHECK(error(found.dv, expected.dv) < 4e-3);
    }
}

} // namespace

TEST_CASE("attention on tensor cores is attention but for the rounding of its weights") {
    SUBCASE("one tile") {
        compare({16, 16, 1, 16, 16});
    }
    SUBCASE("full tiles") {
        compare({128, 64, 2, 64, 64});
    }
    SUBCASE("parts of tiles, causal") {
        compare({131, 131, 2, 40, 40, true});
    }
    SUBCASE("columns by eights, not all") {
        compare({70, 131, 2, 24, 56});
    }
    SUBCASE("few and odd features, other values, another sequence") {
        compare({75, 131, 3, 5, 19});
    }
    SUBCASE("lengths") {
        compare({70, 67, 2, 24, 8, false, 1, true});
    }
    SUBCASE("lengths, causal, dropped weights") {
        compare({70, 70, 2, 32, 32, true, 0.75F, true});
    }
    SUBCASE("one query") {
        compare({1, 65, 2, 16, 16});
    }
}

TEST_CASE("attention on tensor cores has the same bits each time") {
    problem_case const c{70, 131, 2, 24, 33, false, 0.75F, true};
    attention_result const first = attend(c, true), second = attend(c, true);
    CHECK(first.y == second.y);
    CHECK(first.dq == second.dq);
    CHECK(first.dk == second.dk);
    CHECK(first.dv == second.dv);
}
