// What this GPU does at best, for the floor of a training step (castnet/train/cuda_cost.hpp).
#pragma once

#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace bench {

namespace cn = castnet;

__global__ inline void empty_kernel() {}

class gpu_ceilings {
public:
    // With products of this precision; measured once.
    static cn::gpu_limits const& of(cn::cuda::product_precision precision) {
        static gpu_ceilings const here;
        static std::map<cn::cuda::product_precision, cn::gpu_limits> known;
        auto const [found, is_new] = known.try_emplace(precision);
        if (is_new) {
            found->second = {here.copied_bytes(), here.product_flops(precision), here.float_flops(),
                             here.seconds_per_kernel()};
        }
        return found->second;
    }

private:
    using product_precision = cn::cuda::product_precision;

    // Seconds of what enqueue() puts on the stream so many times, after once more.
    template <class F>
    double seconds(int times, F const& enqueue) const {
        enqueue();
        cudaEvent_t begin, end;
        CASTNET_CUDA(cudaEventCreate(&begin));
        CASTNET_CUDA(cudaEventCreate(&end));
        CASTNET_CUDA(cudaEventRecord(begin, stream_.get()));
        for (int i = 0; i < times; ++i) {
            enqueue();
        }
        CASTNET_CUDA(cudaEventRecord(end, stream_.get()));
        CASTNET_CUDA(cudaEventSynchronize(end));
        float ms = 0;
        CASTNET_CUDA(cudaEventElapsedTime(&ms, begin, end));
        CASTNET_CUDA(cudaEventDestroy(begin));
        CASTNET_CUDA(cudaEventDestroy(end));
        return ms / 1e3 / times;
    }

    // Read and written by a copy within the GPU's memory.
    double copied_bytes() const {
        constexpr std::size_t bytes = std::size_t{1} << 30;
        cn::cuda::memory const from{bytes}, to{bytes};
        double const time = seconds(10, [&] {
            CASTNET_CUDA(cudaMemcpyAsync(to.as<char>(), from.as<char>(), bytes,
                                         cudaMemcpyDeviceToDevice, stream_.get()));
        });
        return 2 * double(bytes) / time;
    }

    // Of random matrices of 8192 x 8192, in cuBLASLt.
    double product_flops(product_precision precision) const {
        constexpr std::int64_t n = 8192;
        bool const bf16 = precision == product_precision::bf16;
        cn::cuda::cublas::product p{n, n, n};
        p.type = p.result = bf16 ? CUDA_R_16BF : CUDA_R_32F;
        p.compute = precision == product_precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                         : CUBLAS_COMPUTE_32F;
        std::vector<float> numbers(std::size_t{1} << 20);
        std::mt19937 random{42};
        for (float& x : numbers) {
            x = float(random() >> 8) / float(1 << 23) - 1;
        }
        std::vector<cn::bfloat16> const halves(numbers.begin(), numbers.end());
        void const* const some = bf16 ? static_cast<void const*>(halves.data()) : numbers.data();
        std::size_t const part = numbers.size() * (bf16 ? 2 : 4), bytes = part * 64;
        cn::cuda::memory const a{bytes}, b{bytes}, d{bytes};
        for (std::size_t at = 0; at < bytes; at += part) {
            for (auto const* to : {&a, &b}) {
                CASTNET_CUDA(cudaMemcpy(to->as<char>() + at, some, part, cudaMemcpyHostToDevice));
            }
        }
        cn::cuda::libraries library{stream_};
        double const time =
            seconds(5, [&] { library.run(p, a.as<char>(), b.as<char>(), d.as<char>()); });
        return 2.0 * n * n * n / time;
    }

    // Of fused multiplications and additions of floats, of the data sheet.
    double float_flops() const {
        int processors = 0, kilohertz = 0;
        CASTNET_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
        CASTNET_CUDA(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
        return 2.0 * 128 * processors * kilohertz * 1e3;
    }

    // Of a graph of empty ones.
    double seconds_per_kernel() const {
        constexpr int count = 1000;
        CASTNET_CUDA(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < count; ++i) {
            empty_kernel<<<1, 32, 0, stream_.get()>>>();
        }
        cudaGraph_t graph;
        CASTNET_CUDA(cudaStreamEndCapture(stream_.get(), &graph));
        cudaGraphExec_t ready;
        CASTNET_CUDA(cudaGraphInstantiate(&ready, graph, 0));
        double const time =
            seconds(10, [&] { CASTNET_CUDA(cudaGraphLaunch(ready, stream_.get())); });
        CASTNET_CUDA(cudaGraphExecDestroy(ready));
        CASTNET_CUDA(cudaGraphDestroy(graph));
        return time / count;
    }

    cn::cuda::stream stream_;
};

} // namespace bench
