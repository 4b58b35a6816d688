// model<Network, Policy, batch<N>>: a network's parameters in the memory of its device.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/name_argument.hpp>
#include <castnet/core/spin_lock.hpp>
#include <castnet/data/description.hpp>
#include <castnet/policy/cpu.hpp>
#include <castnet/policy/devices.hpp>
#include <castnet/train/collate.hpp>
#include <castnet/train/compile_arguments.hpp>
#include <castnet/train/compiled_step.hpp>
#include <castnet/train/initialize.hpp>
#include <castnet/train/model_access.hpp>
#include <castnet/train/model_arguments.hpp>
#include <castnet/train/parameter_copies.hpp>
#include <castnet/train/parameter_io.hpp>
#include <castnet/train/prediction_executor.hpp>
#include <castnet/train/predictor.hpp>
#include <castnet/train/prepared_parameters.hpp>
#include <castnet/train/tensor_samples.hpp>
#include <castnet/train/typed_parameter.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace castnet {

// Seed of initial values, dropout and shuffling.
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

template <Network Net, Policy Where, Batch Samples>
class model<Net, Where, Samples> {
public:
    using network_type = Net;
    using policy_type = Where;
    using value_type = typename Where::value_type;
    // Of the numbers that a network with one input takes: std::int32_t for ids.
    using input_type = typename detail::only_number<value_type, typename Net::inputs>::type;
    using device = typename Where::device;
    static constexpr size_t capacity = Samples::capacity;

    using prediction =
        detail::compiled_step<detail::prediction_recipe, Net, device, capacity, false>;
    static constexpr auto const& prediction_plan = prediction::value;
    using output_shapes = detail::outputs_of<Net>;

    // Bytes of the parameters with running statistics; of the memory that each concurrent call of
    // predict() needs besides; and of what all calls share: weights as kernels read them, with
    // batch normalisation folded into them, computed again when parameters have changed.
    static constexpr size_t parameter_bytes =
        size_t(prediction_plan.elements(ir::region::parameters)) * sizeof(value_type);
    static constexpr auto prediction_sizes =
        ir::sizes_on<device>({0, 0, prediction_plan.elements(ir::region::batch),
                              prediction_plan.elements(ir::region::workspace)},
                             prediction_plan);
    static constexpr size_t prediction_bytes = device::executor::bytes(prediction_sizes);
    static constexpr size_t prepared_bytes =
        size_t(prediction_plan.elements(ir::region::prepared)) * sizeof(value_type);
    // Floating-point operations of predicting one sample.
    static constexpr std::ptrdiff_t flops_per_sample = prediction_plan.flops();

    static_assert(
        fits_budget<parameter_bytes + prediction_bytes + prepared_bytes, Where::budget>::checked);

    // On the policy's device, or on the chosen ones: one for each replica that the policy has in
    // this process. Throws castnet::error if there is no such device.
    explicit model(seed s = {}, devices chosen = {})
        : seed_{s.value}, devices_{std::move(chosen)},
          session_{Where{}, detail::device_of<Where>(devices_, 0)},
          parameters_{memory_for_parameters()} {
        std::vector<double> weight; // the last one
        for (std::uint32_t i = 0; i != parameter_tensors(); ++i) {
            ir::placed_parameter const& p = parameter_at(i);
            auto values = detail::initial_values(p, seed_, i, weight);
            detail::write_parameter<device>(session_, data(), p, values);
            if (is_weight(p.kind)) {
                weight = std::move(values);
            }
        }
    }
    // Only for its message.
    template <std::integral Number>
    explicit model(Number, devices const& = {}) : model{} {
        static_assert(detail::never<Number>,
                      "castnet: the seed of a model is no plain number: model{cn::seed{42}}");
    }
    // A model neither copies nor moves, since trainings refer to it. (Compilers show these lines.)
    model(model const&) = delete; // castnet: pass a model as model&; a std::deque holds any number
    model& operator=(model const&) = delete; // castnet: copy_parameters(from, to) copies values

    std::uint64_t seed_value() const { return seed_; }

    // Parameters and running statistics by number, in the order of the layers. (The numbers in the
    // parameters are network_type::parameter_count.)
    static constexpr size_t parameter_tensors() { return size_t(prediction_plan.sizes.parameters); }
    static constexpr ir::placed_parameter const& parameter_at(size_t i) {
        return prediction_plan.parameters[i];
    }

    // The values of a parameter in logical order: dense (units, features), convolution (filters,
    // channels, height, width). Throws castnet::error if there is none of this name, or if another
    // thread trains or sets the parameters.
    std::vector<value_type> get(name_argument name) const {
        model_access::shared const access{access_, "get"};
        return detail::read_parameter<device>(session_, data(), find(name));
    }

    // The same of a name that the compiler knows, as a tensor: model.get<"0.weight">().
    template <fixed_string Name>
    auto get() const {
        using S = decltype(detail::parameter_shape<model, Name>());
        return tensor<value_type, S>(get(Name.view()));
    }

    // Throws castnet::error if there is none of this name, if the count is wrong, or if another
    // thread uses the parameters.
    void set(name_argument name, std::span<value_type const> values) { set(find(name), values); }
    void set(name_argument name, std::initializer_list<value_type> values) {
        set(find(name), std::span{values.begin(), values.size()});
    }

    // The same of one of parameter_at(); allocates nothing in the host's memory, so that load()
    // never stops between two of them.
    void set(ir::placed_parameter const& p, std::span<value_type const> values) {
        if (values.size() != size_t(p.count())) {
            throw error({"castnet: model::set: found ", quantity(values.size(), "number"),
                         ", expected ", p.count(), " for parameter '", p.name.text(), "'"});
        }
        model_access::exclusive const access{access_, "set"};
        detail::write_parameter<device>(session_, data(), p, values);
        ++revision_;
    }

    // The same of a name that the compiler knows, with a tensor of the parameter's shape.
    template <fixed_string Name, TensorExpression X>
    void set(X const& x) {
        using S = decltype(detail::parameter_shape<model, Name>());
        static_assert(parameter_has_shape<S, typename X::shape_type>::checked);
        if constexpr (std::is_same_v<S, typename X::shape_type>) {
            set(Name.view(), tensor<value_type, S>(x));
        }
    }

    // Names of classes and statistics of channels, for programs that only predict: save() writes
    // them with the parameters, and load() gives them back. Throws castnet::error unless names are
    // UTF-8 and statistics finite, with as many means as deviations.
    void describe(data::description d) {
        data::detail::check_description(d);
        model_access::exclusive const access{access_, "describe"};
        description_ = std::move(d);
    }
    data::description const& description() const { return description_; }

    // get() and set() in the device's order of elements, for copies between models that share it.
    // Their caller holds access.
    std::vector<value_type> stored(name_argument name) const {
        ir::placed_parameter const& p = find(name);
        std::vector<value_type> numbers;
        session_.read(data() + p.offset, p.count(),
                      [&](value_type const* x) { numbers.assign(x, x + p.count()); });
        return numbers;
    }
    void store(ir::placed_parameter const& p, std::vector<value_type> const& numbers) {
        session_.write(data() + p.offset, p.count(),
                       [&](value_type* x) { std::copy(numbers.begin(), numbers.end(), x); });
        ++revision_;
    }

    // The number of calls of set(), by which holders of copies notice that theirs are outdated.
    std::uint64_t revision() const { return revision_; }

    // An output of the network (the first unless told) for every sample, in logical order, one
    // after the other, with running statistics and without dropout. Samples are given as a data
    // set, whose target is not looked at, or as numbers in logical order, sample after sample, with
    // a vector, array or span of the element type for each input: predict(photos, facts); of any
    // type of whole numbers for input_ids and input_length. The result is a vector; or a tensor,
    // where the inputs are tensors: of the output's shape for one sample, and for tensors with an
    // axis of samples before the others with that axis, too. Of several outputs it is an array of
    // such vectors, or a tuple of such tensors: auto [kinds, boxes] = model.predict<0, 1>(photos),
    // or by the names that the network gives its outputs, predict<"kind", "box">.
    //
    // Any number of threads may predict at the same time; each uses prediction_bytes. Throws
    // castnet::error if another one trains or sets the parameters, if numbers are no whole samples,
    // or for an id that the input does not allow.
    template <size_t... Outputs, class... Inputs>
    auto predict(Inputs const&... inputs) const {
        detail::prediction_call const now{*this, "predict", executors_};
        return now->predict(detail::listed_outputs<Outputs...>, inputs...);
    }
    template <size_t... Outputs, TensorExpression... Inputs>
        requires(sizeof...(Inputs) > 0)
    auto predict(Inputs const&... inputs) const {
        detail::prediction_call const now{*this, "predict", executors_};
        return detail::predict_tensors<model>(now, detail::listed_outputs<Outputs...>, inputs...);
    }
    template <fixed_string... Names, class... Inputs>
        requires(sizeof...(Names) > 0)
    auto predict(Inputs const&... inputs) const {
        return predict<detail::output_named<Net, Names>()...>(inputs...);
    }
    // The numbers of a network's only input in braces: predict({0.9F, 0.1F}).
    template <size_t... Outputs>
    auto predict(std::initializer_list<input_type> numbers) const {
        return predict<Outputs...>(std::span{numbers.begin(), numbers.size()});
    }

    // One sample: the elements of each input in logical order, and where to write those of an
    // output (the first unless told) or of several: predict_one<0, 1>(photo, kind, box). All are
    // vectors, arrays or spans of just as many elements, or pointers; of std::int32_t for
    // input_ids. For real-time loops: allocates nothing after the first call or, with several
    // predicting threads, after as many have predicted at the same time (a predictor of one's own
    // is independent of others). Throws castnet::error as predict() does.
    template <size_t... Outputs, class... Numbers>
    auto predict_one(Numbers&&... numbers) const {
        detail::prediction_call const now{*this, "predict_one", executors_};
        return now->predict_one(detail::listed_outputs<Outputs...>, numbers...);
    }
    template <fixed_string... Names, class... Numbers>
        requires(sizeof...(Names) > 0)
    auto predict_one(Numbers&&... numbers) const {
        return predict_one<detail::output_named<Net, Names>()...>(numbers...);
    }

    // Only for their messages.
    template <class Data>
    history fit(Data const&, fit_options<no_training> const& = {}) {
        void(model_has_parameters_only<Data>{});
        return history{{}};
    }
    template <class... Data>
    no_training::scores_type evaluate(Data const&...) const {
        void(model_has_parameters_only<Data...>{});
        return {};
    }
    static constexpr detail::called_otherwise<functions_of_models> compile{}, summary{}, save{},
        load{}, save_weights{}, load_weights{};
    static constexpr detail::called_otherwise<parameters_have_names> parameters{},
        named_parameters{}, state_dict{}, load_state_dict{}, get_weights{}, set_weights{};
    static constexpr detail::called_otherwise<models_have_no_mode> train{}, eval{}, freeze{},
        unfreeze{};
    static constexpr detail::called_otherwise<policy_places_models> to{}, cuda{};
    template <class... Inputs>
    std::vector<value_type> operator()(Inputs const&...) const {
        static_assert(detail::never<Inputs...>,
                      "castnet: a model is no function of its inputs: model.predict(x)");
        return {};
    }

    // The region of all parameters, in the order of the device.
    auto data() const { return parameters_.template as<value_type>(); }

    // The device that they lie on, and those of all replicas in this process.
    typename device::session& session() { return session_; }
    devices const& chosen_devices() const { return devices_; }

    // Guard of the parameters. Code that changes them, or reads them through data(), holds access
    // meanwhile.
    model_access& access() const { return access_; }

    // Values of the parameters that predictions keep.
    auto& prepared() const { return prepared_; }

    // Waits for the device: a training's last step may be in flight.
    void finish_changes() const {
        if constexpr (requires { session_.wait(); }) {
            spin_lock const lock{waits_};
            session_.wait();
        }
    }

    // The parameters of replica `number` of this process, from 1 on; shared by all trainings of the
    // model, as are the model's own.
    auto& copy_for(int number) { return copies_.of(number, devices_, parameter_bytes); }

private:
    // Of devices with memories of their own, each one's part lies there.
    typename device::memory memory_for_parameters() const {
        if constexpr (ir::SeparateDevices<device>) {
            return {session_, prediction_plan.devices};
        } else {
            return typename device::memory(parameter_bytes);
        }
    }

    [[gnu::noinline]] static ir::placed_parameter const& find(std::string_view name) {
        std::string known;
        for (size_t i = 0; i < parameter_tensors(); ++i) {
            std::string const found = parameter_at(i).name.text();
            if (found == name) {
                return parameter_at(i);
            }
            append(known, {i == 0 ? "" : ", ", found});
        }
        throw error({"castnet: model: the network has no parameter '", name, "'; there are ",
                     (known.empty() ? "none" : known)});
    }

    std::uint64_t seed_;
    std::uint64_t revision_ = 0;
    data::description description_;
    devices devices_;
    typename device::session session_;
    typename device::memory parameters_;
    mutable model_access access_;
    mutable std::atomic_flag waits_;
    mutable detail::prepared_parameters<model> prepared_;
    mutable detail::prediction_executors<model> executors_; // made on first use
    parameter_copies<Where> copies_{detail::replicas_here<Where>(devices_)};
};

} // namespace castnet
