// Profile of a training step: the time, work, share of peak performance and memory traffic of each
// launch of the plan; of a repeated block, those of all repetitions.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/core/clock.hpp>
#include <castnet/core/text.hpp>
#include <castnet/train/launch_name.hpp>
#include <castnet/train/training.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace castnet {

struct launch_profile {
    std::string what;   // the operation, with the functions fused into it: "map multiply_add relu"
    std::string shape;  // of the result
    double seconds = 0; // the shortest of all measurements
    double flops = 0;   // of the direct algorithm, also where convolutions take fewer
    double bytes = 0;   // read and written, each array once
    double of_peak = 0; // flops / seconds, as a share of the device's measured peak
                        // possible; 0 where it has none
};

// Runs the step of a training on these samples `measurements` times, without updates; nothing of
// the training changes, so on_epoch_end may call it, too. Steps that share a loop over samples run
// on one thread while they are measured.
template <class Training, class Data>
std::vector<launch_profile> profile(Training& training, Data const& data,
                                    std::span<size_t const> samples, int measurements = 10) {
    using T = typename Training::value_type;
    auto const& plan = Training::training_plan();
    std::vector<launch_profile> rows(size_t(plan.sizes.launches));
    for (size_t i = 0; i < rows.size(); ++i) {
        ir::kernel_launch const& s = plan.launches[i];
        ir::extents const result = plan.arrays[s.output].size;
        auto const times = [&](ir::extents e) { return e.sample ? double(samples.size()) : 1.0; };
        bool const per_sample = ir::is_of_samples(s, plan.arrays);
        rows[i].what = detail::launch_name<Training::training_plan()>(s);
        rows[i].shape = string_of({result.pixels, " x ", result.channels});
        rows[i].flops = double(s.flops) * (per_sample ? double(samples.size()) : 1.0);
        auto const add_bytes = [&](ir::array_ref const& r) {
            rows[i].bytes += double(r.size.count()) * times(r.size) *
                             double(r.is_bf16 ? sizeof(bfloat16) : sizeof(T));
        };
        for (int k = s.first_array; k < s.output + s.results; ++k) {
            if (!s.end.bias || k != s.first_array + 2) { // the product on the way to its epilogue
                add_bytes(plan.arrays[k]);
            }
        }
    }
    for (ir::stage const& g : plan.stages) {
        for (size_t i = size_t(g.first); i < size_t(g.last); ++i) {
            rows[i].flops *= g.repetitions;
            rows[i].bytes *= g.repetitions;
        }
    }
    std::vector<double> spent(rows.size());
    for (int r = 0; r < measurements; ++r) {
        std::fill(spent.begin(), spent.end(), 0.0);
        double last = 0;
        training.observe(data, samples, [&](int i) { // several times where samples take turns
            if (i >= 0) {
                spent[size_t(i)] += detail::monotonic_seconds() - last;
            }
            last = detail::monotonic_seconds();
        });
        for (size_t i = 0; i < rows.size(); ++i) {
            rows[i].seconds = r == 0 ? spent[i] : std::min(rows[i].seconds, spent[i]);
        }
    }
    if constexpr (requires { Training::device::peak_flops(); }) {
        double const peak = Training::device::peak_flops();
        for (launch_profile& row : rows) {
            row.of_peak = row.flops / row.seconds / peak;
        }
    }
    return rows;
}

// The profile as a table, the slowest launches first.
std::string profile_table(std::vector<launch_profile> rows);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

inline std::string profile_table(std::vector<launch_profile> rows) {
    double total = 0;
    for (launch_profile const& r : rows) {
        total += r.seconds;
    }
    std::sort(rows.begin(), rows.end(),
              [](auto const& a, auto const& b) { return a.seconds > b.seconds; });
    auto const column = [](size_t width, double x, int digits) {
        std::string const number = digits_of(x, digits, std::chars_format::fixed);
        return std::string(width > number.size() ? width - number.size() : 0, ' ') + number;
    };
    std::string text = "      ms  share  GFLOP/s of peak    GB/s  result         operation\n";
    for (launch_profile const& r : rows) {
        std::string const gap(r.shape.size() < 14 ? 14 - r.shape.size() : 0, ' ');
        append(text,
               {column(8, r.seconds * 1e3, 3), ' ', column(5, 100 * r.seconds / total, 1), "% ",
                column(8, r.flops / r.seconds / 1e9, 1), ' ', column(6, 100 * r.of_peak, 0), "% ",
                column(7, r.bytes / r.seconds / 1e9, 1), "  ", r.shape, gap, ' ', r.what, '\n'});
    }
    return text;
}

#endif

} // namespace castnet
