// Scoped lock on a std::atomic_flag. (std::mutex would bring <chrono>, a tenth of all that this
// library compiles.)
#pragma once

#include <castnet/core/language.hpp>

#include <atomic>

namespace castnet {

// Waits for the turns of other threads on the same flag, and lasts as long as its scope.
class turn {
public:
    explicit turn(std::atomic_flag& busy) : busy_{busy} {
        while (busy_.test_and_set(std::memory_order_acquire)) {
            busy_.wait(true, std::memory_order_relaxed);
        }
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() {
        busy_.clear(std::memory_order_release);
        busy_.notify_one();
    }

private:
    std::atomic_flag& busy_;
};

} // namespace castnet
