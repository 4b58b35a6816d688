// Products by tensor cores, in TF32.
#include "benchmarks.hpp"

namespace {
using namespace bench;
add_benchmarks<cn::policy::tf32<cn::policy::cuda>> const all{"tf32"};
} // namespace
