// Hints on standard error, once per program, about causes of slow or failing training.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/plan/kernel_launch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <utility>

namespace castnet::detail {

#ifdef __OPTIMIZE__
constexpr bool is_optimised = true;
#else
constexpr bool is_optimised = false;
#endif

// GCC's OpenMP, whose threads wait by spinning unless they are told otherwise.
#if defined(_OPENMP) && defined(__GNUC__) && !defined(__clang__)
constexpr bool threads_spin = true;
#else
constexpr bool threads_spin = false;
#endif

[[gnu::noinline]] inline void hint(std::atomic_flag& given, std::string const& text) {
    if (!given.test_and_set()) {
        std::fprintf(stderr, "castnet: fit: %s\n", text.c_str());
    }
}

[[gnu::noinline]] inline void hint_at_optimisation(bool optimised) {
    static std::atomic_flag given;
    if (!optimised) {
        hint(given, "this program was compiled without optimization and is tens of times slower "
                    "than it could be; compile with -O3, or in CMake with the build type Release");
    }
}

// `load` is a line of /proc/loadavg: whether other threads than the one that asks keep all cores
// busy now, and have for the last minute.
[[gnu::noinline]] inline bool is_busy(char const* load, long cores) {
    long last_minute = 0, runnable = 0; // whole: the point of fractions is the locale's
    return std::sscanf(load, "%ld.%*d %*s %*s %ld/", &last_minute, &runnable) == 2 &&
           last_minute >= cores && runnable - 1 >= cores;
}

[[gnu::noinline]] inline void hint_at_spinning(bool spin, int threads) {
    static std::atomic_flag given;
    if (!spin || threads == 1 || std::getenv("OMP_WAIT_POLICY") != nullptr ||
        std::getenv("GOMP_SPINCOUNT") != nullptr) {
        return;
    }
    char load[128] = "";
    if (std::FILE* const file = std::fopen("/proc/loadavg", "r")) {
        (void)!std::fgets(load, sizeof load, file);
        std::fclose(file);
    }
    if (is_busy(load, ::sysconf(_SC_NPROCESSORS_ONLN))) {
        hint(given, string_of({"other programs keep all cores busy, and ", threads,
                               " OpenMP threads that wait for each other by spinning lose much "
                               "time; set OMP_WAIT_POLICY=passive in the environment, or "
                               "OMP_NUM_THREADS to the number of free cores"}));
    }
}

// Whether a product or a convolution reads this input as it is.
template <class Plan>
[[gnu::noinline]] bool multiplies_input(Plan const& plan, size_t input) {
    return std::any_of(
        std::begin(plan.launches), std::end(plan.launches), [&](ir::kernel_launch const& s) {
            ir::array_ref const& read = plan.arrays[s.first_array];
            return (s.kind == op::matmul || s.kind == op::conv) &&
                   read.where == ir::region::batch && read.offset == plan.inputs[input].offset;
        });
}

[[gnu::noinline]] inline void hint_at_frozen(bool trains) {
    static std::atomic_flag given;
    if (!trains) {
        hint(given, "no parameter is trained, since all of them are frozen; see unfreeze() of the "
                    "training, and cn::frozen in the network");
    }
}

[[gnu::noinline]] inline void hint_at_bytes(size_t input) {
    static std::atomic_flag given;
    hint(given, string_of({"input ", input,
                           " is multiplied by weights as bytes of 0 to 255; scale it, as by "
                           "data::column(bytes, 1.0 / 255), to train well"}));
}

// For data whose columns can be looked at: bytes without a scale, as those of images.
template <class Plan, class Data, size_t... I>
[[gnu::noinline]] void hint_at_scale(Plan const& plan, Data const& data,
                                     std::index_sequence<I...>) {
    // (Of an argument: what the lambda does not depend on, nvcc looks up in discarded branches,
    // too.)
    auto const look = [&]<size_t Input>(auto const& of) {
        if constexpr (requires { of.template column_of<Input>().bytes(); }) {
            auto const& column = of.template column_of<Input>();
            unsigned char const* const bytes = column.bytes();
            size_t const count = std::min<size_t>(column.size(), 100'000);
            if (bytes != nullptr && column.template value_of<float>(255) == 255 &&
                std::any_of(bytes, bytes + count, [](unsigned char b) { return b > 127; }) &&
                multiplies_input(plan, Input)) {
                hint_at_bytes(Input);
            }
        }
    };
    (look.template operator()<I>(data), ...);
}

} // namespace castnet::detail
