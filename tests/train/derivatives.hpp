// Derivatives of functions of tensors beside finite differences.
#pragma once

#include <castnet/castnet.hpp>

#include <cmath>
#include <doctest/doctest.h>

namespace cn = castnet;

namespace check {

// The derivative of f at x along v.
template <class F, class X>
auto difference(F const& f, X const& x, X const& v) {
    double const step = 1e-6;
    X const above = x + v * step, below = x - v * step;
    return (f(above) - f(below)) / (2 * step);
}
template <class F, class X>
X tensor_difference(F const& f, X const& x, X const& v) {
    double const step = 1e-6;
    X const above = x + v * step, below = x - v * step;
    return X((f(above) - f(below)) / (2 * step));
}

// The gradient, its value and a product with the Hessian of f, of symbols and tensors alike.
template <class F, class X, class... More>
void check_derivatives(F const& f, X const& x, More const&... more) {
    X const v = cn::sin(x * 3 + 1);
    auto const value = [&](X const& at) { return f(at, more...); };
    auto const slope = [&](X const& at) { return cn::grad(f, at, more...); };
    auto const [y, gradient] = cn::value_and_grad(f, x, more...);
    CHECK(y == doctest::Approx(value(x)).epsilon(1e-12));
    CHECK(cn::allclose(gradient, slope(x), 1e-14, 1e-14)); // (another program's roundings)
    CHECK(cn::sum(gradient * v) == doctest::Approx(difference(value, x, v)).epsilon(1e-7));
    CHECK(cn::jvp(f, v, x, more...) == doctest::Approx(cn::sum(gradient * v)).epsilon(1e-12));
    CHECK(cn::allclose(cn::hvp(f, v, x, more...), tensor_difference(slope, x, v), 1e-6, 1e-7));
}

} // namespace check
