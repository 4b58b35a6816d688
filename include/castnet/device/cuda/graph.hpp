// A captured CUDA graph.
#pragma once

#include <castnet/device/cuda/owned.hpp>
#include <castnet/device/cuda/stream.hpp>

namespace castnet::cuda {

class captured_graph {
public:
    captured_graph() = default;

    // Captures the work that enqueue() puts on the stream, without running it. Returns when the
    // graph is on the GPU, so that no launch allocates: while another GPU waits for this one, that
    // may never end. Waits for earlier work of the stream.
    template <class F>
    captured_graph(stream const& s, F const& enqueue) {
        CASTNET_CUDA(cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeThreadLocal));
        capture made;
        try {
            enqueue();
        } catch (...) {
            cudaStreamEndCapture(s.get(), &made.graph);
            cudaGetLastError();
            throw;
        }
        CASTNET_CUDA(cudaStreamEndCapture(s.get(), &made.graph));
        cudaGraphExec_t executable = nullptr;
        CASTNET_CUDA(cudaGraphInstantiate(&executable, made.graph, 0));
        executable_ = owned_executable{executable};
        CASTNET_CUDA(cudaGraphUpload(executable, s.get()));
        s.wait();
    }

    explicit operator bool() const { return executable_.get() != nullptr; }
    void launch(stream const& s) const {
        CASTNET_CUDA(cudaGraphLaunch(executable_.get(), s.get()));
    }

private:
    // Owner of a captured graph, which there may be even if the end of the capture reports an
    // error: that of earlier work.
    struct capture {
        cudaGraph_t graph = nullptr;

        capture() = default;
        capture(capture const&) = delete;
        capture& operator=(capture const&) = delete;
        ~capture() {
            if (graph != nullptr) {
                cudaGraphDestroy(graph);
            }
        }
    };
    using owned_executable = owned<cudaGraphExec_t, cudaGraphExecDestroy>;
    owned_executable executable_;
};

} // namespace castnet::cuda
