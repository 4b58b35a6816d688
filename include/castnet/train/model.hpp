// model<Network, Policy, batch<N>>: the parameters of a network at the place where it runs.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/devices.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/initialize.hpp>
#include <castnet/train/program.hpp>
#include <castnet/train/transfer.hpp>

#include <algorithm>
#include <memory>
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
    static constexpr executor_sizes prediction_sizes{0, 0, prediction_plan.elements(region::batch),
                                                     prediction_plan.elements(region::workspace)};
    static constexpr size_t prediction_bytes = device::executor::bytes(prediction_sizes);
    // Floating-point operations of predicting one sample.
    static constexpr std::ptrdiff_t flops_per_sample = prediction_plan.flops();

    static_assert(fits_budget<parameter_bytes + prediction_bytes, Where::budget>::checked);

    // On the policy's device, or on those that are chosen: one for each replica that the policy has
    // in this process. Throws castnet::error if there is none like that.
    explicit model(seed s = {}, devices chosen = {})
        : seed_{s.value}, devices_{std::move(chosen)},
          session_{Where{}, detail::device_of<Where>(devices_, 0)}, parameters_{parameter_bytes} {
        for (std::uint32_t i = 0; i < parameter_count(); ++i) {
            placed_parameter const& p = parameter_at(i);
            detail::write_parameter<device>(session_, data(), p,
                                            detail::initial_values(p, seed_, i));
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
        return detail::read_parameter<device>(session_, data(), find(name));
    }

    // Throws castnet::error if there is none of this name or the count is wrong.
    void set(std::string_view name, std::span<value_type const> values) {
        placed_parameter const& p = find(name);
        if (values.size() != size_t(p.count())) {
            throw error({"castnet: model::set: parameter '", name, "' has ", p.count(),
                         " numbers, but ", values.size(), " were given"});
        }
        detail::write_parameter<device>(session_, data(), p, values);
        ++revision_;
    }

    // How often set() was called; what holds copies of the parameters knows by it that they are
    // old.
    std::uint64_t revision() const { return revision_; }

    // An output of the network (the first unless told) for every sample of the data, in logical
    // order, one after the other, with running statistics and without dropout. The data's target is
    // not looked at.
    template <size_t Output = 0, class Data>
    std::vector<value_type> predict(Data const& data) {
        using output = detail::nth_of<Output, output_shapes>;
        std::vector<value_type> all(data.size() * output::count);
        detail::check_inputs<Net, Data>();
        auto& e = prediction_executor();
        for (size_t first = 0; first < data.size(); first += capacity) {
            size_t const count = std::min(capacity, data.size() - first);
            value_type* const batch = e.batch();
            for (size_t row = 0; row < count; ++row) {
                detail::fill_inputs<device>(detail::places_in_batch(prediction_plan), batch, data,
                                            first + row, row, typename Net::inputs{});
            }
            e.template run<prediction_plan>(std::ptrdiff_t(count), 0);
            session_.read(e.at(prediction_plan.outputs[Output]),
                          std::ptrdiff_t(count * output::count), [&](value_type const* from) {
                              for (size_t row = 0; row < count; ++row) {
                                  detail::read_sample<device, output>(
                                      from + row * output::count,
                                      all.data() + (first + row) * output::count);
                              }
                          });
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
        auto& e = prediction_executor();
        value_type* const batch = e.batch();
        detail::place_sample<device, shape>(
            batch + prediction_plan.inputs[0].offset, batch + prediction_plan.staging,
            [&](value_type* out) { std::copy_n(input, shape::count, out); });
        e.template run<prediction_plan>(1, 0);
        session_.read(
            e.at(prediction_plan.outputs[0]), std::ptrdiff_t(Output::count),
            [&](value_type const* from) { detail::read_sample<device, Output>(from, output); });
    }

    // The region of all parameters, in the order of the device.
    value_type* data() const { return parameters_.template as<value_type>(); }

    // The device that they lie on, and those of all replicas in this process.
    typename device::session& session() { return session_; }
    devices const& chosen_devices() const { return devices_; }

private:
    [[gnu::cold]] static placed_parameter const& find(std::string_view name) {
        for (size_t i = 0; i < parameter_count(); ++i) {
            if (parameter_at(i).name.text() == name) {
                return parameter_at(i);
            }
        }
        throw error({"castnet: model: the network has no parameter '", name, "'; its first is '",
                     (parameter_count() > 0 ? parameter_at(0).name.text() : ""), "'"});
    }

    // Memory for prediction is allocated when it is first wanted: training has its own.
    typename device::executor& prediction_executor() {
        if (!executor_) {
            executor_ = std::make_unique<typename device::executor>(session_, data(), key_of(seed_),
                                                                    prediction_sizes);
        }
        return *executor_;
    }

    std::uint64_t seed_;
    std::uint64_t revision_ = 0;
    devices devices_;
    typename device::session session_;
    typename device::memory parameters_;
    std::unique_ptr<typename device::executor> executor_;
};

} // namespace castnet
