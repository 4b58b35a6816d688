// Streams and events that end with their scope.
#pragma once

#include <castnet/device/cuda/error.hpp>

#include <memory>
#include <type_traits>

namespace castnet::cuda {

namespace detail {
inline bool is_done(cudaError_t status) {
    if (status == cudaErrorNotReady) {
        cudaGetLastError(); // which would report it
        return false;
    }
    CASTNET_CUDA(status);
    return true;
}
} // namespace detail

// Knows when it was, if asked to; others cost less.
enum class event_time : bool { unknown, known };

class event {
public:
    event() : event{event_time::unknown} {}
    explicit event(event_time time) {
        cudaEvent_t e = nullptr;
        CASTNET_CUDA(cudaEventCreateWithFlags(
            &e, time == event_time::known ? cudaEventDefault : cudaEventDisableTiming));
        handle_.reset(e);
    }
    cudaEvent_t get() const { return handle_.get(); }

    // Both know their time, and are done.
    double milliseconds_since(event const& earlier) const {
        float passed = 0;
        CASTNET_CUDA(cudaEventElapsedTime(&passed, earlier.get(), get()));
        return double{passed};
    }

    // Whether what was recorded last is done; the host waits until it is.
    bool is_done() const { return detail::is_done(cudaEventQuery(get())); }
    void wait() const { CASTNET_CUDA(cudaEventSynchronize(get())); }

private:
    struct release {
        void operator()(cudaEvent_t e) const { cudaEventDestroy(e); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, release> handle_;
};

// Work in order, beside that of other streams; waits for none but those it is told to wait for.
class stream {
public:
    stream() {
        cudaStream_t s = nullptr;
        CASTNET_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        handle_.reset(s);
    }
    cudaStream_t get() const { return handle_.get(); }

    // Whether what is put here now is captured and does not run.
    bool is_captured() const {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        CASTNET_CUDA(cudaStreamIsCapturing(get(), &status));
        return status != cudaStreamCaptureStatusNone;
    }

    void record(event const& e) const { CASTNET_CUDA(cudaEventRecord(e.get(), get())); }
    void wait_for(event const& e) const { CASTNET_CUDA(cudaStreamWaitEvent(get(), e.get(), 0)); }
    // Whether all that was put here is done; the host waits until it is.
    bool is_done() const { return detail::is_done(cudaStreamQuery(get())); }
    void wait() const { CASTNET_CUDA(cudaStreamSynchronize(get())); }

private:
    struct release {
        void operator()(cudaStream_t s) const { cudaStreamDestroy(s); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, release> handle_;
};

} // namespace castnet::cuda
