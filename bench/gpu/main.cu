// bench_gpu [--list | --cudnn]
//
// Reads the names of a benchmark and a policy, and seconds, a line for each, and prints what it
// measured, or what went wrong, as a line of JSON; or only prints the names and policies, or the
// version of cuDNN.
#include "benchmarks.hpp"

#include <cstdio>
#include <cudnn.h>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

// As a string of JSON.
std::string quoted(std::string const& text) {
    std::string all = "\"";
    for (char const c : text) {
        if (c == '"' || c == '\\') {
            all += '\\';
        }
        all += c < ' ' && c >= 0 ? ' ' : c;
    }
    return all + '"';
}

void print(std::string const& name, std::string const& policy, double seconds) {
    auto const found = bench::benchmarks().find({name, policy});
    try {
        if (found == bench::benchmarks().end()) {
            throw std::runtime_error("there is no such benchmark");
        }
        bench::measurement const m = found->second(seconds);
        std::printf("{\"step_us\": %.3f, \"samples\": %zu, \"flops\": %.0f, \"bytes\": %zu}\n",
                    m.seconds * 1e6, m.samples, m.flops, m.bytes);
    } catch (std::exception const& e) {
        std::printf("{\"error\": %s}\n", quoted(e.what()).c_str());
    }
    std::fflush(stdout);
}

} // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::string(arguments[1]) == "--list") {
        for (auto const& [names, run] : bench::benchmarks()) {
            std::printf("%s %s\n", names.first.c_str(), names.second.c_str());
        }
        return 0;
    }
    if (count > 1 && std::string(arguments[1]) == "--cudnn") {
        std::printf("%zu\n", cudnnGetVersion());
        return 0;
    }
    std::string name, policy;
    double seconds = 0;
    while (std::cin >> name >> policy >> seconds) {
        print(name, policy, seconds);
    }
}
