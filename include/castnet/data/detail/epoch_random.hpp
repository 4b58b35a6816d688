// Random numbers of a data set's samples, different in each epoch.
#pragma once

#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/epoch.hpp>

#include <atomic>
#include <memory>

namespace castnet::data::detail {

// They depend on the model's seed, the epoch, the sample and what they are for alone. Copies share
// the epoch.
class epoch_random {
public:
    void begin(epoch const& e) const {
        now_->seed = e.seed;
        now_->number = e.number;
    }
    random_stream of(std::uint32_t purpose, size_t sample) const {
        return {purpose, now_->seed, now_->number << 40 ^ sample};
    }

private:
    struct shared {
        std::atomic<std::uint64_t> seed = 0, number = 0;
    };
    std::shared_ptr<shared> now_ = std::make_shared<shared>();
};

} // namespace castnet::data::detail
