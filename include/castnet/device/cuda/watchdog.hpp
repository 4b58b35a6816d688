// Watchdog, polled while the host waits for work of a GPU that may wait for other GPUs.
#pragma once

#include <castnet/core/language.hpp>

#include <functional>
#include <utility>

namespace castnet::cuda {

class watchdog {
public:
    // Polls until done() is true; throws castnet::error after a failure or a timeout.
    virtual void until(std::function<bool()> const& done) = 0;

    // destroy() destroys the captured graphs that hold work of other GPUs; empty: there are none.
    // It is called before that work is aborted, which waits for these graphs.
    void set_graphs(std::function<void()> destroy) { destroy_graphs_ = std::move(destroy); }

protected:
    ~watchdog() = default;

    void destroy_graphs() const {
        if (destroy_graphs_) {
            destroy_graphs_();
        }
    }

private:
    std::function<void()> destroy_graphs_;
};

} // namespace castnet::cuda
