// Operators of symbols in a user's function, beside the numbers that they stand for.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace {

namespace cn = castnet;

struct of_symbols {
    constexpr auto operator()(auto x, auto y) const {
        auto const less = x<y, greater = x> y;
        return cn::stack<0>(less, x <= y, greater, x >= y, x == y, x != y);
    }
};
struct with_numbers {
    constexpr auto operator()(auto x, auto y) const {
        auto const negative = x<0, below = 1> y;
        return cn::stack<0>(negative, 0 <= x, below, y >= 1, x == 0, 0 != x);
    }
};
struct in_place {
    constexpr auto operator()(auto x, auto y) const {
        auto z = x;
        z += y;
        z *= 2;
        z -= x;
        z /= 4;
        return z;
    }
};

template <auto Function>
std::vector<float> of(std::vector<float> const& x, std::vector<float> const& y) {
    using net = cn::network<Function, cn::input<3>, cn::input<3>>;
    cn::model<net, cn::policy::cpu, cn::batch<1>> model;
    return model.predict(x, y);
}

} // namespace

TEST_CASE("comparisons of symbols are masks") {
    CHECK(of<of_symbols{}>({-1, 0, 2}, {0, 0, 1}) ==
          std::vector<float>{1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1});
    CHECK(of<with_numbers{}>({-1, 0, 2}, {0, 0, 1}) ==
          std::vector<float>{1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("a variable of a function changes in place") {
    CHECK(of<in_place{}>({-1, 0, 2}, {3, 4, 8}) == std::vector<float>{1.25F, 2, 4.5F});
}
