// Checks of the arguments of model<Network, Policy, batch<N>>.
#pragma once

#include <castnet/core/called_otherwise.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/policy/policy.hpp>

namespace castnet {

template <class... Given>
struct functions_of_models { // a class, so that one sentence serves all calls
    static_assert(detail::never<Given...>,
                  "castnet: what is done with a model are functions: cn::compile(model, loss, "
                  "optimizer), cn::summary(model), cn::save(model, file), cn::load(model, file)");
    static constexpr bool checked = true;
};

template <class... Given>
struct parameters_have_names { // likewise
    static_assert(detail::never<Given...>,
                  "castnet: parameters have names: model.get(\"0.weight\") and "
                  "model.set(\"0.weight\", numbers); model.parameter_at(i).name for i < "
                  "model.parameter_tensors() are all of them, which cn::copy_parameters(from, to) "
                  "copies and cn::save(model, file) writes");
    static constexpr bool checked = true;
};

template <class... Given>
struct models_have_no_mode { // likewise
    static_assert(detail::never<Given...>,
                  "castnet: a model has no mode: it predicts as in evaluation, and fit() and "
                  "step() of a training compute as in training; training.freeze(\"0.*\") leaves "
                  "parameters as they are");
    static constexpr bool checked = true;
};

template <class... Given>
struct policy_places_models { // likewise
    static_assert(detail::never<Given...>,
                  "castnet: a model lies where its policy says: cn::model<network, "
                  "cn::policy::cuda, cn::batch<32>>");
    static constexpr bool checked = true;
};

template <class... Given>
struct model_has_parameters_only { // likewise
    static_assert(detail::never<Given...>,
                  "castnet: a model has parameters only; auto training = cn::compile(model, "
                  "loss, optimizer) has fit() and evaluate()");
};

template <class T>
concept Batch = requires { T::capacity; };

// Classes, so that every compiler prints the type.
template <class Net>
struct is_network {
    static_assert(Network<Net>,
                  "castnet: the first argument of cn::model is not a network; it is a "
                  "type, cn::sequential<cn::input<...>, layers...> or "
                  "cn::network<function{}, cn::input<...>>; see is_network<type>");
    static constexpr bool checked = true;
};
template <class Samples>
struct is_batch {
    static_assert(Batch<Samples>, "castnet: the third argument of cn::model is the batch, "
                                  "cn::batch<number of samples>; see is_batch<type>");
    static constexpr bool checked = true;
};

// In place of arguments that are missing.
struct no_policy {};
struct no_batch {};

// Primary template, for invalid arguments; the model itself is in train/model.hpp.
template <class Net, class Where = no_policy, class Samples = no_batch>
class model {
    static_assert(is_network<Net>::checked);
    static_assert(is_policy<Where>::checked);
    static_assert(is_batch<Samples>::checked);

public:
    model(auto const&...) {}
};

} // namespace castnet
