// Products in true float.
#include "benchmarks.hpp"

namespace {
using namespace bench;
add_benchmarks<cn::policy::cuda> const all{"float"};
} // namespace
