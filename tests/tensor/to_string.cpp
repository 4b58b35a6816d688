// Tensors as text.
#include <castnet/tensor/tensor.hpp>

#include <doctest/doctest.h>
#include <sstream>

using namespace castnet;

TEST_CASE("text is laid out as in NumPy") {
    CHECK(to_string(tensor<int, shape<>>(3)) == "3");
    CHECK(to_string(tensor<int, shape<3>>{1, -20, 3}) == "[  1 -20   3]");
    CHECK(to_string(tensor<float, shape<2, 2>>{{1, 2.5}, {-3, 4}}) == "[[  1 2.5]\n [ -3   4]]");
    CHECK(to_string(tensor<int, shape<2, 1, 2>>::arange()) == "[[[0 1]]\n\n [[2 3]]]");
    CHECK(to_string(tensor<float, shape<1>>{1.0F / 3}) == "[0.333333]");
}

TEST_CASE("long axes are shortened") {
    CHECK(to_string(tensor<int, shape<1001>>::arange()) == "[   0    1    2 ...  998  999 1000]");
    std::string const text = to_string(tensor<int, shape<100, 11>>::arange());
    CHECK(text.size() < 300);
    CHECK(text.find("\n ...\n") != std::string::npos);
    CHECK(to_string(tensor<int, shape<1000>>::arange()).find("...") == std::string::npos);
}

TEST_CASE("expressions and streams") {
    std::ostringstream out;
    out << tensor<int, shape<2>>{1, 2} * 3 << "; " << tensor<int, shape<>>(3);
    CHECK(out.str() == "[3 6]; 3");
}
