// Rendezvous of the replicas of a process: each one's data for a collective, and its phase.
#pragma once

#include <castnet/comm/detail/wait.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>

#include <atomic>
#include <mutex>
#include <vector>

namespace castnet::comm {

// Collectives are numbered in the order in which the replicas call them. In each, a replica reaches
// phases in order; its earlier writes are visible to every replica that sees it in the phase.
class rendezvous {
public:
    static constexpr int phases = 4; // of a collective; in the last one the replica has left
    static constexpr std::size_t under_way = 8; // collectives at the same time

    explicit rendezvous(int size)
        : replicas_(static_cast<std::size_t>(size)),
          seats_(static_cast<std::size_t>(size) * under_way) {}

    int size() const { return static_cast<int>(replicas_.size()); }

    // Replica `rank` enters its next collective with its data; returns the collective's number. The
    // replica is in phase 1 then. Waits until all have left the collective that is `under_way`
    // older.
    std::uint64_t enter(int rank, void* data, std::size_t bytes, collective const& at) {
        auto& mine = replicas_[static_cast<std::size_t>(rank)];
        mine.at = at;
        std::uint64_t const number = mine.made++;
        wait(rank, number, 0);
        seat& s = seat_of(number, rank);
        s.data = data;
        s.bytes = bytes;
        s.at = at;
        reach(rank, number, 1);
        return number;
    }

    void reach(int rank, std::uint64_t number, int phase) {
        seat_of(number, rank).reached.store(mark(number, phase), std::memory_order_release);
    }
    bool reached(std::uint64_t number, int rank, int phase) const {
        return reached_by(number, rank) >= mark(number, phase);
    }
    bool all_reached(std::uint64_t number, int phase) const {
        for (int r = 0; r < size(); ++r) {
            if (!reached(number, r, phase)) {
                return false;
            }
        }
        return true;
    }

    // A replica's buffer; valid from its phase 1 until this replica leaves.
    void* data(std::uint64_t number, int rank) const { return seat_of(number, rank).data; }
    collective const& where(std::uint64_t number, int rank) const {
        return seat_of(number, rank).at;
    }

    // Throws castnet::error on every replica if their data differ in size.
    void require_same_size(int rank, std::uint64_t number) {
        std::size_t const bytes = seat_of(number, rank).bytes;
        for (int r = 0; r < size(); ++r) {
            if (seat const& other = seat_of(number, r); other.bytes != bytes) {
                replicas_[static_cast<std::size_t>(rank)].at = where(number, rank);
                fail(rank, string_of({"brings ", bytes, " bytes to a collective, but replica ", r,
                                      " in ", other.at.text(), " brings ", other.bytes,
                                      "; all replicas must make the same calls"}));
                throw error(message());
            }
        }
    }

    // Waits until all replicas have reached a phase. Throws castnet::error if one failed or is
    // late.
    void wait(int rank, std::uint64_t number, int phase, int patience = 1) {
        wait(rank, number, [&] { return all_reached(number, phase); }, patience);
    }
    // Waits until done(), for at most `patience` times the timeout. Late replicas are those in an
    // earlier phase than this one.
    template <class Done>
    void wait(int rank, std::uint64_t number, Done const& done, int patience = 1) {
        bool const came =
            detail::wait_until([&] { return failed() || done(); }, patience * timeout());
        if (!came) {
            give_up(rank, number, patience);
        }
        if (failed()) {
            throw error(message());
        }
    }

    // Records the first failure: every later wait throws an error with this replica, its last
    // collective, and the cause.
    void fail(int rank, std::string const& why) { fail(rank, at(rank).text(), why); }
    // The same of a replica that has left its last collective.
    void fail_between(int rank, std::string const& why) {
        bool const has_met = *at(rank).what != '\0';
        fail(rank, has_met ? "after " + at(rank).text() : "before its first step", why);
    }
    bool failed() const { return failed_.load(std::memory_order_acquire); }
    std::string message() const {
        std::lock_guard const lock{mutex_};
        return message_;
    }

private:
    void fail(int rank, std::string const& where, std::string const& why) {
        std::lock_guard const lock{mutex_};
        if (!failed()) {
            message_ =
                string_of({"castnet: replica ", rank, " of ", size(), ", ", where, ": ", why});
            failed_.store(true, std::memory_order_release);
        }
    }

    // Fails after a timeout, naming the late replicas.
    [[gnu::noinline]] void give_up(int rank, std::uint64_t number, int patience) {
        std::string late;
        for (int r = 0; r < size(); ++r) {
            if (reached_by(number, r) < reached_by(number, rank)) {
                append(late, {late.empty() ? "" : ", ", r});
            }
        }
        if (late.empty()) { // in a phase that only the first replica reaches
            late += '0';
        }
        replicas_[static_cast<std::size_t>(rank)].at = where(number, rank);
        fail(rank, string_of({"waited ", patience * timeout(), " s for replica ", late,
                              "; comm::timeout() is how long it may take"}));
    }

    struct alignas(64) seat { // of one replica in one collective
        void* data = nullptr;
        std::size_t bytes = 0;
        collective at{};
        std::atomic<std::uint64_t> reached{0};
    };
    struct alignas(64) replica {
        std::uint64_t made = 0; // collectives
        collective at{};        // the last one, for messages
    };
    collective const& at(int rank) const { return replicas_[static_cast<std::size_t>(rank)].at; }
    std::uint64_t reached_by(std::uint64_t number, int rank) const {
        return seat_of(number, rank).reached.load(std::memory_order_acquire);
    }
    static std::uint64_t mark(std::uint64_t number, int phase) {
        return number / under_way * phases + static_cast<std::uint64_t>(phase);
    }
    seat& seat_of(std::uint64_t number, int rank) {
        return seats_[number % under_way * replicas_.size() + static_cast<std::size_t>(rank)];
    }
    seat const& seat_of(std::uint64_t number, int rank) const {
        return const_cast<rendezvous*>(this)->seat_of(number, rank);
    }

    std::vector<replica> replicas_;
    std::vector<seat> seats_;
    std::atomic<bool> failed_{false};
    mutable std::mutex mutex_;
    std::string message_;
};

} // namespace castnet::comm
