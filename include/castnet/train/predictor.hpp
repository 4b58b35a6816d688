// predictor<Model>: prediction with a model's parameters in memory of its own.
#pragma once

#include <castnet/train/model.hpp>
#include <castnet/train/prediction_executor.hpp>

#include <vector>

namespace castnet {

// Predicts with a model's parameters in memory of its own, which it allocates when it is made and
// with the first call: later ones allocate nothing, whatever other threads do. One call at a time
// may use it; others predict at the same time with predictors of their own, or with the model's
// predict(), which makes such memory as it needs it. The model must outlive it.
template <class Model>
class predictor {
    using T = typename Model::value_type;

public:
    explicit predictor(Model const& m) : model_{m}, executor_{m} {}

    // As those of the model; both also throw castnet::error if another call uses this predictor.
    template <size_t Output = 0, class... Inputs>
    std::vector<T> predict(Inputs const&... inputs) {
        detail::prediction_call const now{model_, "predict", executor_};
        return now->template predict<Output>(inputs...);
    }
    template <size_t Output = 0>
    void predict_one(T const* input, T* output) {
        detail::prediction_call const now{model_, "predict_one", executor_};
        now->template predict_one<Output>(input, output);
    }

private:
    Model const& model_;
    detail::prediction_executor<Model> executor_;
};

} // namespace castnet
