// Which algorithms policies take for products, of a simulated cuBLASLt (products.hpp).
#include <castnet/device/cuda/libraries.hpp>

#include "machine.hpp"
#include "products.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace cuda = castnet::cuda;
namespace cublas = castnet::cuda::cublas;
using cuda::algorithm_order;

namespace {

using products::simulated;

// How long algorithms take, and how many products are computed from here on.
struct products_timed {
    explicit products_timed(std::vector<double> const& milliseconds) {
        simulated.milliseconds = milliseconds;
        simulated.epilogues = CUBLAS_STATUS_SUCCESS;
        simulated.products = 0;
    }
    operator int() const { return simulated.products; }
};

} // namespace

TEST_CASE("a policy takes the first algorithm, or the fastest, which it then runs") {
    cuda::stream const s;
    cublas::product const p{6, 7, 8};
    products_timed const timed{{3, 2, 1, 2}};
    cuda::libraries guessing{s}, timing{s, algorithm_order::by_time};
    CHECK(guessing.prepare(p).number == 0);
    CHECK(timed == 0);
    CHECK(timing.prepare(p).number == 2);
    CHECK(timed > 4);
    timing.run(p, nullptr, nullptr, nullptr);
    s.wait();
    CHECK(simulated.last == 2);
    guessing.run(p, nullptr, nullptr, nullptr);
    s.wait();
    CHECK(simulated.last == 0);
}

TEST_CASE("equal products share an algorithm, wherever in the process they are") {
    cuda::stream const s, other_stream;
    cublas::product const p{16, 17, 18};
    products_timed const first{{2, 1}};
    cuda::libraries one{s, algorithm_order::by_time};
    CHECK(one.prepare(p).number == 1);
    products_timed const later{{1, 2}};
    cuda::libraries other{other_stream, algorithm_order::by_time};
    CHECK(other.prepare(p).number == 1);
    CHECK(later == 0);
    auto transposed = p;
    transposed.transposed_a = true;
    CHECK(other.prepare(transposed).number == 0);
    CHECK(later > 0);
}

TEST_CASE("where no algorithm has the epilogue, the product's own is taken") {
    cuda::stream const s;
    cublas::product const plain{26, 27, 28};
    auto with_bias = plain;
    with_bias.end = CUBLASLT_EPILOGUE_RELU_BIAS;
    products_timed const timed{{2, 3, 1}};
    simulated.epilogues = CUBLAS_STATUS_NOT_SUPPORTED;
    cuda::libraries unable{s, algorithm_order::by_time}, able{s, algorithm_order::by_time};
    CHECK(unable.prepare(plain).number == 2);
    CHECK_FALSE(unable.prepare(plain).finishes);
    int const before = timed;
    CHECK_FALSE(unable.prepare(with_bias).finishes);
    CHECK(unable.prepare(with_bias).number == 2);
    CHECK(timed == before);
    simulated.epilogues = CUBLAS_STATUS_INVALID_VALUE;
    CHECK_FALSE(cuda::libraries(s).prepare(with_bias).finishes);
    simulated.epilogues = CUBLAS_STATUS_SUCCESS;
    CHECK(able.prepare(with_bias).finishes);
    CHECK(able.prepare(with_bias).number == 2);
    CHECK(timed > before);
    simulated.milliseconds.clear();
    CHECK_THROWS_WITH_AS(unable.prepare({1, 2, 3}),
                         doctest::Contains("castnet: cuBLASLt has no algorithm for the product of "
                                           "1 x 3, and 3 x 2"),
                         castnet::error);
}

TEST_CASE("without memory to try them, the first algorithm is taken and not remembered") {
    cuda::stream const s;
    cublas::product const p{36, 37, 38};
    products_timed const timed{{2, 1}};
    machine::here().is_full = true;
    cuda::libraries first{s, algorithm_order::by_time}, second{s, algorithm_order::by_time};
    CHECK(first.prepare(p).number == 0);
    CHECK(timed == 0);
    machine::here().is_full = false;
    CHECK(second.prepare(p).number == 1);
    CHECK(first.prepare(p).number == 0); // keeps what it has
}

TEST_CASE("a GPU that fails is not one without memory: no algorithm is taken") {
    cuda::stream const s;
    cublas::product const p{46, 47, 48};
    products_timed const timed{{2, 1}};
    for (std::uint64_t const call : {1U, 6U, 12U, 40U, 50U, 60U}) {
        CAPTURE(call);
        cuda::libraries failing{s, algorithm_order::by_time};
        machine::here().calls.set(call, true);
        CHECK_THROWS_AS(failing.prepare(p), castnet::error);
        machine::here().calls.clear();
    }
    CHECK(cuda::libraries(s, algorithm_order::by_time).prepare(p).number == 1);
}
