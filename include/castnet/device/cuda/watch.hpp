// Watchdog, polled while the host waits for work of a GPU that may wait for other GPUs.
#pragma once

#include <castnet/core/language.hpp>

#include <functional>

namespace castnet::cuda {

class watch {
public:
    // Returns when done() is true; throws castnet::error if it seems that it never will be.
    virtual void until(std::function<bool()> const& done) = 0;

protected:
    ~watch() = default;
};

} // namespace castnet::cuda
