// predictor<Model>: prediction with a model's parameters and its own memory.
#pragma once

#include <castnet/train/model.hpp>
#include <castnet/train/prediction_executor.hpp>
#include <castnet/train/tensor_samples.hpp>

#include <memory>

namespace castnet {

// A class, so that every compiler prints the type.
template <class Model>
struct predicts_with_model {
    static constexpr bool checked = detail::is_model<Model>;
    static_assert(checked, "castnet: the argument of predictor<> and stateful_predictor<> is the "
                           "type of a model, cn::model<network, policy, cn::batch<samples>>, as in "
                           "cn::predictor p{model}; see predicts_with_model<type>");
};

template <class Model>
    requires(predicts_with_model<Model>::checked)
class predictor;
// None, so that cn::predictor other{std::move(p)} has the type of p.
template <class Model>
struct predicts_with_model<predictor<Model>> {
    static constexpr bool checked = false;
};

// Predicts with a model's parameters and its own memory, allocated by the constructor and the first
// call; later calls allocate nothing, whatever other threads do. Only one call at a time may use
// it; other threads use their own predictors, or the model's predict(), which allocates as needed.
// The model must outlive it. A predictor moves, but does not copy; the calls of one that was moved
// away throw castnet::error until another one is assigned to it.
template <class Model>
    requires(predicts_with_model<Model>::checked)
class predictor {
public:
    explicit predictor(Model const& m)
        : model_{&m}, executor_{std::make_unique<detail::prediction_executor<Model>>(m)} {}

    // As the model's functions; both also throw castnet::error if another call uses this predictor.
    template <size_t... Outputs, class... Inputs>
    auto predict(Inputs const&... inputs) {
        detail::prediction_call const now{*model_, "predict", executor("predict")};
        if constexpr (sizeof...(Inputs) > 0 && (TensorExpression<Inputs> && ...)) {
            return detail::predict_tensors<Model>(now, detail::listed_outputs<Outputs...>,
                                                  inputs...);
        } else {
            return now->predict(detail::listed_outputs<Outputs...>, inputs...);
        }
    }
    template <fixed_string... Names, class... Inputs>
        requires(sizeof...(Names) > 0)
    auto predict(Inputs const&... inputs) {
        return predict<detail::output_named<typename Model::network_type, Names>()...>(inputs...);
    }
    template <size_t... Outputs, class... Numbers>
    auto predict_one(Numbers&&... numbers) {
        detail::prediction_call const now{*model_, "predict_one", executor("predict_one")};
        return now->predict_one(detail::listed_outputs<Outputs...>, numbers...);
    }
    template <fixed_string... Names, class... Numbers>
        requires(sizeof...(Names) > 0)
    auto predict_one(Numbers&&... numbers) {
        return predict_one<detail::output_named<typename Model::network_type, Names>()...>(
            numbers...);
    }

private:
    detail::prediction_executor<Model>& executor(char const* call) const {
        if (!executor_) {
            throw error({"castnet: ", call,
                         ": this predictor was moved away; call the one that it "
                         "was moved to"});
        }
        return *executor_;
    }

    Model const* model_;
    std::unique_ptr<detail::prediction_executor<Model>> executor_; // stays where it is
};

} // namespace castnet
