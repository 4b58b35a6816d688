// cuDNN's algorithms (execution plans) for an operation graph, the heuristic's best guess first.
#pragma once

#include <castnet/device/cuda/cudnn/operation.hpp>

#include <algorithm>
#include <optional>

namespace castnet::cuda::cudnn {

struct wishes {
    bool tensor_cores = false;   // for float: products may be rounded to TF32's 10 bits
    std::int64_t workspace = 0;  // bytes at most
    std::size_t algorithms = 1;  // at most
    std::optional<int> number{}; // only the one in this place of cuDNN's list
};

// An engine with its settings, finalized as an execution plan. `number` is its place in cuDNN's
// list, which is the same for the same version and device; `engine` is cuDNN's number for the code.
struct algorithm {
    descriptor execution_plan;
    std::int64_t workspace = 0; // bytes
    int number = 0;
    std::int64_t engine = 0;
    bool tensor_cores = false;
};

namespace detail {

template <class T>
bool holds(std::vector<T> const& notes, T note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
}

} // namespace detail

// Deterministic algorithms only. Empty if cuDNN has none that satisfies the wishes.
inline std::vector<algorithm> algorithms_of(descriptor const& graph, target const& where,
                                            wishes const& wanted) {
    std::vector<algorithm> found;
    int number = 0;
    for (int mode = 0; mode < 2 && found.size() < wanted.algorithms; ++mode) {
        descriptor heuristic{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR};
        heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE,
                      mode == 0 ? CUDNN_HEUR_MODE_A : CUDNN_HEUR_MODE_FALLBACK);
        where.apply_to_heuristic(heuristic);
        if (!heuristic.can_finalize()) {
            continue;
        }
        auto const settings = heuristic.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        for (auto s = settings.begin(); s != settings.end() && found.size() < wanted.algorithms;
             ++s) {
            if (++number; wanted.number && number - 1 != *wanted.number) {
                continue;
            }
            auto const engine =
                s->descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
            auto const notes = engine.front().numbers<cudnnBackendNumericalNote_t>(
                CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
            bool const tensor_cores = detail::holds(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
            bool const reduced =
                detail::holds(notes, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
                detail::holds(notes, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
            if ((tensor_cores && !wanted.tensor_cores) || reduced ||
                detail::holds(notes, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) {
                continue;
            }
            descriptor plan{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
            plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *s);
            where.apply_to_execution_plan(plan);
            if (!plan.can_finalize()) {
                continue;
            }
            auto const bytes = plan.number<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
            if (bytes <= wanted.workspace) {
                found.push_back(
                    {std::move(plan), bytes, number - 1,
                     engine.front().number<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
                     tensor_cores});
            }
        }
    }
    return found;
}

} // namespace castnet::cuda::cudnn
