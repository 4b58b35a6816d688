// Optimizer state of a sharded optimizer as a whole: gathered from all shards, scattered to them.
#pragma once

#include <castnet/comm/collective.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace castnet::detail {

// `shard(k)` is where slot k of a replica's own shard lies in the memory of its session.
template <class Exchanges, class T, int Slots>
class sharded_state {
public:
    explicit sharded_state(size_t trained) : trained_{trained} {} // numbers

    // The values of slot k of all trained parameters.
    T const* slot(int k) const { return whole_.data() + size_t(k) * trained_; }
    T* slot(int k) {
        whole_.resize(size_t(Slots) * trained_);
        return whole_.data() + size_t(k) * trained_;
    }
    void forget() { whole_ = {}; }

    template <class Session, class Communicator, class Shard>
    void gather(Session& session, Communicator& others, Shard const& shard) {
        auto const who = Exchanges::updated_by();
        auto const mine = who.of(trained_, others.rank(), others.size());
        for (int k = 0; k < Slots; ++k) {
            std::span<T> const whole{slot(k), trained_};
            session.read(shard(k), std::ptrdiff_t(mine.count()), [&](T const* from) {
                std::copy_n(from, mine.count(), whole.data() + mine.first);
            });
            others.begin_share(whole, who, {"collecting the optimizer's state"});
            others.finish();
        }
    }

    // Gives all replicas the state that rank 0 has been given, if it has, and forgets it.
    template <class Session, class Communicator, class Shard>
    void scatter(Session& session, Communicator& others, Shard const& shard) {
        char rank_0_has_it = !whole_.empty();
        others.broadcast(std::as_writable_bytes(std::span{&rank_0_has_it, 1}),
                         {"whether the optimizer's state has been set"});
        if (rank_0_has_it == 0) {
            return;
        }
        whole_.resize(size_t(Slots) * trained_);
        others.broadcast(std::as_writable_bytes(std::span{whole_}),
                         {"broadcast of the optimizer's state"});
        auto const mine = Exchanges::updated_by().of(trained_, others.rank(), others.size());
        for (int k = 0; k < Slots; ++k) {
            T const* const from = slot(k) + mine.first;
            session.write(shard(k), std::ptrdiff_t(mine.count()),
                          [&](T* to) { std::copy_n(from, mine.count(), to); });
        }
        forget();
    }

private:
    size_t trained_;
    std::vector<T> whole_;
};

} // namespace castnet::detail
