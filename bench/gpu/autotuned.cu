// The same as bf16, with algorithms chosen by timing them.
#include "benchmarks.hpp"

namespace {
using namespace bench;
add_benchmarks<cn::policy::autotuned<cn::policy::bf16<cn::policy::cuda>>> const all{"autotuned"};
} // namespace
