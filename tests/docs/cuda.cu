// The programs of docs/cuda.md, between "// [name]" and "// [/name]".
// [include]
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>
// [/include]

#include <castnet/policy/model_parallel.hpp>

#include <doctest/doctest.h>

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
