// Owning wrappers of CUDA streams and events.
#pragma once

#include <castnet/device/cuda/error.hpp>
#include <castnet/device/cuda/owned.hpp>

namespace castnet::cuda {

namespace detail {
inline bool is_done(cudaError_t status) {
    if (status == cudaErrorNotReady) {
        cudaGetLastError(); // so that the next call does not report it
        return false;
    }
    CASTNET_CUDA(status);
    return true;
}
} // namespace detail

// CUDA event, with a time stamp if asked for; others cost less.
enum class event_time : bool { unknown, known };

class event {
public:
    event() : event{event_time::unknown} {}
    explicit event(event_time time) {
        cudaEvent_t e = nullptr;
        CASTNET_CUDA(cudaEventCreateWithFlags(
            &e, time == event_time::known ? cudaEventDefault : cudaEventDisableTiming));
        handle_ = handle{e};
    }
    cudaEvent_t get() const { return handle_.get(); }

    // Both events must have time stamps, and be done.
    double milliseconds_since(event const& earlier) const {
        float passed = 0;
        CASTNET_CUDA(cudaEventElapsedTime(&passed, earlier.get(), get()));
        return double{passed};
    }

    // Whether the last recording is complete; waits for it on the host.
    bool is_done() const { return detail::is_done(cudaEventQuery(get())); }
    void wait() const { CASTNET_CUDA(cudaEventSynchronize(get())); }

private:
    using handle = owned<cudaEvent_t, cudaEventDestroy>;
    handle handle_;
};

// CUDA stream that does not synchronize with the default stream.
class stream {
public:
    stream() {
        cudaStream_t s = nullptr;
        CASTNET_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        handle_ = handle{s};
    }
    cudaStream_t get() const { return handle_.get(); }

    // Whether the stream is being captured.
    bool is_captured() const {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        CASTNET_CUDA(cudaStreamIsCapturing(get(), &status));
        return status != cudaStreamCaptureStatusNone;
    }

    void record(event const& e) const { CASTNET_CUDA(cudaEventRecord(e.get(), get())); }
    void wait_for(cudaEvent_t e) const { CASTNET_CUDA(cudaStreamWaitEvent(get(), e, 0)); }
    void wait_for(event const& e) const { wait_for(e.get()); }
    // Whether the stream's work is complete; waits for it on the host.
    bool is_done() const { return detail::is_done(cudaStreamQuery(get())); }
    void wait() const { CASTNET_CUDA(cudaStreamSynchronize(get())); }

private:
    using handle = owned<cudaStream_t, cudaStreamDestroy>;
    handle handle_;
};

} // namespace castnet::cuda
