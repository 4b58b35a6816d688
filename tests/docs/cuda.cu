// The programs of docs/cuda.md, and of docs/tensors.md on a GPU, between "// [name]" and
// "// [/name]".
// [include]
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
// [/include]

#include <castnet/device/cuda/tensor/order.hpp>
#include <castnet/device/cuda/tensor/thrust.hpp>
#include <castnet/policy/model_parallel.hpp>

#include <doctest/doctest.h>
#include <thrust/count.h>

namespace cn = castnet;

using network = cn::sequential<cn::input<1, 12, 12>, cn::conv2d<8, 3>, cn::relu, cn::max_pool2d<2>,
                               cn::flatten, cn::dense<10>>;

TEST_CASE("the programs of docs/cuda.md") {
    cn::data::dataset<cn::data::label<10>, cn::shape<1, 12, 12>> const data{
        std::vector<float>(20 * 144, 0.5F), std::vector<int>(20, 3)};

    // [where]
    using where = cn::policy::cuda;
    cn::model<network, where, cn::batch<16>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 3});
    // [/where]
    CHECK(history["accuracy"].back() == 1);

    // [on_device]
    auto const further = training.fit(cn::on_device(data), {.epochs = 3});
    // [/on_device]
    CHECK(further["accuracy"].back() == 1);

    // [cost]
    cn::gpu_limits const gpu{.bytes_per_second = 3e12, // of a data sheet, or measured
                             .product_flops_per_second = 5e13,
                             .other_flops_per_second = 5e13,
                             .seconds_per_kernel = 1e-6};
    std::string const text = cn::cost_report(training, gpu); // "step: … GB moved, …"
    double const seconds = cn::cuda_floor(training, gpu);    // no step is faster
    // [/cost]
    CHECK(text.find("floor: ") != text.npos);
    CHECK(seconds > 0);

    // [devices]
    using two_gpus = cn::policy::model_parallel<cn::policy::cuda, 2>;
    cn::devices const chosen{0, 1}; // the second argument of a cn::model<network, two_gpus, …>
    // [/devices]
    CHECK(chosen.count() == two_gpus::device::devices);

    // [options]
    using fast = cn::policy::tf32<cn::policy::cuda>;   // tensor cores, factors of 10 bits
    using faster = cn::policy::bf16<cn::policy::cuda>; // factors of 8 bits, half the memory
    using second = cn::policy::on_gpu<1, fast>;        // the second GPU that is visible
    using small = cn::policy::memory_limit<fast, 8'000'000'000>; // bytes
    using tuned = cn::policy::autotuned<fast>;                   // algorithms chosen by timing them
    // [/options]
    static_assert(faster::precision != fast::precision);
    static_assert(second::device_index == 1 && second::precision == fast::precision);
    static_assert(small::budget == 8'000'000'000);
    static_assert(tuned::algorithms != fast::algorithms && tuned::precision == fast::precision);
}

TEST_CASE("tensors on a GPU") {
    // [tensors]
    using gpu = cn::device::cuda;

    auto const points = cn::random_normal<float, cn::shape<1000, 32>>(1);
    auto const x = cn::to<gpu>(points); // tensor<float, shape<1000, 32>, gpu>
    cn::tensor const unit = x / cn::sqrt(cn::sum<1>(x * x, cn::keepdims)); // two kernels
    auto const similar = cn::matmul(unit, cn::transpose(unit));            // cuBLASLt
    float const mean = cn::mean(cn::abs(similar)).item();   // one kernel; waits for the number
    auto const first = cn::to<cn::device::cpu>(similar[0]); // tensor<float, shape<1000>>
    // [/tensors]
    CHECK(first(0) == doctest::Approx(1));
    CHECK(mean < 1);

    // [streams]
    cn::cuda::tensor_stream const copies; // of GPU 0
    auto const next = cn::to<gpu>(points, copies);
    auto const total = cn::sum(unit); // meanwhile
    cn::cuda::tensor_stream::current().wait_for(copies);
    auto const both = cn::sum(next) + total;
    // [/streams]
    CHECK(cn::evaluate(both).item() ==
          doctest::Approx(cn::sum(points) + cn::to<cn::device::cpu>(total)()));

    // [order]
    auto const [values, places] = cn::largest<5>(similar); // shape<1000, 5>
    auto const shuffled = cn::random_permutation<1000, gpu>(3);
    auto const counts = cn::histogram<20>(similar, -1, 1);
    auto const ones = thrust::count(cn::on_stream(), begin(places), end(places), 0);
    // [/order]
    CHECK(ones > 0);
    CHECK(cn::sum(counts).item() > 0);
    CHECK(cn::sum(shuffled).item() == 1000 * 999 / 2);
    CHECK(cn::allclose(cn::select<1>(values, 0), 1, 1e-4));
}
