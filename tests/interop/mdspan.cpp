// std::mdspans of tensors and the other way round.
#include <castnet/tensor/mdspan.hpp>
#include <castnet/tensor/tensor.hpp>

#include <doctest/doctest.h>
#include <mdspan>
#include <type_traits>

namespace cn = castnet;

TEST_CASE("a std::mdspan shows the elements of a tensor or a view, and a view those of it") {
    auto x = cn::tensor<float, cn::shape<2, 3, 4>>::arange();
    auto const all = cn::mdspan_of(x);
    static_assert(std::is_same_v<decltype(all),
                                 std::mdspan<float, std::extents<std::size_t, 2, 3, 4>> const>);
    all[1, 2, 3] = -1;
    CHECK(x(1, 2, 3) == -1);

    auto const& fixed = x;
    auto const turned = cn::mdspan_of(cn::transpose(fixed));
    static_assert(std::is_same_v<decltype(turned)::element_type, float const>);
    CHECK(turned.extent(0) == 4);
    CHECK(turned[3, 2, 1] == -1);
    CHECK(turned[1, 2, 0] == x(0, 2, 1));
    CHECK(cn::mdspan_of(cn::select<1>(x, 1))[1, 2] == x(1, 1, 2));
    CHECK(cn::mdspan_of(cn::expand_dims<0>(x))[0, 1, 0, 2] == x(1, 0, 2));

    auto const back = cn::tensor_view_of(all);
    static_assert(std::is_same_v<decltype(back)::shape_type, cn::shape<2, 3, 4>>);
    CHECK(cn::array_equal(back, x));
    back(0, 0, 0) = 5;
    CHECK(x(0, 0, 0) == 5);
}
