// The same as bf16, with plans that were chosen by timing them.
#include "benchmarks.hpp"

namespace {
using namespace bench;
add_benchmarks<cn::policy::timed<cn::policy::bf16<cn::policy::cuda>>> const all{"timed"};
} // namespace
