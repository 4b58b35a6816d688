// Tensors on a GPU, compared with those of the host: on a simulated GPU, or compiled by nvcc on a
// real one.
#include <castnet/castnet.hpp>
#include <castnet/device/cuda/tensor.hpp>

#include "tensor_launches.hpp"
#ifndef __CUDACC__
#include "products.hpp"
#endif

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace cn = castnet;
using host_device = cn::device::cpu;
using gpu_device = cn::device::cuda;

namespace {

template <class T, std::size_t... D>
using host = cn::tensor<T, cn::shape<D...>>;
template <class T, std::size_t... D>
using gpu = cn::tensor<T, cn::shape<D...>, gpu_device>;

// On the host: a number, or a tensor of its own.
template <class X>
auto value_of(X const& x) {
    if constexpr (std::is_arithmetic_v<X>) {
        return x;
    } else if constexpr (X::shape_type::rank == 0) {
        return cn::to<host_device>(x)();
    } else {
        return cn::to<host_device>(x);
    }
}

#ifdef __CUDACC__
constexpr double least_difference = 1e-5; // (cuBLASLt's gelu is off by 4e-6)
#else
constexpr double least_difference = 1e-6;
#endif

template <class X>
void check_close(X const& x, X const& expected) {
    if constexpr (std::is_arithmetic_v<X>) {
        CHECK(double(x) == doctest::Approx(double(expected)));
    } else {
        CAPTURE(x);
        CAPTURE(expected);
        CHECK(cn::allclose(x, expected, 1e-5, least_difference));
    }
}

// f gives the same for tensors of the host and for their copies on a GPU, there by so many kernels.
template <class F, class... X>
void alike(int kernels, F const& f, X const&... x) {
    auto const expected = value_of(f(x...));
    [&](auto const&... on_gpu) {
        int const before = check::launches();
        cn::tensor const found = f(on_gpu...);
        if (before >= 0) {
            CHECK(check::launches() - before == kernels);
        }
        auto const back = value_of(found);
        static_assert(std::is_same_v<decltype(back), decltype(expected)>);
        check_close(back, expected);
    }(cn::to<gpu_device>(x)...);
}

template <class T, std::size_t... D>
host<T, D...> numbers(std::uint64_t seed) {
    return cn::random_normal<T, cn::shape<D...>>(seed);
}

} // namespace

TEST_CASE("tensors go to a GPU and come back") {
    auto const x = host<int, 2, 3>{{1, 2, 3}, {4, 5, 6}};
    gpu<int, 2, 3> const there = cn::to<gpu_device>(x);
    CHECK(cn::array_equal(cn::to<host_device>(there), x));
    CHECK(cn::array_equal(cn::to<host_device>(cn::transpose(there)), cn::transpose(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::to<gpu_device>(cn::transpose(x))),
                          cn::transpose(x)));
    gpu<int, 2, 3> copy = there;
    gpu<int, 2, 3> moved = std::move(copy);
    gpu<int, 2, 3> const of_moved = copy; // of anything
    copy = moved + 1;                     // usable again
    CHECK(cn::array_equal(cn::to<host_device>(copy), x + 1));
    CHECK(cn::array_equal(cn::to<host_device>(moved), x));
    CHECK(cn::array_equal(cn::to<host_device>(gpu<int, 2, 3>{}), host<int, 2, 3>{}));
    CHECK(cn::array_equal(cn::to<host_device>(gpu<int, 3>::full(7)), host<int, 3>::full(7)));
    CHECK(cn::to<gpu_device>(host<int, 1>::full(5)).item() == 5);
    moved = copy;
    std::swap(moved, copy);
    CHECK(cn::array_equal(cn::to<host_device>(std::move(moved).as<cn::shape<6>>()),
                          host<int, 6>::arange(2)));
}

TEST_CASE("a chain of operations on a GPU is one launch") {
    auto const a = numbers<float, 37, 20>(1), b = numbers<float, 37, 20>(2);
    alike(
        1, [](auto const& x, auto const& y) { return cn::exp(-x) * 2 + y / 3 - cn::tanh(x * y); },
        a, b);
    auto const row = numbers<float, 20>(3);
    auto const column = numbers<float, 37, 1>(4);
    alike(
        1, [](auto const& x, auto const& r, auto const& c) { return (x - r) * c + cn::erf(x); }, a,
        row, column);
    alike(
        1, [](auto const& x, auto const& y) { return cn::where(x > y, x, cn::clip(y, -1, 0.5)); },
        a, b);
    // counts that no group of lanes divides
    alike(1, [](auto const& x) { return cn::sqrt(cn::abs(x)) + 1; }, numbers<float, 1031>(5));
    alike(1, [](auto const& x) { return x * x; }, numbers<double, 3>(6));
    // in other types
    auto const n = host<int, 9, 6>::arange();
    alike(1, [](auto const& x, auto const& y) { return x * y + 1; }, n, numbers<double, 9, 6>(7));
    auto const bytes = host<unsigned char, 64>::arange();
    alike(1, [](auto const& x) { return x / 2 + x; }, bytes);
    alike(1, [](auto const& x) { return x == 3; }, n);
}

TEST_CASE("views of tensors on a GPU") {
    auto const x = numbers<float, 6, 8>(1);
    alike(1, [](auto const& t) { return cn::transpose(t) * 2; }, x);
    alike(1, [](auto const& t) { return cn::slice<1, 1, 8, 3>(t) + cn::slice<1, 0, 3>(t); }, x);
    alike(1, [](auto const& t) { return cn::slice<0, 1, 5>(t) + t[2]; }, x);
    alike(1, [](auto const& t) { return cn::slice<1, 1, 5>(t) + cn::slice<1, 4, 8>(t); }, x);
    alike(1, [](auto const& t) { return cn::transpose<2, 0, 1>(cn::reshape<2, 3, 8>(t)) - 1; }, x);
    alike(1, [](auto const& t) { return cn::broadcast_to<4, 8>(cn::select<0>(t, 3)) + 0; }, x);
    alike(1, [](auto const& t) { return t[1] * cn::expand_dims<1>(t[0]); }, x);

    // assigned to
    auto expected = x;
    auto found = cn::to<gpu_device>(x);
    auto const change = [](auto& t) {
        cn::slice<0, 1, 6, 2>(t) = cn::slice<0, 0, 6, 2>(t) * 3;
        cn::select<1>(t, 2) = 5;
        t[5] = t[0];
        t += 1;
        cn::slice<1, 0, 6>(t) = cn::transpose(cn::slice<1, 2, 8>(t)); // overlaps
        cn::slice<1, 0, 6>(t) = cn::slice<1, 1, 7>(t);                // so does this
        t = t - t[0];
    };
    change(expected);
    change(found);
    CHECK(cn::array_equal(cn::to<host_device>(found), expected));
}

TEST_CASE("reductions on a GPU compute what they reduce on the way") {
    auto const x = numbers<float, 5, 12, 16>(1);
    alike(1, [](auto const& t) { return cn::sum(cn::square(t) + 1); }, x);
    alike(1, [](auto const& t) { return cn::mean<0>(cn::exp(t)); }, x);
    alike(1, [](auto const& t) { return cn::mean<1>(t * t); }, x);
    alike(1, [](auto const& t) { return cn::max<2>(t); }, x);
    alike(1, [](auto const& t) { return cn::min<0, 2>(-t); }, x);
    alike(1, [](auto const& t) { return cn::prod<1, 2>(1 + t / 100); }, x);
    alike(1, [](auto const& t) { return cn::argmax<2>(t); }, x);
    alike(1, [](auto const& t) { return cn::argmin<0, 1>(t); }, x);
    alike(1, [](auto const& t) { return cn::argmax(t); }, x);
    alike(1, [](auto const& t) { return cn::sum<1>(t, cn::keepdims); }, x);
    alike(1, [](auto const& t) { return cn::sum<0, 1>(cn::transpose(t)); }, x);
    alike(1, [](auto const& t) { return cn::max<0>(t + t[1]); }, numbers<double, 7, 3>(2));
    alike(
        2, [](auto const& t) { return cn::evaluate(t / cn::sum<1>(t, cn::keepdims)); },
        numbers<float, 4, 6>(3));
    alike(1, [](auto const& t) { return cn::sum<0>(t); }, host<int, 100, 3>::arange());
    alike(1, [](auto const& t) { return cn::mean(t); }, host<unsigned char, 200>::arange());
    alike(1, [](auto const& t) { return cn::dot(t, t); }, numbers<double, 77>(4));
}

TEST_CASE("reductions of many elements are split among blocks") {
    auto const x = numbers<float, 40000>(1);
    alike(1, [](auto const& t) { return cn::sum(t); }, x);
    alike(1, [](auto const& t) { return cn::max(cn::abs(t)); }, x);
    alike(1, [](auto const& t) { return cn::mean(t); }, host<int, 40000>::arange(2000000000));
    alike(1, [](auto const& t) { return cn::sum(t); }, host<int, 40000>::arange(2000000000));
    alike(1, [](auto const& t) { return cn::argmin(t); }, x);
    alike(1, [](auto const& t) { return cn::sum<0>(t); }, numbers<float, 9000, 4>(2));
}

TEST_CASE("NaN in reductions on a GPU") {
    auto x = numbers<float, 300>(1);
    x(17) = x(40) = std::numeric_limits<float>::quiet_NaN();
    auto const there = cn::to<gpu_device>(x);
    CHECK(std::isnan(cn::max(there).item()));
    CHECK(std::isnan(cn::sum(there).item()));
    CHECK(cn::argmax(there).item() == 17);
}

TEST_CASE("statistics, joined tensors and comparisons on a GPU") {
    auto const x = numbers<double, 6, 10>(1);
    auto const y = cn::to<gpu_device>(x);
    CHECK(cn::norm(y).item() == doctest::Approx(cn::norm(x)));
    CHECK(cn::allclose(cn::to<host_device>(cn::variance<1>(y)), cn::variance<1>(x)));
    CHECK(cn::allclose(cn::to<host_device>(cn::standard_deviation<0>(y)),
                       cn::standard_deviation<0>(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::concatenate<1>(y, y + 1)),
                          cn::concatenate<1>(x, x + 1)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::stack<0>(y, -y)), cn::stack<0>(x, -x)));
    CHECK(cn::array_equal(y, y + 0));
    CHECK_FALSE(cn::array_equal(y, y + 1));
    CHECK(cn::allclose(y, y * (1 + 1e-7)));
    CHECK_FALSE(cn::allclose(y, y * 1.01));
    CHECK_FALSE(cn::allclose(y / 0 * 0, y));
}

TEST_CASE("rounding, and tests for NaN and infinity on a GPU") {
    auto x = numbers<float, 7, 9>(1);
    x(3, 3) = std::numeric_limits<float>::quiet_NaN();
    x(4, 0) = -std::numeric_limits<float>::infinity();
    alike(
        1,
        [](auto const& t) {
            auto const finite = cn::where(cn::isfinite(t), 8 * t, 100);
            return cn::floor(finite) + cn::ceil(finite) * 3 + cn::round(finite) * 10 + cn::isnan(t);
        },
        x);
    alike(1, [](auto const& t) { return cn::any<0>(cn::isnan(t)); }, x);
    alike(1, [](auto const& t) { return cn::all<1>(cn::isfinite(t)); }, x);
    alike(1, [](auto const& t) { return cn::any(t); }, host<int, 40000>::arange());
    alike(1, [](auto const& t) { return cn::all(t); }, host<int, 40000>::arange());
    alike(5, [](auto const& t) { return cn::logsumexp<1>(50 * t); }, numbers<float, 7, 9>(2));
}

TEST_CASE("functions of numbers on a GPU") {
    auto const check = []<class T>(T) {
        auto const a = numbers<T, 11, 20>(1), b = numbers<T, 11, 20>(2);
        alike(
            1,
            [](auto const& x, auto const& y) {
                return cn::exp2(x) + cn::log2(cn::abs(y) + 0.1) * cn::log10(cn::abs(x) + 1) +
                       cn::cbrt(y) * cn::hypot(x, y) + cn::logaddexp(x, y);
            },
            a, b);
        alike(
            1,
            [](auto const& x, auto const& y) {
                return cn::sinh(x) - cn::cosh(y) + cn::asinh(x) * cn::acosh(cn::abs(y) + 1) +
                       cn::atanh(x / 5) * cn::tan(y / 3) + cn::atan2(x, y);
            },
            a, b);
        alike(
            1,
            [](auto const& x, auto const& y) {
                return cn::asin(x / 5) * cn::acos(y / 5) + cn::atan(x) + cn::erfc(y) +
                       cn::erfinv(x / 5) * cn::xlogy(cn::abs(x), cn::abs(y) + 0.1) +
                       cn::logit(cn::sigmoid(y));
            },
            a, b);
        alike(
            1,
            [](auto const& x, auto const& y) {
                return cn::lgamma(x - 0.3) + cn::digamma(cn::abs(y) + 0.1) +
                       cn::polygamma(1, cn::abs(x) + 0.5) * cn::polygamma(2, cn::abs(y) + 0.5);
            },
            a, b);
        alike(
            1,
            [](auto const& x, auto const& y) {
                return cn::fmod(9 * x, y) + 10 * cn::remainder(9 * y, x) + cn::pow(2, x);
            },
            a, b);
    };
    check(float{});
    check(double{});
    auto const n = host<int, 9, 6>::arange();
    alike(
        1, [](auto const& t) { return cn::fmod(t - 20, 7) + 100 * cn::remainder(t - 20, -7); }, n);
    alike(
        1, [](auto const& t) { return cn::where(t > 5, t, -t) + (t <= 7); },
        host<std::int64_t, 40>::arange(-9));
}

TEST_CASE("reductions that pass over NaN, and products of vectors on a GPU") {
    auto x = numbers<double, 5, 6>(1);
    x(2, 3) = x(4, 4) = std::numeric_limits<double>::quiet_NaN();
    auto const y = cn::to<gpu_device>(x);
    CHECK(cn::allclose(cn::to<host_device>(cn::nansum<0>(y)), cn::nansum<0>(x)));
    CHECK(cn::nanmean(y).item() == doctest::Approx(cn::nanmean(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::nanmax<1>(y)), cn::nanmax<1>(x)));
    CHECK(cn::nanmin(y).item() == cn::nanmin(x));
    auto const a = numbers<double, 3, 4>(2);
    auto const b = numbers<double, 2, 5>(3);
    auto const a_there = cn::to<gpu_device>(a);
    auto const b_there = cn::to<gpu_device>(b);
    CHECK(cn::allclose(cn::to<host_device>(cn::kron(a_there, b_there)), cn::kron(a, b)));
    CHECK(cn::allclose(cn::to<host_device>(cn::outer(a_there[0], b_there[1])),
                       cn::outer(a[0], b[1])));
    CHECK(cn::allclose(cn::to<host_device>(cn::corrcoef(a_there)), cn::corrcoef(a)));
    CHECK(cn::allclose(cn::to<host_device>(cn::softmax(a_there)), cn::softmax(a)));
    CHECK(cn::allclose(cn::to<host_device>(cn::log_softmax.along<0>(a_there)),
                       cn::log_softmax.along<0>(a)));
}

TEST_CASE("elements at other places on a GPU") {
    auto const x = numbers<float, 3, 5, 4>(1);
    alike(1, [](auto const& t) { return cn::flip<1>(t); }, x);
    alike(2, [](auto const& t) { return cn::flip<0, 2>(t); }, x);
    alike(1, [](auto const& t) { return cn::roll<2>(t, -3); }, x);
    alike(
        1, [](auto const& t, auto const& ids) { return cn::take<1>(t, ids); }, x,
        host<int, 2, 2>{{4, 0}, {0, 1}});
    alike(1, [](auto const& t) { return cn::tile<2, 1, 3>(t); }, x);
    alike(1, [](auto const& t) { return cn::repeat_interleave<0, 4>(t); }, x);
    alike(3, [](auto const& t) { return cn::pad<1, 2, 1>(t, -1); }, x);
    alike(2, [](auto const& t) { return cn::flip<0>(cn::transpose(t)); }, x);
}

TEST_CASE("places in ordered numbers on a GPU") {
    alike(
        1, [](auto const& v, auto const& x) { return cn::searchsorted(v, x); },
        cn::sort(numbers<float, 33>(1)), numbers<float, 20, 30>(2));
}

TEST_CASE("sums of products by their letters on a GPU") {
    alike(
        1, [](auto const& a, auto const& b) { return cn::einsum<"bij,kj->bik">(a, b); },
        numbers<float, 3, 4, 5>(1), numbers<float, 6, 5>(2));
    alike(1, [](auto const& a) { return cn::einsum<"ii->i">(a); }, numbers<double, 7, 7>(1));
    CHECK(cn::to_string(cn::to<gpu_device>(host<int, 2>{1, 2})) == "[1 2]");
}

TEST_CASE("random tensors on a GPU have the host's numbers") {
    auto const uniform = cn::random_uniform<float, cn::shape<7, 11>, gpu_device>(3, -1, 2, 5);
    CHECK(cn::allclose(cn::to<host_device>(uniform),
                       cn::random_uniform<float, cn::shape<7, 11>>(3, -1, 2, 5)));
    auto const normal = cn::random_normal<double, cn::shape<600>, gpu_device>(4, 1, 3);
    CHECK(cn::allclose(cn::to<host_device>(normal),
                       cn::random_normal<double, cn::shape<600>>(4, 1, 3)));
}

TEST_CASE("products on a GPU") {
    auto const multiply = [](auto const& a, auto const& b) { return cn::matmul(a, b); };
    alike(0, multiply, numbers<float, 5, 7>(1), numbers<float, 7, 3>(2));
    alike(0, multiply, numbers<double, 7>(1), numbers<double, 7, 3>(2));
    alike(0, multiply, numbers<double, 4, 7>(1), numbers<double, 7>(2));
    alike(0, multiply, numbers<double, 7>(1), numbers<double, 7>(2));
    alike(
        0,
        [](auto const& a, auto const& b) { return cn::matmul(cn::transpose(a), cn::transpose(b)); },
        numbers<float, 7, 5>(1), numbers<float, 3, 7>(2));
    alike(
        0, [](auto const& a) { return cn::matmul(cn::slice<1, 2, 6>(a), cn::slice<0, 1, 5>(a)); },
        numbers<double, 8, 8>(1));
    alike(
        1, [](auto const& a, auto const& b) { return cn::matmul(a + 1, b); },
        numbers<float, 5, 7>(1), numbers<float, 7, 3>(2));
    alike(
        1,
        [](auto const& a) { return cn::matmul(cn::slice<1, 0, 8, 2>(a), cn::slice<1, 0, 3>(a)); },
        numbers<float, 4, 8>(1));
    // batches
    alike(0, multiply, numbers<float, 6, 5, 7>(1), numbers<float, 6, 7, 3>(2));
    alike(0, multiply, numbers<float, 6, 5, 7>(1), numbers<float, 7, 3>(2));
    alike(0, multiply, numbers<float, 2, 3, 4, 5>(1), numbers<float, 2, 3, 5, 2>(2));
    alike(0, multiply, numbers<float, 2, 1, 4, 5>(1), numbers<float, 1, 3, 5, 2>(2));
    alike(
        0,
        [](auto const& a, auto const& b) {
            return cn::matmul(cn::transpose<1, 0, 2>(a), cn::transpose<1, 2, 0>(b));
        },
        numbers<double, 4, 2, 5>(1), numbers<double, 3, 2, 5>(2));
}

TEST_CASE("ends of products on a GPU") {
    auto const a = numbers<float, 12, 7>(1);
    auto const b = numbers<float, 7, 10>(2);
    auto const row = numbers<float, 10>(3);
    // by cuBLASLt, without a kernel
    auto const by_library = [](auto const& x, auto const& y, auto const& bias) {
        return cn::matmul(x, y, [&](auto p) { return cn::relu(0.5 * p + bias); });
    };
    alike(0, by_library, a, b, row);
    alike(0, by_library, numbers<float, 3, 12, 7>(1), b, row);
    alike(
        0,
        [](auto const& x, auto const& y, auto const& bias) {
            return cn::matmul(x, y, [&](auto p) { return cn::gelu_tanh(bias + p); });
        },
        a, b, row);
    alike(
        0,
        [](auto const& x, auto const& y) { return cn::matmul(x, y, [](auto p) { return 3 * p; }); },
        numbers<double, 6, 7>(1), numbers<double, 7, 10>(2));
    alike(
        0,
        [](auto const& x, auto const& y) {
            return cn::matmul(x, y, [](auto p) { return cn::relu(p); });
        },
        a, b);
    // by one kernel more: another function, a number for each row, doubles, vectors, in parts
    alike(
        1,
        [](auto const& x, auto const& y, auto const& bias) {
            return cn::matmul(x, y, [&](auto p) { return cn::tanh(p * 2 + bias) * p; });
        },
        a, b, row);
    alike(
        1,
        [](auto const& x, auto const& y, auto const& bias) {
            return cn::matmul(x, y, [&](auto p) { return cn::relu(p + bias); });
        },
        a, b, numbers<float, 12, 1>(3));
    alike(1, by_library, numbers<double, 4, 7>(1), numbers<double, 7, 10>(2),
          numbers<double, 10>(3));
    alike(1, by_library, numbers<float, 7>(1), b, row);
    alike(1, by_library, numbers<float, 2, 1, 12, 7>(1), numbers<float, 1, 3, 7, 10>(2), row);
    alike(
        1,
        [](auto const& x, auto const& y, auto const& bias) {
            return cn::matmul(x, y,
                              [&](auto p) { return cn::relu(p + cn::slice<0, 1, 11>(bias)); });
        },
        a, b, numbers<float, 11>(3));
}

TEST_CASE("streams of tensors") {
    cn::cuda::tensor_stream const first, second;
    auto const x = numbers<float, 500>(1);
    auto const on_first = cn::to<gpu_device>(x, first);
    gpu<float, 500> result;
    second.wait_for(cn::cuda::tensor_stream::current()); // which sets result to 0
    {
        cn::cuda::stream_scope const scope{second};
        second.wait_for(first);
        result = on_first * 2;
        first.wait_for(second); // before on_first goes back to its stream
    }
    cn::cuda::tensor_stream::current().wait_for(second);
    CHECK(cn::array_equal(cn::to<host_device>(result), x * 2));

    host<float, 500> back;
    second.wait_for(cn::cuda::tensor_stream::current());
    cn::copy(result, back, second);
    second.wait();
    CHECK(second.is_done());
    CHECK(cn::array_equal(back, x * 2));
}

#ifndef __CUDACC__
TEST_CASE("the end of a product is a kernel where cuBLASLt has no epilogue") {
    cn::cuda::tensor_stream const own; // which prepares its products anew
    cn::cuda::stream_scope const scope{own};
    products::simulated.epilogues = CUBLAS_STATUS_NOT_SUPPORTED;
    alike(
        1,
        [](auto const& x, auto const& y, auto const& bias) {
            return cn::matmul(x, y, [&](auto p) { return cn::relu(0.5 * p + bias); });
        },
        numbers<float, 5, 7>(1), numbers<float, 7, 10>(2), numbers<float, 10>(3));
    products::simulated.epilogues = CUBLAS_STATUS_SUCCESS;
}

TEST_CASE("after a stream's scope, a thread's own stream is on the GPU that was current before") {
    std::thread([] {
        cn::cuda::tensor_stream const elsewhere{2};
        cudaSetDevice(1);
        {
            cn::cuda::stream_scope const scope{elsewhere};
        }
        CHECK(cn::cuda::tensor_stream::current().gpu() == 1);
    }).join();
}

TEST_CASE("a GPU without memory for a tensor") {
    machine::here().is_full = true;
    CHECK_THROWS_WITH_AS((gpu<double, 1000>{}),
                         doctest::Contains("castnet: a tensor takes 8000 bytes, but the GPU has"),
                         cn::error);
    machine::here().is_full = false;
    CHECK_THROWS_WITH_AS(
        cn::cuda::tensor_stream{7},
        doctest::Contains("castnet: device::cuda was given GPU 7, but the program"), cn::error);
}

TEST_CASE("what could not be allocated for a reduction or a product once is allocated later") {
    auto const numbers_here = numbers<double, 100'000>(1);
    auto const matrix_here = numbers<double, 20, 30>(2);
    for (std::uint64_t call = 1; call < 12; ++call) {
        CAPTURE(call);
        cn::cuda::tensor_stream const own;
        cn::cuda::stream_scope const scope{own};
        auto const x = cn::to<gpu_device>(numbers_here);
        auto const a = cn::to<gpu_device>(matrix_here);
        auto const sum = [&] { return cn::sum(x).item(); };
        auto const product = [&] { return value_of(cn::matmul(a, cn::transpose(a))); };
        machine::here().calls.set(call);
        try {
            sum();
        } catch (cn::error const&) {
        }
        machine::here().calls.set(call);
        try {
            product();
        } catch (cn::error const&) {
        }
        machine::here().calls.clear();
        CHECK(sum() == doctest::Approx(cn::sum(numbers_here)));
        check_close(product(), cn::tensor(cn::matmul(matrix_here, cn::transpose(matrix_here))));
    }
}
#endif
