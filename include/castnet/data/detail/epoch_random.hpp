// Random numbers of a data set's samples, different in each epoch.
#pragma once

#include <castnet/data/detail/epoch_owner.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/epoch.hpp>

#include <atomic>
#include <memory>

namespace castnet::data::detail {

// They depend on the model's seed, the epoch, the sample and what they are for alone. Copies share
// the epoch, which is one thread's at a time.
class epoch_random {
public:
    // `call`: the function that makes the data set.
    explicit epoch_random(char const* call) : call_{call} {}

    // Throws castnet::error where another thread is in an epoch.
    void begin(epoch const& e) const {
        now_->owner.claim(call_, e);
        set(e);
    }
    void end() const {
        if (auto const outer = now_->owner.release()) {
            set(*outer);
        }
    }

    random_stream of(std::uint32_t purpose, size_t sample) const {
        return {purpose, now_->seed, now_->number << 40 ^ sample};
    }

private:
    void set(epoch const& e) const {
        now_->seed = e.seed;
        now_->number = e.number;
    }

    struct shared {
        epoch_owner owner;
        std::atomic<std::uint64_t> seed = 0, number = 0;
    };
    char const* call_;
    std::shared_ptr<shared> now_ = std::make_shared<shared>();
};

} // namespace castnet::data::detail
