// Durations of the steps of a fit.
#pragma once

#include <castnet/train/callback.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace castnet {

// Measures the steps (Estimator's TimeHistory). Copies share the measurements.
class step_times {
public:
    void begin_fit(history const&) const { *steps_ = {}; }
    void end_step(step_report const& report) const {
        steps_->seconds.push_back(report.seconds);
        steps_->samples += report.samples;
    }

    // Of each step of the last fit, waiting for data included.
    std::vector<double> const& seconds() const { return steps_->seconds; }
    double total() const {
        double sum = 0;
        for (double const each : steps_->seconds) {
            sum += each;
        }
        return sum;
    }
    double mean() const {
        return steps_->seconds.empty() ? 0 : total() / static_cast<double>(steps_->seconds.size());
    }
    double samples_per_second() const {
        return total() > 0 ? static_cast<double>(steps_->samples) / total() : 0;
    }

private:
    struct measured {
        std::vector<double> seconds;
        std::size_t samples = 0;
    };
    std::shared_ptr<measured> steps_ = std::make_shared<measured>();
};

} // namespace castnet
