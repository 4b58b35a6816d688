// Matrix products by cuBLASLt. Each different product is planned once and keeps its algorithm, so
// that it gives the same bits on every call and may be captured into a graph.
#pragma once

#include <castnet/device/cuda/cublas/product.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace castnet::cuda::cublas {

class multiplier {
public:
    // For the device that is current. Algorithms may use so much memory for themselves.
    explicit multiplier(std::size_t workspace) : workspace_{workspace} {
        cublasLtHandle_t made = nullptr;
        CASTNET_CUDA(cublasLtCreate(&made));
        handle_.reset(made);
    }

    // Chooses the algorithm; returns the bytes that it wants for itself. Throws castnet::error if
    // cuBLASLt has none.
    std::size_t plan(product const& p) {
        auto const found = planned_.find(p);
        return found != planned_.end()
                   ? found->second.workspace
                   : planned_.emplace(p, planned{*this, p}).first->second.workspace;
    }

    // d = a b, for a product that was planned. `columns`: what the epilogue reads or writes.
    void run(product const& p, void const* a, void const* b, void* d, void* workspace,
             cudaStream_t stream, void const* columns = nullptr) {
        planned& m = planned_.at(p);
        if (p.end != epilogue::none) {
            m.descriptors.set_columns(columns);
        }
        double const one[] = {1, 0};
        float const one_float[] = {1, 0};
        bool const wide = scale_type(p) == CUDA_R_64F;
        void const* const alpha = wide ? static_cast<void const*>(one) : one_float;
        void const* const beta = wide ? static_cast<void const*>(one + 1) : one_float + 1;
        CASTNET_CUDA(cublasLtMatmul(handle_.get(), m.descriptors.operation(), alpha, b,
                             m.descriptors.first(), a, m.descriptors.second(), beta, d,
                             m.descriptors.result(), d, m.descriptors.result(), &m.algorithm,
                             workspace, m.workspace, stream));
    }

private:
    struct planned {
        product_descriptors descriptors;
        cublasLtMatmulAlgo_t algorithm{};
        std::size_t workspace = 0;

        planned(multiplier const& m, product const& p) : descriptors{p} {
            cublasLtMatmulPreference_t made = nullptr;
            CASTNET_CUDA(cublasLtMatmulPreferenceCreate(&made));
            detail::owned<cublasLtMatmulPreferenceOpaque_t> const wishes{made};
            auto const set = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
                CASTNET_CUDA(cublasLtMatmulPreferenceSetAttribute(made, name, &value, sizeof value));
            };
            set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{m.workspace_});
            std::uint32_t const alignment = 16; // bytes, at least, of every array in the arena
            set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
            set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
            set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
            set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
            cublasLtMatmulHeuristicResult_t best{};
            int found = 0;
            auto const status = cublasLtMatmulAlgoGetHeuristic(
                m.handle_.get(), descriptors.operation(), descriptors.first(), descriptors.second(),
                descriptors.result(), descriptors.result(), made, 1, &best, &found);
            if (status == CUBLAS_STATUS_NOT_SUPPORTED || found == 0) {
                throw error("castnet: cuBLASLt has no algorithm for the product (" +
                            std::to_string(p.rows) + " x " + std::to_string(p.depth) + ") times (" +
                            std::to_string(p.depth) + " x " + std::to_string(p.columns) +
                            ") of its data type " + std::to_string(p.type) + " with " +
                            std::to_string(m.workspace_) +
                            " bytes of workspace; allow it more workspace");
            }
            CASTNET_CUDA(status);
            algorithm = best.algo;
            workspace = best.workspaceSize;
        }
    };

    std::size_t workspace_;
    detail::owned<cublasLtContext> handle_;
    std::map<product, planned> planned_;
};

} // namespace castnet::cuda::cublas
