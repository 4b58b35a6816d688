// Matrix products by cuBLASLt. Each different product is planned once and keeps its algorithm, so
// that it gives the same bits on every call and may be captured into a graph.
#pragma once

#include <castnet/device/cuda/cublas/product.hpp>

#include <algorithm>
#include <vector>

namespace castnet::cuda::cublas {

// A product with the algorithm that was chosen for it.
struct planned_product {
    product what;
    product_descriptors descriptors;
    cublasLtMatmulAlgo_t algorithm{};
    std::size_t workspace = 0; // bytes
    bool finishes = false;     // its epilogue is done, too
};

class multiplier {
public:
    // For the device that is current. An algorithm may use so much memory for itself.
    explicit multiplier(std::size_t workspace) : workspace_{workspace} {
        cublasLtHandle_t made = nullptr;
        CASTNET_CUDA(cublasLtCreate(&made));
        handle_.reset(made);
    }

    // Without the epilogue if cuBLASLt has no algorithm with it; throws castnet::error if it has no
    // algorithm at all.
    planned_product const& plan(product const& p) {
        auto const found = std::find_if(planned_.begin(), planned_.end(),
                                        [&](auto const& known) { return known->what == p; });
        return found != planned_.end()
                   ? **found
                   : *planned_.emplace_back(std::make_unique<planned_product>(choose(p)));
    }

    // d = a b, and the epilogue if the plan finishes; `bias`: its numbers for the columns, which it
    // reads or, those of a gradient, writes.
    void run(planned_product const& p, void const* a, void const* b, void* d, void const* bias,
             void* workspace, cudaStream_t stream) const {
        constexpr double wide[] = {1, 0};
        constexpr float narrow[] = {1, 0};
        bool const is_wide = scale_type(p.what) == CUDA_R_64F;
        void const* const alpha = is_wide ? static_cast<void const*>(wide) : narrow;
        void const* const beta = is_wide ? static_cast<void const*>(wide + 1) : narrow + 1;
        product_descriptors const& m = p.descriptors;
        if (p.finishes) {
            m.set_bias(bias);
        }
        CASTNET_CUDA(cublasLtMatmul(handle_.get(), m.operation(), alpha, b, m.first(), a,
                                    m.second(), beta, d, m.result(), d, m.result(), &p.algorithm,
                                    workspace, p.workspace, stream));
    }

private:
    planned_product choose(product const& p) const {
        planned_product chosen{p, product_descriptors{p}};
        chosen.finishes = p.end != CUBLASLT_EPILOGUE_DEFAULT;
        if (chosen.finishes && !find_algorithm(chosen)) {
            product alone = p;
            alone.end = CUBLASLT_EPILOGUE_DEFAULT;
            chosen = {p, product_descriptors{alone}};
        }
        if (!chosen.finishes && !find_algorithm(chosen)) {
            throw error("castnet: cuBLASLt has no algorithm for the product of " +
                        std::to_string(p.rows) + " x " + std::to_string(p.depth) + " and " +
                        std::to_string(p.depth) + " x " + std::to_string(p.columns) +
                        " numbers within " + std::to_string(workspace_) +
                        " bytes; allow it more, or use another precision");
        }
        return chosen;
    }

    // False where cuBLASLt has none.
    bool find_algorithm(planned_product& p) const {
        product_descriptors const& m = p.descriptors;
        cublasLtMatmulPreference_t wishes = nullptr;
        CASTNET_CUDA(cublasLtMatmulPreferenceCreate(&wishes));
        detail::owned<cublasLtMatmulPreferenceOpaque_t> const owner{wishes};
        auto const set = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
            CASTNET_CUDA(cublasLtMatmulPreferenceSetAttribute(wishes, name, &value, sizeof value));
        };
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_});
        std::uint32_t const alignment = 16; // bytes, at least, of every array in the arena
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);

        cublasLtMatmulHeuristicResult_t best{};
        int found = 0;
        auto const status =
            cublasLtMatmulAlgoGetHeuristic(handle_.get(), m.operation(), m.first(), m.second(),
                                           m.result(), m.result(), wishes, 1, &best, &found);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && !found)) {
            return false;
        }
        CASTNET_CUDA(status);
        p.algorithm = best.algo;
        p.workspace = best.workspaceSize;
        return true;
    }

    std::size_t workspace_;
    detail::owned<cublasLtContext> handle_;
    std::vector<std::unique_ptr<planned_product>> planned_; // references to them stay valid
};

} // namespace castnet::cuda::cublas
