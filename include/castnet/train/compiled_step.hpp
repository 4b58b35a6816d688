// A recipe compiled for a device, with the assertions on the network.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/plan/pipeline.hpp>
#include <castnet/train/recipes.hpp>

namespace castnet {

// How many samples one device computes at most in a step.
template <size_t Samples>
struct batch {
    static constexpr size_t capacity = Samples;
    static_assert(Samples > 0, "castnet: a batch needs room for at least one sample");
    static_assert(Samples < size_t{1} << 31, "castnet: a batch has less than 2^31 samples");
};

// Classes that say what is not used, so that every compiler prints its name or number; the empty
// name and -1 stand for nothing.
template <fixed_string Name>
struct parameter_is_used {
    static_assert(
        Name.view().empty(),
        "castnet: a parameter of the network does not reach its outputs (or, in training, "
        "the loss, other than through cn::stop_gradient: if it is to stay as it is, put its layer "
        "in cn::frozen); a gradient by cn::grad does not depend on the last bias: put the value "
        "into cn::outputs, too; see parameter_is_used<name>");
    static constexpr bool checked = true;
};
template <fixed_string Name>
struct parameter_name_is_unique {
    static_assert(Name.view().empty(),
                  "castnet: two parameters of the network have the same name, which files and "
                  "model.get() find them by; give one of the layers another name with "
                  "cn::named, or put both in cn::shared if they are to be one layer that is used "
                  "twice; see parameter_name_is_unique<name>");
    static constexpr bool checked = true;
};
template <int Number>
struct input_is_used {
    static_assert(Number < 0,
                  "castnet: an input of the network does not reach its outputs: leave it out (only "
                  "a network of parameters alone may ignore its inputs, all of them); see "
                  "input_is_used<number>");
    static constexpr bool checked = true;
};

template <int Named, int Available>
struct devices_exist {
    static_assert(Available == 1 || Named <= Available,
                  "castnet: cn::on places layers on a device that the policy does not have; see "
                  "devices_exist<devices named, devices of the policy>");
    static constexpr bool checked = true;
};

namespace detail {

template <class Recipe, class Network, class Device, size_t Batch, bool Training>
class compiled_step {
    using stages = ir::pipeline<Recipe, Network, Device, Batch, Training>;

public:
    static constexpr auto const& value = stages::value; // the plan
    static constexpr ir::fingerprint fingerprint() { return stages::traced_fingerprint; }

private:
    // The name of a parameter, empty for number -1.
    template <int Number, class Put>
    static constexpr void spell(Put put) {
        if constexpr (Number >= 0) {
            value.parameters[Number].name.write(put);
        }
    }
    template <int Number>
    static constexpr size_t length() {
        size_t count = 0;
        spell<Number>([&](char) { ++count; });
        return count;
    }
    template <int Number>
    static constexpr auto name_text() {
        char text[length<Number>() + 1]{};
        char* end = text;
        spell<Number>([&](char c) { *end++ = c; });
        return fixed_string{text};
    }
    // All programs of a network have the same parameters and inputs: it is enough to look at one.
    // (A loss may leave inputs out, such as that of a generator, which sees no real samples.)
    static constexpr bool predicts = std::is_same_v<Recipe, prediction_recipe>;
    static constexpr int repeated =
        predicts ? repeated_name(value.parameters, value.sizes.parameters) : -1;
    static_assert(devices_exist<stages::trace_sizes.devices, ir::device_count<Device>>::checked);
    static constexpr mistake wrong = stages::trace_sizes.wrong;
    static constexpr bool right = wrong == mistake::none; // one mistake is one error
    static_assert(network_has_no_mistake<wrong>::checked);
    static constexpr bool uses_all = !requires { requires !Recipe::uses_all; };
    static_assert(
        parameter_is_used<
            name_text<right && uses_all ? stages::launch_sizes.unused_parameter : -1>()>::checked);
    static_assert(parameter_name_is_unique<name_text<right ? repeated : -1>()>::checked);
    static_assert(
        input_is_used<(right && predicts ? stages::launch_sizes.unused_input : -1)>::checked);
};

} // namespace detail
} // namespace castnet
