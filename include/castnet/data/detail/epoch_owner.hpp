// The epochs that a data set is in, one within the other, all of one thread; copies share them.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/spin_lock.hpp>
#include <castnet/core/this_thread.hpp>
#include <castnet/data/epoch.hpp>

#include <atomic>
#include <optional>
#include <vector>

namespace castnet::data::detail {

class epoch_owner {
public:
    // An epoch of the calling thread begins, maybe within another one of it: a callback of fit()
    // may evaluate the same data. Throws castnet::error, with the function `call` that made the
    // data set, where another thread is in one.
    void claim(char const* call, epoch const& e) {
        spin_lock const lock{busy_};
        void const* const here = this_thread();
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
        spin_lock const lock{busy_};
        epochs_.pop_back();
        return epochs_.empty() ? std::nullopt : std::optional{epochs_.back()};
    }

private:
    std::atomic_flag busy_;
    void const* thread_ = nullptr;
    std::vector<epoch> epochs_; // of that thread, the innermost last
};

} // namespace castnet::data::detail
