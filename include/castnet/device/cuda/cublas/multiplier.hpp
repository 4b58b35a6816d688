// Matrix products by cuBLASLt. Each different product is prepared once and keeps its algorithm, so
// that it gives the same bits on every call and may be captured into a graph.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/choose_algorithm.hpp>
#include <castnet/device/cuda/cublas/descriptors.hpp>
#include <castnet/device/cuda/fastest.hpp>
#include <castnet/device/cuda/noise.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace castnet::cuda::cublas {

// An algorithm of cuBLASLt. `number` is its place in cuBLASLt's list, `engine` cuBLASLt's number
// for the code.
struct algorithm {
    cublasLtMatmulAlgo_t settings{};
    std::size_t workspace = 0; // bytes
    int number = 0;
    std::int64_t engine = 0;
};

// A product with its chosen algorithm.
struct prepared_product {
    product what;
    product_descriptors descriptors;
    algorithm how;
    bool finishes = false; // with its epilogue
};

class multiplier {
public:
    // For the current device. `workspace`: the most bytes of an algorithm's workspace.
    multiplier(stream const& s, std::size_t workspace, algorithm_order order)
        : stream_{s}, workspace_{workspace}, order_{order} {
        cublasLtHandle_t made = nullptr;
        CASTNET_CUDA(cublasLtCreate(&made));
        handle_ = handle{made};
    }

    // The product with an algorithm, chosen by the first call; without the epilogue if cuBLASLt has
    // no algorithm with it. Throws castnet::error if it has none at all.
    prepared_product const& prepare(product const& p) {
        auto const found = std::find_if(prepared_.begin(), prepared_.end(),
                                        [&](auto const& known) { return known->what == p; });
        return found != prepared_.end()
                   ? **found
                   : *prepared_.emplace_back(std::make_unique<prepared_product>(choose(p)));
    }

    // Enqueues d = a b, with the epilogue if p.finishes; `bias` is a value per column, which the
    // epilogue reads or, for a gradient, writes. Or another combination.
    void run(prepared_product const& p, void const* a, void const* b, void* d, void const* bias,
             void* workspace, combination const& sum = {}) const {
        if (p.finishes) {
            p.descriptors.set_bias(bias);
        }
        run(p.what, p.descriptors, p.how, a, b, d, workspace, sum);
    }

private:
    void run(product const& p, product_descriptors const& m, algorithm const& how, void const* a,
             void const* b, void* d, void* workspace, combination const& sum = {}) const {
        double const wide[] = {sum.of_product, sum.of_addend};
        float const narrow[] = {float(sum.of_product), float(sum.of_addend)};
        bool const is_wide = scale_type(p) == CUDA_R_64F;
        void const* const alpha = is_wide ? static_cast<void const*>(wide) : narrow;
        void const* const beta = is_wide ? static_cast<void const*>(wide + 1) : narrow + 1;
        CASTNET_CUDA(cublasLtMatmul(handle_.get(), m.operation(), alpha, b, m.first(), a,
                                    m.second(), beta, sum.addend != nullptr ? sum.addend : d,
                                    m.result(), d, m.result(), &how.settings, workspace,
                                    how.workspace, stream_.get()));
    }

    prepared_product choose(product const& p) const {
        product_descriptors made{p};
        auto chosen = algorithm_for(p, made);
        bool const has_end = p.end != CUBLASLT_EPILOGUE_DEFAULT, finishes = has_end && chosen;
        if (has_end && !finishes) {
            product alone = p;
            alone.end = CUBLASLT_EPILOGUE_DEFAULT;
            made = product_descriptors{alone};
            chosen = algorithm_for(alone, made);
        }
        if (!chosen) {
            throw error({"castnet: cuBLASLt has no algorithm for the ", text_of(p), " within ",
                         workspace_, " bytes; allow it more, or use another precision"});
        }
        return {p, std::move(made), *chosen, finishes};
    }

    // Empty if cuBLASLt has none.
    std::optional<algorithm> algorithm_for(product const& p, product_descriptors const& m) const {
        return choose_algorithm(
            order_, string_of({text_of(p), ", cuBLASLt ", cublasLtGetVersion()}),
            [&](std::size_t count, std::optional<int> number) {
                auto all = algorithms_for(m, p.alignment, number ? timed_algorithms : count);
                std::erase_if(all,
                              [&](algorithm const& a) { return number && a.number != *number; });
                return all;
            },
            [&](std::vector<algorithm> const& all) { return fastest_of(all, p, m); });
    }

    // At most `count`, which is at most timed_algorithms; the heuristic's best guess first.
    std::vector<algorithm> algorithms_for(product_descriptors const& m, std::uint32_t alignment,
                                          std::size_t count) const {
        cublasLtMatmulPreference_t wishes = nullptr;
        CASTNET_CUDA(cublasLtMatmulPreferenceCreate(&wishes));
        owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> const owner{wishes};
        auto const set = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
            CASTNET_CUDA(cublasLtMatmulPreferenceSetAttribute(wishes, name, &value, sizeof value));
        };
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_});
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
        set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);

        // An array: nvcc 13.0 fails on a vector of them.
        cublasLtMatmulHeuristicResult_t found[timed_algorithms];
        int filled = 0;
        auto const status = cublasLtMatmulAlgoGetHeuristic(
            handle_.get(), m.operation(), m.first(), m.second(), m.result(), m.result(), wishes,
            static_cast<int>(count), found, &filled);
        if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
            status == CUBLAS_STATUS_INVALID_VALUE) { // also for unsupported combinations
            return {};
        }
        CASTNET_CUDA(status);
        std::vector<algorithm> all;
        for (int i = 0; i < filled; ++i) {
            cublasLtMatmulHeuristicResult_t const& f = found[i];
            if (f.state == CUBLAS_STATUS_SUCCESS) {
                std::int32_t engine = 0;
                CASTNET_CUDA(cublasLtMatmulAlgoConfigGetAttribute(&f.algo, CUBLASLT_ALGO_CONFIG_ID,
                                                                  &engine, sizeof engine, nullptr));
                all.push_back({f.algo, f.workspaceSize, i, engine});
            }
        }
        return all;
    }

    // Empty if there is no memory for timing.
    std::optional<std::size_t> fastest_of(std::vector<algorithm> const& all, product const& p,
                                          product_descriptors const& m) const {
        try {
            memory const a = noise(span_of(p.rows, p.depth, p.transposed_a, p.batch, p.a),
                                   bytes_of(p.type), stream_),
                         b = noise(span_of(p.depth, p.columns, p.transposed_b, p.batch, p.b),
                                   bytes_of(p.type), stream_),
                         d = noise(span_of(p.rows, p.columns, false, p.batch, p.d),
                                   bytes_of(p.result), stream_),
                         bias = noise(p.columns, bytes_of(p.result), stream_),
                         workspace{workspace_};
            if (p.end != CUBLASLT_EPILOGUE_DEFAULT) {
                m.set_bias(bias.as<char>());
            }
            return fastest(stream_, all.size(), [&](std::size_t i) {
                run(p, m, all[i], a.as<char>(), b.as<char>(), d.as<char>(), workspace.as<char>());
            });
        } catch (out_of_memory const&) {
            return std::nullopt;
        }
    }

    using handle = owned<cublasLtHandle_t, cublasLtDestroy>;
    stream const& stream_;
    std::size_t workspace_;
    algorithm_order order_;
    handle handle_;
    std::vector<std::unique_ptr<prepared_product>> prepared_; // references to them stay valid
};

} // namespace castnet::cuda::cublas
