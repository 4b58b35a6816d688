// A simulated cuBLASLt: it lists algorithms that take as long as a test says, and computes products
// in plain loops.
#pragma once

#include <cublasLt.h>
#include <vector>

namespace products {

struct state {
    std::vector<double> milliseconds{1}; // of the algorithms, the best guess first
    cublasStatus_t epilogues{};          // what is said of those
    int products = 0;                    // that were computed
    int last = -1;                       // algorithm
};
inline state simulated;

} // namespace products
