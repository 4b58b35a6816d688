// Replicas that are threads of one process: they read and write each other's memory.
#pragma once

#include <castnet/comm/detail/wait.hpp>
#include <castnet/core/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <span>
#include <vector>

namespace castnet::comm {

// Where the replicas of a process meet.
class meeting_place {
public:
    explicit meeting_place(int size) : seats_(static_cast<std::size_t>(size)) {}

    int size() const { return static_cast<int>(seats_.size()); }

    // Replica `rank` brings its data to a collective; returns when all have. Throws castnet::error
    // on every replica if they do not bring the same number of bytes.
    void enter(int rank, void* data, std::size_t bytes, collective const& at) {
        seat& mine = seats_[static_cast<std::size_t>(rank)];
        mine.data = data;
        mine.bytes = bytes;
        mine.at = at;
        wait(rank);
        for (seat const& other : seats_) {
            if (other.bytes != bytes) {
                fail(rank, "brings " + std::to_string(bytes) +
                               " bytes to a collective, but replica " +
                               std::to_string(&other - seats_.data()) + " in " + other.at.text() +
                               " brings " + std::to_string(other.bytes) +
                               "; all replicas must make the same calls");
                throw error(message());
            }
        }
    }
    // What a replica brought, until the next wait.
    void* data(int rank) const { return seats_[static_cast<std::size_t>(rank)].data; }

    // Returns when all replicas have called it. Throws castnet::error if one failed or is late.
    void wait(int rank) {
        std::uint64_t const round = ++seats_[static_cast<std::size_t>(rank)].round;
        std::uint64_t const all = round * seats_.size();
        arrived_.fetch_add(1, std::memory_order_acq_rel);
        bool const came = detail::wait_until(
            [&] { return arrived_.load(std::memory_order_acquire) >= all || failed(); });
        if (!came) {
            std::string late;
            for (std::size_t r = 0; r < seats_.size(); ++r) {
                if (seats_[r].round.load() < round) {
                    late += (late.empty() ? "" : ", ") + std::to_string(r);
                }
            }
            char seconds[32];
            std::snprintf(seconds, sizeof seconds, "%g", deadline());
            fail(rank, std::string("waited ") + seconds + " s for replica " + late +
                           "; comm::deadline() is how long it may take");
        }
        if (failed()) {
            throw error(message());
        }
    }

    // From now on every wait throws an error that names this replica, where it was, and why; the
    // first failure counts.
    void fail(int rank, std::string const& why) {
        std::lock_guard const lock{mutex_};
        if (!failed()) {
            message_ = "castnet: replica " + std::to_string(rank) + " of " +
                       std::to_string(size()) + ", " +
                       seats_[static_cast<std::size_t>(rank)].at.text() + ": " + why;
            failed_.store(true, std::memory_order_release);
        }
    }
    bool failed() const { return failed_.load(std::memory_order_acquire); }
    std::string message() const {
        std::lock_guard const lock{mutex_};
        return message_;
    }

private:
    struct alignas(64) seat {
        void* data = nullptr;
        std::size_t bytes = 0;
        collective at{};
        std::atomic<std::uint64_t> round{0}; // how often it has waited
    };
    std::vector<seat> seats_;
    alignas(64) std::atomic<std::uint64_t> arrived_{0}; // all waits of all replicas
    std::atomic<bool> failed_{false};
    mutable std::mutex mutex_;
    std::string message_;
};

class in_process {
public:
    in_process(meeting_place& place, int rank) : place_{place}, rank_{rank} {}

    int rank() const { return rank_; }
    int size() const { return place_.size(); }
    meeting_place& place() const { return place_; }

    // Each replica adds up its part of the numbers and writes the sums to all.
    template <class T>
    void sum(std::span<T> values, collective const& at) {
        place_.enter(rank_, values.data(), values.size_bytes(), at);
        auto const [first, last] = part_of(values.size(), rank_, size());
        auto const row = [this](int r) { return static_cast<T*>(place_.data(r)); };
        detail::tree_sum(row, size(), first, last);
        for (int r = 1; r < size(); ++r) {
            std::copy(row(0) + first, row(0) + last, row(r) + first);
        }
        place_.wait(rank_);
    }

    // all: what every rank brings, one after the other.
    void gather(std::span<std::byte const> mine, std::span<std::byte> all, collective const& at) {
        place_.enter(rank_, const_cast<std::byte*>(mine.data()), mine.size(), at);
        for (int r = 0; r < size(); ++r) {
            auto const* const from = static_cast<std::byte const*>(place_.data(r));
            std::copy_n(from, mine.size(), all.data() + size_t(r) * mine.size());
        }
        place_.wait(rank_);
    }

    // From rank 0 to all.
    void broadcast(std::span<std::byte> bytes, collective const& at) {
        place_.enter(rank_, bytes.data(), bytes.size(), at);
        if (rank_ != 0) {
            std::copy_n(static_cast<std::byte const*>(place_.data(0)), bytes.size(), bytes.data());
        }
        place_.wait(rank_);
    }

private:
    meeting_place& place_;
    int rank_;
};

} // namespace castnet::comm
