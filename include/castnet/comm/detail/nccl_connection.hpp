// One GPU's end of the connection that NCCL makes between replicas.
//
// No call blocks: NCCL is asked again and again whether it is done, until comm::deadline(). When it
// reports a failure, another replica of the process has failed, or the deadline passes, the
// connection is aborted, which ends what waits for it on the GPU, and castnet::error is thrown.
#pragma once

#include <castnet/comm/detail/wait.hpp>
#include <castnet/core/error.hpp>
#include <castnet/device/cuda/watch.hpp>

#include <cstdio>
#include <functional>
#include <nccl.h>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace castnet::comm {

namespace detail {

template <class T>
inline constexpr ncclDataType_t nccl_type = [] {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
    return std::is_same_v<T, float> ? ncclFloat32 : ncclFloat64;
}();

class nccl_connection final : public cuda::watch {
public:
    nccl_connection() = default;
    nccl_connection(nccl_connection const&) = delete;
    nccl_connection& operator=(nccl_connection const&) = delete;
    ~nccl_connection() { abort(); }

    bool is_open() const { return comm_ != nullptr; }
    bool has_failed() const { return failed_; }

    // Connects the GPU that is current with those of the other replicas of `host`, a communicator,
    // by which NCCL's id goes from rank 0 to the others.
    template <class Host>
    void open(Host& host) {
        rank_ = host.rank();
        size_ = host.size();
        if constexpr (requires { host.place(); }) {
            others_failed_ = [place = &host.place()] { return place->failed(); };
        }
        at_ = {"connection by NCCL"};
        ncclUniqueId id{};
        if (rank_ == 0) {
            check(ncclGetUniqueId(&id));
        }
        host.broadcast(std::as_writable_bytes(std::span{&id, 1}), {"broadcast of NCCL's id"});
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        check(ncclCommInitRankConfig(&comm_, size_, id, rank_, &config));
        until_enqueued();
    }

    // Puts the sums of all these numbers over the replicas on a stream, in one operation.
    template <class T>
    void sum(std::span<std::span<T> const> all, cudaStream_t stream, collective const& at) {
        at_ = at;
        enqueue([&] {
            for (std::span<T> const& s : all) {
                check(ncclAllReduce(s.data(), s.data(), s.size(), nccl_type<T>, ncclSum, comm_,
                                    stream));
            }
        });
    }
    // The numbers of rank 0 to all.
    template <class T>
    void broadcast(std::span<T> s, cudaStream_t stream, collective const& at) {
        at_ = at;
        enqueue([&] {
            check(ncclBroadcast(s.data(), s.data(), s.size(), nccl_type<T>, 0, comm_, stream));
        });
    }

    // What messages say that the GPU does, while the host waits.
    void doing(collective const& at) { at_ = at; }

    void until(std::function<bool()> const& done) override {
        bool const came = wait_until([&] {
            bool const over = done();
            if (!over) {
                look_for_failure();
            }
            return over;
        });
        if (!came) {
            char seconds[32];
            std::snprintf(seconds, sizeof seconds, "%g", deadline());
            fail(std::string("waited ") + seconds +
                 " s for the other replicas; see comm::deadline()");
        }
    }

    // The end, which all replicas come to. Where one has failed, there is nothing to wait for.
    void close() noexcept {
        if (!is_open()) {
            return;
        }
        try {
            at_ = {"end of the connection"};
            check(ncclCommFinalize(comm_));
            until_enqueued();
            ncclCommDestroy(std::exchange(comm_, nullptr));
        } catch (error const&) { // aborted
        }
    }

    // Ends what the GPU does for the replicas, or waits for from them.
    void abort() noexcept {
        if (is_open()) {
            ncclCommAbort(std::exchange(comm_, nullptr));
        }
    }

private:
    template <class F>
    void enqueue(F const& calls) {
        check(ncclGroupStart());
        calls();
        check(ncclGroupEnd());
        until_enqueued();
    }

    // What a call says at once; that it is under way is no failure.
    void check(ncclResult_t status) {
        if (status != ncclSuccess && status != ncclInProgress) {
            fail(text_of(status));
        }
    }
    // NCCL works in a thread of its own: streams have their work when it says so.
    void until_enqueued() {
        until([this] {
            ncclResult_t state = ncclSuccess;
            check(ncclCommGetAsyncError(comm_, &state));
            check(state);
            return state == ncclSuccess;
        });
    }
    void look_for_failure() {
        if (others_failed_ && others_failed_()) {
            fail("another replica failed");
        }
        ncclResult_t state = ncclSuccess;
        check(ncclCommGetAsyncError(comm_, &state));
        check(state);
    }

    std::string text_of(ncclResult_t status) const {
        std::string text = std::string("NCCL: ") + ncclGetErrorString(status);
        char const* const more = ncclGetLastError(comm_);
        return more != nullptr && *more != '\0' ? text + ": " + more : text;
    }
    [[noreturn]] void fail(std::string const& why) {
        failed_ = true;
        abort();
        throw error("castnet: rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                    ", " + at_.text() + ": " + why);
    }
    ncclComm_t comm_ = nullptr;
    int rank_ = 0, size_ = 1;
    bool failed_ = false;
    collective at_{};
    std::function<bool()> others_failed_; // in this process
};

} // namespace detail
} // namespace castnet::comm
