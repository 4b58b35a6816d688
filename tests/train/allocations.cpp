// The memory of a training step: as large as declared, and taken once. And what is left where there
// is none.
#include <castnet/castnet.hpp>

#include "../temporary_path.hpp"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

namespace {

// Atomic, since the other tests of the program have threads.
std::atomic<int> allocations = 0;
std::atomic<std::size_t> allocated = 0; // bytes
std::atomic<int> refused = -1;          // the number of the allocation that fails; none

void* count(std::size_t bytes, std::size_t alignment) {
    if (++allocations == refused) {
        throw std::bad_alloc{};
    }
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
// (That of std::stable_sort, which AddressSanitizer would take from its own memory.)
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    try {
        return operator new(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
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

TEST_CASE("a block for which there is no memory is refused with a sentence") {
    std::string message;
    refused = allocations + 1;
    try {
        cn::cpu::memory const block{1 << 20};
    } catch (cn::error const& e) {
        message = e.what();
    }
    refused = -1;
    CHECK(message.starts_with("castnet: the system refuses 1 MiB of memory"));
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
    auto const batch = data.take(20);

    int const before = allocations;
    for (int i = 0; i < 5; ++i) {
        training.step(data, full);
        training.step(batch);
        training.step(data, few, 1e-3, class_weight);
    }
    training.evaluate(data);
    CHECK(allocations == before);
    CHECK(training.steps() == 16);
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

namespace {

// Whether f() came to its end, where its n-th allocation fails (from 1).
bool done_without(int n, auto const& f) {
    refused = allocations + n;
    bool done = true;
    try {
        f();
    } catch (std::bad_alloc const&) {
        done = false;
    } catch (cn::error const&) { // a sentence about it
        done = false;
    }
    refused = -1;
    return done;
}

struct trained { // 40 samples an epoch
    model_type model{cn::seed{3}};
    decltype(cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy)) training =
        cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);

    void fit() { training.fit(cn::data::blobs<4, 64>(40, 1), {.verbose = cn::verbosity::silent}); }
    auto numbers() const {
        std::vector<float> all;
        for (std::size_t i = 0; i < model_type::parameter_tensors(); ++i) {
            auto const some = model.get(model_type::parameter_at(i).name.text());
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }
};

std::string content_of(std::string const& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace

TEST_CASE("where memory ends, a file is loaded or saved as a whole or not at all") {
    check::temporary_path const folder{"weights_and_checkpoints"};
    std::filesystem::create_directory(folder.name);
    std::string const weights = folder.name + "/weights", checkpoint = folder.name + "/checkpoint",
                      saved = folder.name + "/saved";
    trained source;
    source.fit();
    cn::save(source.model, weights);
    cn::save(source.training, checkpoint);
    auto const before = trained{}.numbers(), after = source.numbers();
    auto const fresh = [&] {
        trained t;
        t.fit();
        return t.numbers();
    }();
    auto const load = [&](auto const& of) {
        for (int n = 1;; ++n) {
            CAPTURE(n);
            trained t;
            bool const done = done_without(n, [&] { of(t); });
            REQUIRE(t.numbers() == (done ? after : before));
            if (done) {
                return n;
            }
            t.fit(); // from the beginning
            REQUIRE(t.numbers() == fresh);
        }
    };
    CHECK(load([&](trained& t) { cn::load(t.model, weights); }) > 10);
    CHECK(load([&](trained& t) { cn::load(t.model, weights, cn::partial{}); }) > 10);
    CHECK(load([&](trained& t) { cn::load(t.training, checkpoint); }) > 10);
    auto const save = [&](auto const& what) {
        for (int n = 1;; ++n) {
            CAPTURE(n);
            std::ofstream{saved} << "old";
            bool const done = done_without(n, [&] { cn::save(what, saved); });
            REQUIRE((content_of(saved) == "old") == !done);
            if (done) {
                return n;
            }
        }
    };
    CHECK(save(source.model) > 10);
    CHECK(save(source.training) > 10);
}
