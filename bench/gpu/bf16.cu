// Products by tensor cores, in bfloat16.
#include "benchmarks.hpp"

namespace {
using namespace bench;
add_benchmarks<cn::policy::bf16<cn::policy::cuda>> const all{"bf16"};
} // namespace
