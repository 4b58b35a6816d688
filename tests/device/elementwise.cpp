// Element-wise functions have the same bits for a number, for the elements of tensors and in the
// kernels of networks, whether these are computed in vectors or are what is left.
#include <castnet/device/cpu/map.hpp>
#include <castnet/tensor/tensor.hpp>

#include <bit>
#include <cstddef>
#include <doctest/doctest.h>
#include <memory>
#include <type_traits>
#include <utility>

using namespace castnet;

namespace {

constexpr int count = 1003;
template <class T>
using numbers = tensor<T, shape<count>>;

template <fn F, class T>
[[gnu::noinline]] T value(T x) {
    return function<F>::value(x);
}
template <fn F, class T>
[[gnu::noinline]] T derivative(T x, T y) {
    return function<F>::template derivative<0>(x, y);
}

template <class T>
bool same(T a, T b) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<bits>(a) == std::bit_cast<bits>(b) || (a != a && b != b);
}

template <class T>
void check(char const* name, char const* what, numbers<T> const& found,
           numbers<T> const& expected) {
    int different = 0;
    for (std::size_t i = 0; i < count; ++i) {
        different += int(!same(found.data()[i], expected.data()[i]));
    }
    INFO(name << ", " << what);
    CHECK(different == 0);
}

template <class T, ir::instruction... I>
void run(numbers<T> const& x, numbers<T> const& y, numbers<T> const& gradient, numbers<T>& to) {
    ir::program_arguments<T> a{};
    a.array[0] = x.data();
    a.array[1] = y.data();
    a.array[2] = gradient.data();
    cpu::map_points<ir::program<I..., ir::instruction{.code = ir::opcode::store}>>(a, to.data(), 1,
                                                                                   count, 0, count);
}

constexpr ir::instruction load(std::uint8_t which) {
    return {.code = ir::opcode::load, .a = which, .b = 7};
}

template <fn F, class T>
void check_function() {
    using f = function<F>;
    if constexpr (f::arity == 1) {
        numbers<T> x, y, gradient, found;
        for (int i = 0; i < count; ++i) {
            x.data()[i] = T(i - count / 2) / T(60);
            y.data()[i] = value<F>(x.data()[i]);
            gradient.data()[i] = T(1);
        }
        found = elementwise<F>{}(x);
        check(f::name, "tensor", found, y);
        run<T, load(0), ir::instruction{.code = ir::opcode::apply, .function = F}>(x, y, gradient,
                                                                                   found);
        check(f::name, "kernel", found, y);
        if constexpr (f::reads[0] != no_gradient) {
            numbers<T> slope;
            for (int i = 0; i < count; ++i) {
                slope.data()[i] = derivative<F>(x.data()[i], y.data()[i]);
            }
            run<T, load(0), load(1), load(2),
                ir::instruction{.code = ir::opcode::apply,
                                .function = F,
                                .derivative = 0,
                                .a = 0,
                                .b = 1,
                                .c = 2}>(x, y, gradient, found);
            check(f::name, "derivative", found, slope);
        }
    }
}

} // namespace

TEST_CASE_TEMPLATE("functions of one number have the same bits everywhere", T, float, double) {
    [&]<int... F>(std::integer_sequence<int, F...>) {
        (check_function<static_cast<fn>(F), T>(), ...);
    }(std::make_integer_sequence<int, static_cast<int>(fn::count)>{});
}
