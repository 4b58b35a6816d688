// The program of docs/compile_times.md whose network another source file compiles.
#include <castnet/data/synthetic.hpp>

#include "separate/classifier.hpp"

#include <doctest/doctest.h>

TEST_CASE("a network of another source file trains") {
    points const data = castnet::data::blobs<3, 4>(300, 1);
    classifier c{7};
    double const before = c.accuracy(data);
    c.train(data, 20);
    CHECK(c.accuracy(data) > before);
    CHECK(c.accuracy(data) > 0.95);
}
