// model<Network, Policy, batch<N>>: the parameters of a network at the place where it runs.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/initialize.hpp>
#include <castnet/train/program.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace castnet {

// Of initial values, dropout and shuffling.
struct seed {
    std::uint64_t value = 0;
};

template <size_t NeededBytes, size_t Budget>
struct fits_budget { // a class, so that every compiler prints the numbers
    static_assert(
        NeededBytes <= Budget,
        "castnet: the model, or a training step of it, needs more memory than the policy's "
        "budget; see fits_budget<needed bytes, budget>");
    static constexpr bool checked = true;
};

template <Network Net, Policy Where, class Batch>
class model {
public:
    using network_type = Net;
    using policy_type = Where;
    using value_type = typename Where::value_type;
    using device = typename Where::device;
    static constexpr size_t capacity = Batch::capacity;

    using prediction = detail::program_of<detail::prediction_recipe, Net, device, capacity, false>;
    static constexpr auto const& prediction_plan = prediction::value;
    using output_shapes = detail::outputs_of<Net>;

    // Bytes of the parameters, with running statistics; what predict() needs besides.
    static constexpr size_t parameter_bytes =
        size_t(prediction_plan.elements(region::parameters)) * sizeof(value_type);
    static constexpr size_t prediction_bytes = size_t(prediction_plan.elements(region::batch) +
                                                      prediction_plan.elements(region::workspace)) *
                                               sizeof(value_type);
    // Floating-point operations of predicting one sample.
    static constexpr std::ptrdiff_t flops_per_sample = prediction_plan.flops();

    static_assert(fits_budget<parameter_bytes + prediction_bytes, Where::budget>::checked);

    explicit model(seed s = {}) : seed_{s.value}, parameters_{parameter_bytes} {
        for (std::uint32_t i = 0; i < parameter_count(); ++i) {
            placed_parameter const& p = parameter_at(i);
            std::vector<double> const w = detail::initial_values(p, seed_, i);
            for (size_t k = 0; k < w.size(); ++k) {
                at(p, k) = static_cast<value_type>(w[k]);
            }
        }
    }
    model(model const&) = delete;
    model& operator=(model const&) = delete;

    std::uint64_t seed_value() const { return seed_; }

    // Parameters and running statistics by number, in the order of the layers.
    static constexpr size_t parameter_count() { return size_t(prediction_plan.sizes.parameters); }
    static constexpr placed_parameter const& parameter_at(size_t i) {
        return prediction_plan.parameters[i];
    }

    // The values of a parameter in logical order: dense (units, features), convolution (filters,
    // channels, height, width). Throws castnet::error if there is none of this name.
    std::vector<value_type> get(std::string_view name) const {
        placed_parameter const& p = find(name);
        std::vector<value_type> w(size_t(p.count()));
        for (size_t k = 0; k < w.size(); ++k) {
            w[k] = at(p, k);
        }
        return w;
    }

    // Throws castnet::error if there is none of this name or the count is wrong.
    void set(std::string_view name, std::span<value_type const> values) {
        placed_parameter const& p = find(name);
        if (values.size() != size_t(p.count())) {
            throw error("castnet: model::set: parameter '" + std::string(name) + "' has " +
                        std::to_string(p.count()) + " numbers, but " +
                        std::to_string(values.size()) + " were given");
        }
        for (size_t k = 0; k < values.size(); ++k) {
            at(p, k) = values[k];
        }
        ++revision_;
    }

    // How often set() was called; what holds copies of the parameters knows by it that they are old.
    std::uint64_t revision() const { return revision_; }

    // An output of the network (the first unless told) for every sample of the data, in logical
    // order, one after the other, with running statistics and without dropout. The data's target is
    // not looked at.
    template <size_t Output = 0, class Data>
    std::vector<value_type> predict(Data const& data) {
        using output = detail::nth_of<Output, output_shapes>;
        std::vector<value_type> all(data.size() * output::count);
        detail::check_inputs<Net, Data>();
        prepare();
        for (size_t first = 0; first < data.size(); first += capacity) {
            size_t const count = std::min(capacity, data.size() - first);
            for (size_t row = 0; row < count; ++row) {
                detail::fill_inputs<device>(prediction_plan, context_.region[int(region::batch)],
                                            data, first + row, row, typename Net::inputs{});
            }
            run(count);
            for (size_t row = 0; row < count; ++row) {
                detail::read_sample<device, output>(context_.at(prediction_plan.outputs[Output]) +
                                                        row * output::count,
                                                    all.data() + (first + row) * output::count);
            }
        }
        return all;
    }

    // One sample of a network with one input, given by its elements in logical order; writes the
    // elements of the first output. For loops that cannot wait: allocates nothing after the first
    // call.
    template <class Output = detail::nth_of<0, output_shapes>>
    void predict_one(value_type const* input, value_type* output) {
        static_assert(Net::inputs::size == 1,
                      "castnet: predict_one is for networks with one input; "
                      "put the sample into a data set for predict()");
        using shape = detail::nth_of<0, typename Net::inputs>;
        prepare();
        value_type* const batch = context_.region[int(region::batch)];
        detail::place_sample<device, shape>(
            batch + prediction_plan.inputs[0].offset, batch + prediction_plan.staging,
            [&](value_type* out) { std::copy_n(input, shape::count, out); });
        run(1);
        detail::read_sample<device, Output>(context_.at(prediction_plan.outputs[0]), output);
    }

    // The region of all parameters, in the order of the device.
    value_type* data() const { return parameters_.template as<value_type>(); }

private:
    static placed_parameter const& find(std::string_view name) {
        for (size_t i = 0; i < parameter_count(); ++i) {
            if (parameter_at(i).name.text() == name) {
                return parameter_at(i);
            }
        }
        throw error("castnet: model: the network has no parameter '" + std::string(name) +
                    "'; its first is '" +
                    (parameter_count() > 0 ? parameter_at(0).name.text() : "") + "'");
    }

    value_type& at(placed_parameter const& p, size_t k) const {
        return data()[p.offset + device::place_in_parameter(std::ptrdiff_t(k), p)];
    }

    // Memory for prediction is allocated when it is first wanted: training has its own.
    void prepare() {
        if (workspace_.bytes() == 0) {
            workspace_ = typename device::memory(prediction_bytes);
            auto* const batch = workspace_.template as<value_type>();
            context_.region[int(region::parameters)] = data();
            context_.region[int(region::batch)] = batch;
            context_.region[int(region::workspace)] =
                batch + prediction_plan.elements(region::batch);
            context_.key = key_of(seed_);
        }
    }
    void run(size_t samples) {
        context_.samples = std::ptrdiff_t(samples);
        device::template run<prediction_plan>(context_);
    }

    std::uint64_t seed_;
    std::uint64_t revision_ = 0;
    typename device::memory parameters_;
    typename device::memory workspace_;
    typename device::context context_{};
};

} // namespace castnet
