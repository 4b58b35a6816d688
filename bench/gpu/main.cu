// bench_gpu [--list | --cudnn | --step <name> <policy>]
//
// Reads the names of a benchmark and a policy, and seconds, a line for each, and prints what it
// measured, or what went wrong, as a line of JSON; or only prints the names and policies, or the
// version of cuDNN; or takes a single step, for a profiler. What was measured stays in memory for
// the next time, as long as the GPU has room.
#include "benchmarks.hpp"

#include <cstdio>
#include <cudnn.h>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

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

using names = std::pair<std::string, std::string>; // of a benchmark and a policy

class kept_benchmarks {
public:
    // Throws an exception if there is none of this name.
    bench::benchmark& get(names const& which) {
        auto& one = kept_[which];
        if (!one) {
            auto const found = bench::benchmarks().find(which);
            if (found == bench::benchmarks().end()) {
                throw std::runtime_error("there is no such benchmark");
            }
            one = found->second();
        }
        return *one;
    }
    // Where the others leave too little memory, without them.
    bench::measurement measure(names const& which, double seconds) {
        try {
            return get(which).measure(seconds);
        } catch (castnet::cuda::out_of_memory const&) {
            kept_.clear();
        }
        return get(which).measure(seconds);
    }
    void forget(names const& which) { kept_.erase(which); }

private:
    std::map<names, std::unique_ptr<bench::benchmark>> kept_;
};

void print(kept_benchmarks& all, names const& which, double seconds) {
    try {
        bench::measurement const m = all.measure(which, seconds);
        std::printf("{\"step_us\": %.3f, \"samples\": %zu, \"flops\": %.0f, \"floor_us\": %.3f, "
                    "\"planned_bytes\": %zu, \"taken_bytes\": %zu}\n",
                    m.seconds * 1e6, m.samples, m.flops, m.floor * 1e6, m.bytes, m.taken);
    } catch (std::exception const& e) {
        all.forget(which);
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
    kept_benchmarks all;
    if (count > 3 && std::string(arguments[1]) == "--step") {
        try {
            all.get({arguments[2], arguments[3]}).profile_step();
        } catch (std::exception const& e) {
            std::fprintf(stderr, "%s\n", e.what());
            return 1;
        }
        return 0;
    }
    std::string name, policy;
    double seconds = 0;
    while (std::cin >> name >> policy >> seconds) {
        print(all, {name, policy}, seconds);
    }
}
