// Initialisers, with the definitions of Keras and PyTorch; normal distributions are whole, as
// PyTorch's, where Keras' end at two deviations. Use: cn::dense<64>.init(cn::he_normal).
#pragma once

#include <castnet/graph/parameter.hpp>

namespace castnet {

inline constexpr initializer zeros{initial::zeros, 0};
inline constexpr initializer ones{initial::ones, 1};
inline constexpr initializer glorot_uniform{initial::glorot_uniform};
inline constexpr initializer glorot_normal{initial::glorot_normal};
inline constexpr initializer he_uniform{initial::he_uniform};
inline constexpr initializer he_normal{initial::he_normal};
inline constexpr initializer lecun_uniform{initial::lecun_uniform};
inline constexpr initializer lecun_normal{initial::lecun_normal};

constexpr initializer constant_value(double value) {
    return {initial::constant, static_cast<float>(value)};
}
// Uniform in [-limit, limit).
constexpr initializer random_uniform(double limit) {
    return {initial::uniform, static_cast<float>(limit)};
}
constexpr initializer random_normal(double standard_deviation) {
    return {initial::normal, static_cast<float>(standard_deviation)};
}
constexpr initializer orthogonal(double gain = 1) {
    return {initial::orthogonal, static_cast<float>(gain)};
}

// A class, so that every compiler prints the function.
template <auto Number>
struct gives_elements {
    static constexpr bool checked = requires(size_t i) { static_cast<double>(Number(i)); };
    static_assert(checked, "castnet: from_function<f>: f(i) must be the number of element i; see "
                           "gives_elements<f>");
};

namespace detail {

template <auto Number>
    requires(gives_elements<Number>::checked)
inline constexpr element_function elements_of{
    [](size_t i) { return static_cast<double>(Number(i)); }};

} // namespace detail

// Element i, in row-major order of the parameter's shape, is Number(i), of a function or a lambda
// without captures: tables of the program, such as filters or positions.
//     .start = cn::from_function<[](std::size_t i) { return i % 2; }>
template <auto Number>
inline constexpr initializer from_function{initial::function, 1, &detail::elements_of<Number>};

} // namespace castnet
