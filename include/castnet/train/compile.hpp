// The function compile(model, loss, optimizer, metrics…), which makes the training of a model.
#pragma once

#include <castnet/core/in_braces.hpp>
#include <castnet/train/compile_arguments.hpp>
#include <castnet/train/training.hpp>

namespace castnet {

// The step of a model: its loss (nn/losses.hpp or one's own), optimizer and metrics. The training
// refers to the model, which must outlive it. It has the model to itself during fit(), step(),
// evaluate() and load(): they throw castnet::error while another thread trains, predicts or sets
// parameters, and so does that while they run; callbacks are calls of the training's own thread.
template <class Model, class Loss, class Optimizer, class... Metrics>
auto compile(Model& m, Loss loss, Optimizer const& o, Metrics... metrics) {
    constexpr auto mistake = detail::mistake_in_compile<Model, Loss, Optimizer, Metrics...>();
    if constexpr (mistake == detail::compile_mistake::none) {
        using type = training<Model, Loss, Optimizer, Metrics...>;
        type::evaluate_plans();
        return type{m, loss, o, metrics...};
    } else {
        return refused_training<arguments_of_compile<mistake, Loss, Optimizer, Metrics...>>{};
    }
}

// Only for their messages.
template <class Net, class Where, class Samples, class... Given>
auto compile(model<Net, Where, Samples>&&, Given const&...) {
    static_assert(detail::never<Net>,
                  "castnet: compile(model, loss, optimizer, metrics...): the training refers to "
                  "the model, which must not be a temporary: give it a name");
    return no_training{};
}
template <class Model, class Loss, class Optimizer>
auto compile(Model&, Loss const&, Optimizer const&, detail::in_braces) {
    static_assert(detail::never<Model>,
                  "castnet: compile(model, loss, optimizer, metrics...): metrics stand in no "
                  "braces: cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy)");
    return no_training{};
}
template <class Model, class... Loss>
    requires(sizeof...(Loss) < 2)
auto compile(Model&, Loss const&...) {
    static_assert(detail::never<Model>,
                  "castnet: compile(model, loss, optimizer, metrics...): the optimizer is missing: "
                  "cn::compile(model, cn::mse, cn::adam{})");
    return no_training{};
}

} // namespace castnet
