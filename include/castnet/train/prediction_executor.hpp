// Executors for prediction with a model, one for each concurrent call.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/room_for.hpp>
#include <castnet/policy/devices.hpp>
#include <castnet/train/collate.hpp>
#include <castnet/train/data_contract.hpp>
#include <castnet/train/model_access.hpp>
#include <castnet/train/one_sample.hpp>
#include <castnet/train/samples_in_memory.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::detail {

// Counts this process's concurrent predictions, which share its threads.
class prediction_count {
public:
    prediction_count() { all.fetch_add(1, std::memory_order_relaxed); }
    ~prediction_count() { all.fetch_sub(1, std::memory_order_relaxed); }
    prediction_count(prediction_count const&) = delete;
    prediction_count& operator=(prediction_count const&) = delete;

    static int now() { return all.load(std::memory_order_relaxed); }

private:
    inline static std::atomic<int> all{0};
};

// The outputs that a call lists; the first where it lists none.
template <size_t... Outputs>
inline constexpr std::index_sequence<Outputs...> listed_outputs{};
template <>
inline constexpr std::index_sequence<0> listed_outputs<>{};

// Whether a prediction of this many samples has a loop large enough for several threads.
template <class Model>
constexpr bool may_use_threads(size_t samples) {
    return Model::flops_per_sample * std::ptrdiff_t(samples) > 100'000;
}

// Memory and execution of a prediction, for one call at a time.
template <class Model>
class prediction_executor {
    using T = typename Model::value_type;
    using network = typename Model::network_type;
    using device = typename Model::device;
    using policy = typename Model::policy_type;

    template <size_t Output>
    using output = predicted_output<Output, typename Model::output_shapes>;
    template <size_t I>
    using input = nth_of<I, typename network::inputs>;
    template <class Input>
    using input_number = std::conditional_t<is_ids<Input>, std::int32_t, T>;

public:
    explicit prediction_executor(Model const& m)
        : model_{m}, session_{policy{}, device_of<policy>(m.chosen_devices(), 0)},
          executor_{session_, m.data(), key_of(m.seed_value()), Model::prediction_sizes} {}
    prediction_executor(prediction_executor const&) = delete;
    prediction_executor& operator=(prediction_executor const&) = delete;

    // Acquires it for a call; false if another one holds it.
    bool take() { return !is_taken_.test_and_set(std::memory_order_acquire); }
    void give_back() { is_taken_.clear(std::memory_order_release); }

    // As the model's functions, whose outputs are listed here.
    template <size_t... Outputs, class... Inputs>
    auto predict(std::index_sequence<Outputs...>, Inputs const&... inputs) {
        std::array<std::vector<T>, sizeof...(Outputs)> all;
        with_samples(
            [&](auto const& data) {
                std::array<T*, sizeof...(Outputs)> to;
                size_t n = 0;
                ((all[n] =
                      room_for<T>(data.size(), output<Outputs>::count, "predict",
                                  "predict some of them at a time, such as data::take(data, 1000)"),
                  to[n] = all[n].data(), ++n),
                 ...);
                predict_all<Outputs...>(data, to);
            },
            inputs...);
        if constexpr (sizeof...(Outputs) == 1) {
            return std::move(all[0]);
        } else {
            return all;
        }
    }

    // The same into memory that has room for each.
    template <size_t... Outputs, class... Inputs>
    void predict_to(std::index_sequence<Outputs...>, std::array<T*, sizeof...(Outputs)> const& to,
                    Inputs const&... inputs) {
        with_samples([&](auto const& data) { predict_all<Outputs...>(data, to); }, inputs...);
    }

    template <size_t... Outputs, class... Given>
    auto predict_one(std::index_sequence<Outputs...> outputs, Given&... given) {
        constexpr size_t inputs = network::inputs::size;
        constexpr size_t expected = inputs + sizeof...(Outputs);
        static_assert(arguments_of_predict_one<expected, sizeof...(Given)>::checked);
        if constexpr (sizeof...(Given) == expected) {
            predict_one(outputs, std::make_index_sequence<inputs>{},
                        std::make_index_sequence<sizeof...(Outputs)>{}, std::tie(given...));
        } else {
            return std::vector<T>{}; // which whoever gives the inputs alone expects
        }
    }

private:
    static constexpr auto const& plan() { return Model::prediction_plan; }

    // Calls f with the samples as a data set.
    template <class F, class... Inputs>
    static void with_samples(F const& f, Inputs const&... inputs) {
        if constexpr (is_data_set<Inputs...>) {
            f(inputs...);
        } else if constexpr (are_inputs<T, typename network::inputs, Inputs...>) {
            constexpr size_t expected = network::inputs::size;
            static_assert(inputs_are_given<expected, sizeof...(Inputs)>::checked);
            if constexpr (sizeof...(Inputs) == expected) {
                f(samples_in_memory<typename network::inputs, number_of_span<Inputs>...>{
                    std::span<number_of_span<Inputs> const>{inputs}...});
            }
        } else {
            static_assert(predict_takes<T, Inputs...>::checked);
        }
    }

    template <size_t... Outputs, class Data>
    void predict_all(Data const& data, std::array<T*, sizeof...(Outputs)> const& to) {
        check_inputs<network, Data>();
        model_.finish_changes();
        for (size_t first = 0; first < data.size(); first += Model::capacity) {
            size_t const count = std::min(Model::capacity, data.size() - first);
            T* const batch = executor_.batch();
            for (size_t row = 0; row < count; ++row) {
                data::reading_sample(first + row, [&] {
                    collate_inputs(batch_layout_of(plan()), batch, data, first + row, row,
                                   typename network::inputs{});
                });
            }
            run(count, first / Model::capacity);
            size_t n = 0;
            (read<Outputs>(count, to[n++] + first * output<Outputs>::count), ...);
        }
    }

    template <size_t... Outputs, size_t... I, size_t... Place, class Given>
    void predict_one(std::index_sequence<Outputs...>, std::index_sequence<I...>,
                     std::index_sequence<Place...>, Given const& given) {
        std::tuple const from{numbers_of_one<input_number<input<I>> const, input<I>::count>(
            std::get<I>(given), "input", I, sizeof...(I))...};
        std::array<T*, sizeof...(Outputs)> const to{numbers_of_one<T, output<Outputs>::count>(
            std::get<sizeof...(I) + Place>(given), "output", Outputs, sizeof...(Outputs))...};
        model_.finish_changes();
        (place<I>(std::get<I>(from)), ...);
        run(1, 0);
        (read<Outputs>(1, to[Place]), ...);
    }

    // Writes an input of a single sample.
    template <size_t I, class Number>
    void place(Number const* from) {
        T* const batch = executor_.batch();
        place_sample<input<I>>(batch + plan().inputs[I].offset, batch + plan().staging, [&](T* to) {
            std::transform(from, from + input<I>::count, to, [](Number x) { return T(x); });
            check_ids<input<I>, I>(to, 0);
        });
    }

    // Runs the plan over samples of a batch, whose number decides about dropout that is always
    // active.
    void run(size_t samples, std::uint64_t batch) {
        bool const shares = may_use_threads<Model>(samples);
        typename device::replica_scope const share{0, shares ? prediction_count::now() : 1};
        if constexpr (plan().elements(ir::region::prepared) > 0) {
            model_.prepared().bring_to(executor_, model_.access());
        }
        executor_.template run<Model::prediction_plan>(std::ptrdiff_t(samples), batch);
    }

    // Reads an output of samples into logical order.
    template <size_t Output>
    void read(size_t samples, T* to) {
        constexpr size_t numbers = output<Output>::count;
        session_.read(executor_.at(plan().outputs[Output]), std::ptrdiff_t(samples * numbers),
                      [&](T const* from) {
                          for (size_t row = 0; row < samples; ++row) {
                              read_sample<output<Output>>(from + row * numbers, to + row * numbers);
                          }
                      });
    }

    Model const& model_;
    typename device::session session_;
    typename device::executor executor_;
    std::atomic_flag is_taken_;
};

// Pool of a model's executors, as many as its largest number of concurrent predictions; they live
// as long as the model.
template <class Model>
class prediction_executors {
    struct node {
        explicit node(Model const& m) : value{m} {}
        prediction_executor<Model> value;
        node* next = nullptr;
    };

public:
    prediction_executors() = default;
    prediction_executors(prediction_executors const&) = delete;
    prediction_executors& operator=(prediction_executors const&) = delete;
    ~prediction_executors() {
        for (node* n = first_.load(); n != nullptr;) {
            delete std::exchange(n, n->next);
        }
    }

    // Acquires an executor.
    prediction_executor<Model>& take(Model const& m) {
        for (node* n = first_.load(std::memory_order_acquire); n != nullptr; n = n->next) {
            if (n->value.take()) {
                return n->value;
            }
        }
        node* const made = new node{m};
        made->value.take();
        made->next = first_.load(std::memory_order_relaxed);
        while (!first_.compare_exchange_weak(made->next, made, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
        return made->value;
    }

private:
    std::atomic<node*> first_{nullptr};
};

// A prediction call: while it lives, the model's parameters cannot change, and no other call uses
// its executor.
template <class Model>
class prediction_call {
    struct nothing {};

public:
    // Acquires one of the model's executors.
    prediction_call(Model const& m, char const* name, prediction_executors<Model>& of)
        : access_{m.access(), name}, executor_{of.take(m)} {}
    // Acquires this executor; throws castnet::error if another call holds it.
    prediction_call(Model const& m, char const* name, prediction_executor<Model>& one)
        : access_{m.access(), name}, executor_{one} {
        if (!one.take()) {
            throw error({"castnet: ", name,
                         ": another call uses this predictor; make one for each thread, or predict "
                         "with the model"});
        }
    }
    prediction_call(prediction_call const&) = delete;
    prediction_call& operator=(prediction_call const&) = delete;
    ~prediction_call() { executor_.give_back(); }

    prediction_executor<Model>* operator->() const { return &executor_; }

private:
    model_access::shared access_;
    [[no_unique_address]] std::conditional_t<may_use_threads<Model>(Model::capacity),
                                             prediction_count, nothing> beside_;
    prediction_executor<Model>& executor_;
};

} // namespace castnet::detail
