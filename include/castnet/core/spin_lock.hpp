// Scoped lock on a std::atomic_flag. (std::mutex would bring <chrono>, a tenth of all that this
// library compiles.)
#pragma once

#include <castnet/core/language.hpp>

#include <atomic>

namespace castnet {

// Waits while another thread holds the flag; releases it at the end of the scope.
class spin_lock {
public:
    explicit spin_lock(std::atomic_flag& busy) : busy_{busy} {
        while (busy_.test_and_set(std::memory_order_acquire)) {
            busy_.wait(true, std::memory_order_relaxed);
        }
    }
    spin_lock(spin_lock const&) = delete;
    spin_lock& operator=(spin_lock const&) = delete;
    ~spin_lock() {
        busy_.clear(std::memory_order_release);
        busy_.notify_one();
    }

private:
    std::atomic_flag& busy_;
};

} // namespace castnet
