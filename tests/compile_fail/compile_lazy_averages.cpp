// Averages move in every step, of all rows.
// expect: castnet: ema averages all rows of an embedding in each step, and lazy skips most of them
// expect: lazy_without_averages<.*adam
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    auto const optimizer = cn::ema(cn::lazy(cn::adam{}), 0.999);
}
