// Tiny networks, whose steps are one kernel.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

#include "../tiny_networks.hpp"

#include <doctest/doctest.h>

namespace cn = castnet;
using check::classifier, check::regression, check::largest_difference;
using cn::policy::basic_cpu, cn::policy::basic_cuda, cn::policy::eager;

namespace {

template <class Case, class Policy>
std::vector<double> train() {
    return check::tiny_training<Case, Policy, 128>();
}
template <class T>
using tiny = check::tiny<regression::network, basic_cuda<T>, 128>;

static_assert(tiny<float>::trains_in_one_kernel);
static_assert(tiny<double>::evaluates_in_one_kernel);

template <class Case>
void check_against_cpu() {
    auto const expected = train<Case, basic_cpu<double>>();
    CHECK(largest_difference(train<Case, basic_cuda<double>>(), expected) <= 1e-11);
    CHECK(largest_difference(train<Case, basic_cuda<float>>(), expected) <= 1e-3);
}

} // namespace

TEST_CASE("a step that is one kernel is the one that the CPU takes") {
    check_against_cpu<regression>();
    check_against_cpu<classifier>();
}

TEST_CASE("as a graph it gives the same bits as alone") {
    CHECK(train<regression, basic_cuda<float>>() == train<regression, eager<basic_cuda<float>>>());
}
