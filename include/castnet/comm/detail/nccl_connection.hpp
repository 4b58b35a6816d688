// One GPU's rank in an NCCL communicator.
//
// No call blocks: NCCL is polled until it is done or comm::timeout() expires. If the timeout
// expires, NCCL reports a failure or another replica of the process has failed, the connection is
// aborted, which ends the GPU's waits for it, and castnet::error is thrown. Only within a capture
// the abort is left to the group (comm/nccl.hpp), which does so when the capture has ended.
#pragma once

#include <castnet/comm/detail/wait.hpp>
#include <castnet/core/bfloat16.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>
#include <castnet/device/cuda/error.hpp>
#include <castnet/device/cuda/watchdog.hpp>

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
    constexpr bool is_float = std::is_same_v<T, float>, is_double = std::is_same_v<T, double>;
    static_assert(is_float || is_double || std::is_same_v<T, bfloat16>);
    return is_float ? ncclFloat32 : is_double ? ncclFloat64 : ncclBfloat16;
}();

class nccl_connection final : public cuda::watchdog {
public:
    nccl_connection() = default;
    nccl_connection(nccl_connection const&) = delete;
    nccl_connection& operator=(nccl_connection const&) = delete;
    ~nccl_connection() { abort(); }

    bool is_open() const { return comm_ != nullptr; }
    bool has_failed() const { return failed_; }

    // Connects the current GPU with those of the other replicas of the communicator `host`, which
    // broadcasts NCCL's id from rank 0.
    template <class Host>
    void open(Host& host) {
        rank_ = host.rank();
        size_ = host.size();
        if constexpr (requires { host.local_rendezvous(); }) {
            others_failed_ = [local = &host.local_rendezvous()] { return local->failed(); };
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

    int rank() const { return rank_; }
    int size() const { return size_; }

    // The collectives that together() can issue. An owner's part has the same offset on all
    // replicas.
    class calls {
    public:
        // All-reduce: every replica gets the sums.
        template <class T>
        void sum(std::span<T> s) const {
            issue([&] {
                return ncclAllReduce(s.data(), s.data(), s.size(), nccl_type<T>, ncclSum, c_.comm_,
                                     stream_);
            });
        }
        // Reduce-scatter: every owner gets the sums of its part.
        template <class T>
        void reduce(std::span<T> s, owners const& to) const {
            for_each_part(s, to, [&](std::span<T> part, int owner) {
                issue([&] {
                    return ncclReduce(part.data(), part.data(), part.size(), nccl_type<T>, ncclSum,
                                      owner, c_.comm_, stream_);
                });
            });
        }
        // All-gather: every replica gets every part from its owner.
        template <class T>
        void share(std::span<T> s, owners const& from) const {
            for_each_part(s, from, [&](std::span<T> part, int owner) {
                issue([&] {
                    return ncclBroadcast(part.data(), part.data(), part.size(), nccl_type<T>, owner,
                                         c_.comm_, stream_);
                });
            });
        }

    private:
        friend nccl_connection;
        calls(nccl_connection& c, cudaStream_t stream) : c_{c}, stream_{stream} {}

        // Keeps the first failure; what comes after it is not issued.
        template <class F>
        void issue(F const& f) const {
            if (is_good(status_)) {
                status_ = f();
            }
        }

        template <class T, class F>
        void for_each_part(std::span<T> s, owners const& who, F const& f) const {
            for (int r = 0; r < c_.size_; ++r) {
                part const p = who.of(s.size(), r, c_.size_);
                if (p.count() > 0) {
                    f(s.subspan(p.first, p.count()), r);
                }
            }
        }

        nccl_connection& c_;
        cudaStream_t stream_;
        mutable ncclResult_t status_ = ncclSuccess;
    };

    // Enqueues the collectives of ask(calls) on a stream as one operation; all replicas issue the
    // same ones. A failure is reported when the group has ended: within it, NCCL only takes note of
    // further calls, so the connection could not be aborted.
    template <class F>
    void together(cudaStream_t stream, collective const& at, F const& ask) {
        at_ = at;
        capture_scope const capture{*this, stream};
        calls const all{*this, stream};
        check(ncclGroupStart());
        ask(all);
        ncclResult_t const end = ncclGroupEnd();
        check(all.status_);
        check(end);
        until_enqueued();
    }
    // Broadcast from rank 0.
    template <class T>
    void broadcast(std::span<T> s, cudaStream_t stream, collective const& at) {
        together(stream, at, [&](calls const& all) { all.share(s, owners::first()); });
    }

    // The GPU's present work, for error messages of the host's waits.
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
            fail(string_of(
                {"waited ", timeout(), " s for the other replicas; see comm::timeout()"}));
        }
    }

    // Closes the connection, together with all replicas. After a failure it waits for nothing.
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

    // Aborts the GPU's collectives and its waits for other replicas. NCCL waits for captured graphs
    // that hold some: those of the set_graphs() caller are destroyed first.
    void abort() noexcept {
        if (is_open()) {
            destroy_graphs();
            ncclCommAbort(std::exchange(comm_, nullptr));
        }
    }

private:
    // While a stream is captured, the graph that is being made holds collectives.
    class capture_scope {
    public:
        capture_scope(nccl_connection& c, cudaStream_t stream) : c_{c} {
            cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
            CASTNET_CUDA(cudaStreamIsCapturing(stream, &status));
            c_.in_capture_ = status != cudaStreamCaptureStatusNone;
        }
        ~capture_scope() { c_.in_capture_ = false; }
        capture_scope(capture_scope const&) = delete;
        capture_scope& operator=(capture_scope const&) = delete;

    private:
        nccl_connection& c_;
    };

    // Being in progress is no failure.
    static bool is_good(ncclResult_t status) {
        return status == ncclSuccess || status == ncclInProgress;
    }
    // Checks the immediate result of a call.
    void check(ncclResult_t status) {
        if (!is_good(status)) {
            fail(message_of(status));
        }
    }
    // NCCL enqueues in its own thread: the streams have the work when the call is complete.
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
        if (is_open()) { // otherwise it was aborted, and the GPU waits for nobody
            ncclResult_t state = ncclSuccess;
            check(ncclCommGetAsyncError(comm_, &state));
            check(state);
        }
    }

    std::string message_of(ncclResult_t status) const {
        char const* const more = ncclGetLastError(comm_);
        bool const has_more = more != nullptr && *more != '\0';
        return string_of(
            {"NCCL: ", ncclGetErrorString(status), has_more ? ": " : "", has_more ? more : ""});
    }
    // A capture has to end first: then whoever catches the exception aborts.
    [[noreturn]] void fail(std::string const& why) {
        failed_ = true;
        if (!in_capture_) {
            abort();
        }
        throw error({"castnet: rank ", rank_, " of ", size_, ", ", at_.text(), ": ", why});
    }
    ncclComm_t comm_ = nullptr;
    int rank_ = 0, size_ = 1;
    bool failed_ = false, in_capture_ = false;
    collective at_{};
    std::function<bool()> others_failed_; // in this process
};

} // namespace detail
} // namespace castnet::comm
