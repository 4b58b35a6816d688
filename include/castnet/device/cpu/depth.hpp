// Depth (inner dimension) of a product: the offsets of its steps in a row of A.
#pragma once

#include <castnet/core/target.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// The depth of a product with regular offsets in A: outer * inner runs of `length` steps.
struct depth {
    std::ptrdiff_t length;     // steps in one run
    std::ptrdiff_t stride = 1; // from step to step
    std::ptrdiff_t inner = 1;  // runs that begin `inner_step` apart
    std::ptrdiff_t inner_step = 0;
    std::ptrdiff_t outer = 1; // the same of such runs
    std::ptrdiff_t outer_step = 0;
    std::ptrdiff_t missing = 0; // steps that the last of the inner runs lacks

    std::ptrdiff_t steps() const { return (length * inner - missing) * outer; }
};

// Iterator over the offsets of the steps.
class depth_walk {
public:
    explicit depth_walk(depth const& d) : d_{d} {}

    [[gnu::noinline]] void next(std::ptrdiff_t steps, std::ptrdiff_t* offset) {
        while (steps > 0) {
            std::ptrdiff_t const begin = outer_ * d_.outer_step + inner_ * d_.inner_step;
            std::ptrdiff_t const length = d_.length - (inner_ == d_.inner - 1 ? d_.missing : 0);
            std::ptrdiff_t const count = std::min(steps, length - step_);
            for (std::ptrdiff_t i = 0; i < count; ++i) {
                *offset++ = begin + (step_ + i) * d_.stride;
            }
            steps -= count;
            step_ += count;
            if (step_ == length) {
                step_ = 0;
                if (++inner_ == d_.inner) {
                    inner_ = 0;
                    ++outer_;
                }
            }
        }
    }

private:
    depth d_;
    std::ptrdiff_t step_ = 0, inner_ = 0, outer_ = 0; // where the next step is
};

} // namespace castnet::cpu::inline CASTNET_TARGET
