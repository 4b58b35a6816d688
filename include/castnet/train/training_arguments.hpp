// Calls of a training that do not compile: arguments that it does not take, and names from other
// libraries.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/graph/parameter.hpp>

#include <cstddef>

namespace castnet {

// Classes, so that every compiler prints the types.
template <class... Given>
struct fit_takes {
    static_assert(
        detail::never<Given...>,
        "castnet: fit takes a data set and its options: cn::data::dataset<"
        "cn::data::label<3>, cn::shape<2>> data{x, y}; training.fit(data, {.epochs = 3}); "
        "see fit_takes<given...>");
    static constexpr bool checked = true;
};

template <class... Given>
struct evaluate_takes {
    static_assert(detail::never<Given...>,
                  "castnet: evaluate takes a data set: training.evaluate(cn::data::of_tensors(x, "
                  "y)) for tensors, cn::data::dataset<cn::data::label<3>, cn::shape<2>> data{x, "
                  "y} for columns; see evaluate_takes<given...>");
    static constexpr bool checked = true;
};

template <class... Given>
struct step_takes {
    static_assert(
        detail::never<Given...>,
        "castnet: step takes a data set, and the numbers of its samples, a std::vector of "
        "std::size_t, unless all of them: training.step(cn::data::of_tensors(x, y)) for tensors, "
        "cn::data::dataset<cn::data::label<3>, cn::shape<2>> data{x, y} for columns; see "
        "step_takes<given...>");
    static constexpr bool checked = true;
};

template <class... Given>
struct functions_of_trainings {
    static_assert(detail::never<Given...>,
                  "castnet: what is done with a training are functions: cn::save(training, file) "
                  "and cn::load(training, file) of a checkpoint, cn::memory_report(training), "
                  "cn::summary(model)");
    static constexpr bool checked = true;
};

template <class... Given>
struct rate_of_steps {
    static_assert(detail::never<Given...>,
                  "castnet: the learning rate is that of the optimizer, cn::adam{.learning_rate = "
                  "1e-3}, of fit's schedule, training.fit(data, {.schedule = "
                  "cn::cosine_decay(1e-3)}), or of a step, training.step(data, samples, 1e-3)");
    static constexpr bool checked = true;
};

template <class... Given>
struct steps_are_whole {
    static_assert(detail::never<Given...>,
                  "castnet: training.step(data, samples) computes gradients from zero and updates "
                  "the parameters; training.gradient(\"0.weight\") is that of the last step");
    static constexpr bool checked = true;
};

template <class Model>
struct has_statistics {
    static constexpr bool checked = [] {
        for (size_t i = 0; i < Model::parameter_tensors(); ++i) {
            if (Model::parameter_at(i).kind == role::statistic) {
                return true;
            }
        }
        return false;
    }();
    static_assert(checked, "castnet: update_statistics: no layer of the network has statistics, "
                           "such as the running means of batch_norm; see has_statistics<model>");
};

} // namespace castnet
