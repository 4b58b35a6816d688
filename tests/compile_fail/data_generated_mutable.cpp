// What a sample holds depends on its number alone.
// expect: castnet: data::generated calls a function as f\(number of the sample, std::span
#include <castnet/data.hpp>

namespace cn = castnet;

float first_number() {
    auto const counted = cn::data::generated<cn::shape<1>, cn::shape<1>>(
        10, [calls = 0](std::size_t, auto x) mutable { x[0] = float(calls++); },
        [](std::size_t, auto y) { y[0] = 1; });
    float x = 0;
    counted.copy_input(0, &x);
    return x;
}
