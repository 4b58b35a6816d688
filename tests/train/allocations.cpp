// The memory of a training step: as large as declared, and taken once.
#include <castnet/castnet.hpp>

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <new>

namespace {

// Atomic, since the other tests of the program have threads.
std::atomic<int> allocations = 0;
std::atomic<std::size_t> allocated = 0; // bytes

void* count(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    allocated += bytes;
    if (void* memory = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment)) {
        return memory;
    }
    throw std::bad_alloc{};
}

} // namespace

// Not inlined: GCC would see free() meet memory from operator new, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return count(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    return count(bytes, 16);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace cn = castnet;

using network = cn::sequential<cn::input<64>, cn::reshape<1, 8, 8>, cn::conv2d<8, 3>,
                               cn::batch_norm, cn::relu, cn::max_pool2d<2>, cn::flatten,
                               cn::dropout<0.25F>, cn::dense<16>, cn::relu, cn::dense<4>>;
using model_type = cn::model<network, cn::policy::cpu, cn::batch<32>>;

TEST_CASE("model and training allocate what they say, and no more") {
    int const before = allocations;
    std::size_t const bytes_before = allocated;
    model_type model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    constexpr std::size_t slack = 128; // behind each of the two blocks; see device/cpu/memory.hpp
    CHECK(training.allocated_bytes() == training.bytes);
    CHECK(allocated - bytes_before >= training.bytes + 2 * slack);

    // Beyond the two blocks: the initial values, one parameter at a time.
    std::size_t initial = 0;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        initial += std::size_t(model.parameter_at(i).count()) * sizeof(double);
    }
    CHECK(allocations - before == 2 + int(model.parameter_tensors()));
    CHECK(allocated - bytes_before == training.bytes + 2 * slack + initial);
    CHECK(training.bytes == model_type::parameter_bytes + training.gradient_bytes +
                                training.optimizer_bytes + training.batch_bytes +
                                training.workspace_bytes);
    CHECK(training.optimizer_bytes == 2 * training.gradient_bytes);
}

TEST_CASE("steps and evaluation allocate nothing") {
    auto const data = cn::data::blobs<4, 64>(100, 1);
    model_type model;
    auto training =
        cn::compile(model, cn::cross_entropy, cn::clip_norm(cn::adam{}, 1), cn::accuracy);
    std::size_t const full[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    std::size_t const few[] = {40, 41, 99};
    training.step(data, full);
    training.evaluate(data); // the first one makes room for the numbers of a batch's samples
    float const class_weight[] = {1, 2, 1, 0};

    int const before = allocations;
    for (int i = 0; i < 5; ++i) {
        training.step(data, full);
        training.step(data, few, 1e-3, class_weight);
    }
    training.evaluate(data);
    CHECK(allocations == before);
    CHECK(training.steps() == 11);
}

TEST_CASE("prediction of a sample allocates nothing after the first") {
    model_type const model;
    float const sample[64] = {1, 2, 3};
    float scores[4];
    int const none = allocations;
    model.predict_one(sample, scores);
    CHECK(allocations > none);
    int const before = allocations;
    for (int i = 0; i < 5; ++i) {
        model.predict_one(sample, scores);
    }
    CHECK(allocations == before);

    cn::predictor predictor{model};
    int const made = allocations;
    CHECK(made > before);
    predictor.predict_one(sample, scores);
    CHECK(allocations == made);
}

TEST_CASE("prediction step by step allocates nothing after its construction") {
    using net = cn::sequential<cn::input<4, 2>, cn::multi_head_attention<1>.causal(), cn::lstm<3>,
                               cn::dense<1>>;
    cn::model<net, cn::policy::cpu, cn::batch<1>> const model;
    int const before = allocations;
    cn::stateful_predictor steps{model};
    int const made = allocations;
    CHECK(made > before);
    float const step[2] = {1, 2};
    for (int i = 0; i < 4; ++i) {
        steps.predict(step);
    }
    steps.reset();
    CHECK(allocations == made);
}
