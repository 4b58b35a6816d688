// An expression over tensors allocates its result and nothing else; assigning allocates nothing.
#include <castnet/tensor/tensor.hpp>

#include <cstdlib>
#include <doctest/doctest.h>
#include <new>
#include <thread>
#include <utility>

namespace {

int allocations = 0;

} // namespace

// Not inlined: GCC would see free() meet memory from operator new, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    ++allocations;
    auto const unit = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
        return memory;
    }
    throw std::bad_alloc{};
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes != 0 ? bytes : 1)) {
        return memory;
    }
    throw std::bad_alloc{};
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

using namespace castnet;

using matrix = tensor<float, shape<20, 30>>;

namespace {

template <class Action>
int allocated_by(Action const& action) {
    int const before = allocations;
    action();
    return allocations - before;
}

} // namespace

TEST_CASE("expressions have no temporaries") {
    matrix const a = matrix::arange();
    tensor<float, shape<30>> const row = tensor<float, shape<30>>::arange();
    matrix result;

    CHECK(allocated_by([&] { matrix const made = a; }) == 1); // the count is alive
    CHECK(allocated_by([&] { matrix const made = castnet::exp(-a * row) + 2 * a / row; }) == 1);
    CHECK(allocated_by([&] { static_cast<void>(a * 2 + row); }) == 0);
    CHECK(allocated_by([&] { result = relu(a - row) * a; }) == 0);
    CHECK(allocated_by([&] { result += a * a; }) == 0);
    CHECK(allocated_by([&] { slice<0, 2, 9>(result) = row + 1; }) == 0);
    CHECK(allocated_by([&] { transpose(result) *= 2; }) == 0);
    CHECK(allocated_by([&] { static_cast<void>(sum<0>(stack<0>(a, a))); }) == 2);
    CHECK(allocated_by([&] { static_cast<void>(sum<1>(a * row)); }) == 0); // few numbers
    CHECK(allocated_by([&] { static_cast<void>(variance<1>(a)); }) == 0);
    CHECK(allocated_by([&] { static_cast<void>(variance<1>(a * row)); }) == 1);
    CHECK(allocated_by([&] { static_cast<void>(matmul(slice<0, 0, 8>(a), row)); }) == 0);
    CHECK(allocated_by([&] { static_cast<void>(matrix::ones() + matrix::ones()); }) == 2);
}

TEST_CASE("an expression is computed in the memory of a temporary tensor that it has") {
    matrix const a = matrix::arange();
    tensor<float, shape<30, 20>> const other = tensor<float, shape<30, 20>>::ones();
    tensor<float, shape<30>> const row = tensor<float, shape<30>>::arange();
    CHECK(allocated_by([&] {
              matrix const made = 1 - relu(2 * matrix::full(3) + row) * a;
              CHECK(array_equal(made, 1 - (6 + row) * a));
          }) == 1);
    CHECK(allocated_by([&] {
              auto const made = evaluate(matrix::full(3) * matrix::full(2));
              CHECK(array_equal(made, matrix::full(6)));
          }) == 3); // and the last line's
    CHECK(allocated_by([&] { tensor<double, shape<20, 30>> const wider = -matrix::ones(); }) == 2);
    CHECK(allocated_by([&] {
              static_cast<void>(matmul(a, other, [](auto y) { return y / 2; }));
          }) == 1); // (turned operands may be copied, depending on the vectors)

    auto named = matrix::full(3) + row; // what has a name stays as it is
    matrix const first = named, second = named;
    CHECK(array_equal(first, 3 + row));
    CHECK(array_equal(second, first));
    matrix const last = std::move(named);
    CHECK(array_equal(last, first));
}

TEST_CASE("a thread keeps the memory of the large tensors that it left last") {
    using large = tensor<float, shape<131, 127>>;
    auto const use = [] {
        large const one, two, three;
        CHECK(one.data() != two.data());
        CHECK(two.data() != three.data());
        CHECK(large{}.data() != nullptr);
    };
    CHECK(allocated_by(use) == 4);
    CHECK(allocated_by(use) == 0);
    CHECK(allocated_by([] { static_cast<void>(large::full(1) + large::full(2)); }) == 0);
    CHECK(allocated_by([] { tensor<float, shape<131, 128>> const other; }) == 1);
    large moved;
    std::thread([&moved] {
        CHECK(allocated_by([] { large const one; }) == 1);
        CHECK(allocated_by([] { large const one; }) == 0);
        moved = large::full(3);
    }).join();
    CHECK(moved(130, 126) == 3);
    CHECK(allocated_by([] { large const one, two; }) == 0);
}

TEST_CASE("memory that is not kept") {
    CHECK(allocated_by([] { matrix const one; }) == 1);
    CHECK(allocated_by([] { matrix const one; }) == 1);
    using huge = tensor<float, shape<5000, 5000>>;
    CHECK(allocated_by([] { static_cast<void>(huge::empty()); }) == 1);
    CHECK(allocated_by([] { static_cast<void>(huge::empty()); }) == 1);
    using half = tensor<float, shape<2048, 4096>>; // of what a thread keeps
    auto const use = [] {
        half const one = half::empty(), two = half::empty(), three = half::empty();
    };
    std::thread([&use] {
        CHECK(allocated_by(use) == 3);
        CHECK(allocated_by(use) == 1);
        CHECK(allocated_by([] { tensor<float, shape<131, 129>> const small; }) == 1);
        CHECK(allocated_by([] { tensor<float, shape<131, 129>> const small; }) ==
              0); // in its place
        CHECK(allocated_by(use) == 2);
    }).join();
}

namespace {

// destroyed after its thread has given its blocks back
tensor<float, shape<131, 127>> const until_the_end;

} // namespace
