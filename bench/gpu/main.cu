// bench_gpu [--list | --cudnn]
//
// Reads names of benchmarks and seconds, a line for each, and prints what it measured as a line of
// JSON; or only prints the names, or the version of cuDNN.
#include "benchmarks.hpp"

#include <cstdio>
#include <cudnn.h>
#include <exception>
#include <iostream>

int main(int count, char** arguments) {
    if (count > 1 && std::string(arguments[1]) == "--list") {
        for (auto const& [name, run] : bench::benchmarks()) {
            std::puts(name.c_str());
        }
        return 0;
    }
    if (count > 1 && std::string(arguments[1]) == "--cudnn") {
        std::printf("%zu\n", cudnnGetVersion());
        return 0;
    }
    std::string name;
    double seconds = 0;
    while (std::cin >> name >> seconds) {
        auto const found = bench::benchmarks().find(name);
        if (found == bench::benchmarks().end()) {
            std::fprintf(stderr, "bench_gpu: there is no benchmark %s\n", name.c_str());
            return 1;
        }
        try {
            bench::measurement const m = found->second(seconds);
            std::printf("{\"name\": \"%s\", \"step_us\": %.3f, \"samples\": %zu, "
                        "\"flops\": %.0f, \"bytes\": %zu}\n",
                        name.c_str(), m.seconds * 1e6, m.samples, m.flops, m.bytes);
        } catch (std::exception const& e) {
            std::fprintf(stderr, "bench_gpu: %s: %s\n", name.c_str(), e.what());
            return 1;
        }
        std::fflush(stdout);
    }
}
