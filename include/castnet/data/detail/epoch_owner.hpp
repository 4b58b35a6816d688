// The epochs that a data set is in, one within the other, all of one thread; copies share them.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/epoch.hpp>

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace castnet::data::detail {

class epoch_owner {
public:
    // An epoch of the calling thread begins, maybe within another one of it: a callback of fit()
    // may evaluate the same data. Throws castnet::error, with the function `call` that made the
    // data set, where another thread is in one.
    void claim(char const* call, epoch const& e) {
        std::lock_guard const lock{mutex_};
        auto const here = std::this_thread::get_id();
        if (!epochs_.empty() && thread_ != here) {
            throw error({"castnet: ", call,
                         ": another thread trains with or evaluates this data set or a copy of it, "
                         "which share the epoch; call ",
                         call,
                         "() for each training (and augment(), mixup(), balanced_sample(), … "
                         "within it, whose copies share the epoch, too)"});
        }
        thread_ = here;
        epochs_.push_back({e.seed, e.number});
    }
    // It ends; returns the one around it, which goes on, without its order.
    std::optional<epoch> release() {
        std::lock_guard const lock{mutex_};
        epochs_.pop_back();
        return epochs_.empty() ? std::nullopt : std::optional{epochs_.back()};
    }

private:
    std::mutex mutex_;
    std::thread::id thread_;
    std::vector<epoch> epochs_; // of that thread, the innermost last
};

} // namespace castnet::data::detail
