// Watchdog, polled while the host waits for work of a GPU that may wait for other GPUs.
#pragma once

#include <castnet/core/language.hpp>

#include <functional>

namespace castnet::cuda {

class watchdog {
public:
    // Polls until done() is true; throws castnet::error after a failure or a timeout.
    virtual void until(std::function<bool()> const& done) = 0;

protected:
    ~watchdog() = default;
};

} // namespace castnet::cuda
