// The benchmarks compile, and say which there are.
#include <benchmark/benchmark.h>
#include <doctest/doctest.h>

TEST_CASE("there are benchmarks, which are listed") {
    char program[] = "test_benchmarks", option[] = "--benchmark_list_tests";
    char* arguments[] = {program, option, nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments);
    CHECK(benchmark::RunSpecifiedBenchmarks() > 0);
}
