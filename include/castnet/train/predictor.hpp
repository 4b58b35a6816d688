// predictor<Model>: prediction with a model's parameters, in memory of its own; and the predictors
// that a model keeps for calls of its own predict().
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/policy/devices.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/model_access.hpp>
#include <castnet/train/program.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet {

namespace detail {

// Counts the calls that predict at the same time in this process, and share its threads.
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

// Samples one after the other in memory, in logical order: a data set without a target. Throws
// castnet::error unless every input holds the same number of whole samples.
template <class T, class Inputs>
class samples_in_memory;
template <class T, Shape... S>
class samples_in_memory<T, type_list<S...>> {
public:
    template <size_t I>
    using input_shape = nth_of<I, type_list<S...>>;
    static constexpr size_t input_count = sizeof...(S);

    template <std::same_as<std::span<T const>>... Inputs>
    explicit samples_in_memory(Inputs... inputs) : inputs_{inputs...} {
        for (size_t i = 0; i < input_count; ++i) {
            if (inputs_[i].size() != size() * counts[i]) {
                refuse(i, inputs_[i].size(), size());
            }
        }
    }

    size_t size() const { return inputs_[0].size() / counts[0]; }

    template <size_t I>
    void copy_input(size_t sample, T* out) const {
        std::copy_n(inputs_[I].data() + sample * counts[I], counts[I], out);
    }

private:
    static constexpr size_t counts[] = {S::count...};

    [[noreturn, gnu::cold]] static void refuse(size_t input, size_t found, size_t samples) {
        if (found % counts[input] != 0) {
            throw error({"castnet: predict: input ", input, " holds ", found,
                         " numbers, but a sample has ", counts[input],
                         "; give a whole number of samples, one after the other"});
        }
        throw error({"castnet: predict: input 0 holds ", samples, " samples, but input ", input,
                     " holds ", found / counts[input]});
    }

    std::span<T const> inputs_[sizeof...(S)];
};

template <class... Given>
inline constexpr bool is_data_set = false;
template <class Given>
inline constexpr bool is_data_set<Given> = requires { Given::input_count; };
template <class Element, class... Given>
inline constexpr bool are_spans = sizeof...(Given) > 0 &&
                                  (std::convertible_to<Given const&, std::span<Element const>> &&
                                   ...);

} // namespace detail

// Classes, so that every compiler prints what they were given.
template <class Element, class... Given>
struct predict_takes {
    static_assert(
        detail::is_data_set<Given...> || detail::are_spans<Element, Given...>,
        "castnet: predict takes a data set or, for each input of the network, the numbers "
        "of its samples: a vector, array or span of the model's element type; see "
        "predict_takes<element type, what was given...>");
    static constexpr bool checked = true;
};
template <size_t Expected, size_t Given>
struct inputs_are_given {
    static_assert(Expected == Given,
                  "castnet: predict takes the numbers of every input of the network, one argument "
                  "for each; see inputs_are_given<expected, given>");
    static constexpr bool checked = true;
};

namespace detail {

// Memory of a prediction and what is done in it, for one call at a time.
template <class Model>
class prediction_executor {
    using T = typename Model::value_type;
    using network = typename Model::network_type;
    using device = typename Model::device;
    using policy = typename Model::policy_type;

    template <size_t Output>
    using output = nth_of<Output, typename Model::output_shapes>;

public:
    explicit prediction_executor(Model const& m)
        : model_{m}, session_{policy{}, device_of<policy>(m.chosen_devices(), 0)},
          executor_{session_, m.data(), key_of(m.seed_value()), Model::prediction_sizes} {}
    prediction_executor(prediction_executor const&) = delete;
    prediction_executor& operator=(prediction_executor const&) = delete;

    // Takes it for a call, if no other one has it.
    bool take() { return !is_taken_.test_and_set(std::memory_order_acquire); }
    void give_back() { is_taken_.clear(std::memory_order_release); }

    template <size_t Output, class... Inputs>
    std::vector<T> predict(Inputs const&... inputs) {
        static_assert(predict_takes<T, Inputs...>::checked);
        if constexpr (is_data_set<Inputs...>) {
            return predict_all<Output>(inputs...);
        } else if constexpr (are_spans<T, Inputs...>) {
            constexpr size_t expected = network::inputs::size;
            static_assert(inputs_are_given<expected, sizeof...(Inputs)>::checked);
            if constexpr (sizeof...(Inputs) == expected) {
                return predict_all<Output>(
                    samples_in_memory<T, typename network::inputs>{std::span<T const>{inputs}...});
            }
        }
        return {}; // of what was refused
    }

    template <size_t Output>
    void predict_one(T const* input, T* result) {
        static_assert(network::inputs::size == 1,
                      "castnet: predict_one is for networks with one input; "
                      "give the numbers of each input to predict()");
        using shape = nth_of<0, typename network::inputs>;
        call const now{model_, "predict_one"};
        T* const batch = executor_.batch();
        place_sample<device, shape>(batch + plan().inputs[0].offset, batch + plan().staging,
                                    [&](T* to) { std::copy_n(input, shape::count, to); });
        run<Output>(1, [&](T const* from) { read_sample<device, output<Output>>(from, result); });
    }

private:
    static constexpr auto const& plan() { return Model::prediction_plan; }
    // Whether any loop of it may be worth several threads.
    static constexpr bool may_use_threads =
        Model::flops_per_sample * std::ptrdiff_t(Model::capacity) > 100'000;

    // While it lives, nobody changes the parameters.
    struct call {
        call(Model const& m, char const* name) : access{m.access(), name} { m.finish_changes(); }

        struct nothing {};
        model_access::shared access;
        [[no_unique_address]] std::conditional_t<may_use_threads, prediction_count, nothing> beside;
    };

    template <size_t Output, class Data>
    std::vector<T> predict_all(Data const& data) {
        constexpr size_t numbers = output<Output>::count;
        check_inputs<network, Data>();
        call const now{model_, "predict"};
        std::vector<T> all(data.size() * numbers);
        for (size_t first = 0; first < data.size(); first += Model::capacity) {
            size_t const count = std::min(Model::capacity, data.size() - first);
            T* const batch = executor_.batch();
            for (size_t row = 0; row < count; ++row) {
                fill_inputs<device>(places_in_batch(plan()), batch, data, first + row, row,
                                    typename network::inputs{});
            }
            run<Output>(count, [&](T const* from) {
                for (size_t row = 0; row < count; ++row) {
                    read_sample<device, output<Output>>(from + row * numbers,
                                                        all.data() + (first + row) * numbers);
                }
            });
        }
        return all;
    }

    // Runs the plan over so many samples of the batch, and read(numbers) with an output of theirs.
    template <size_t Output, class Read>
    void run(size_t samples, Read const& read) {
        typename device::replica_scope const share{0, prediction_count::now()};
        executor_.template run<Model::prediction_plan>(std::ptrdiff_t(samples), 0);
        session_.read(executor_.at(plan().outputs[Output]),
                      std::ptrdiff_t(samples * output<Output>::count), read);
    }

    Model const& model_;
    typename device::session session_;
    typename device::executor executor_;
    std::atomic_flag is_taken_;
};

// Those of a model, which live as long as it does: as many as calls have ever predicted at once.
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

    // One that is taken for the caller.
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

// One that is taken, as long as this lives.
template <class Model>
class taken_executor {
public:
    explicit taken_executor(prediction_executor<Model>& taken) : taken_{taken} {}
    taken_executor(taken_executor const&) = delete;
    taken_executor& operator=(taken_executor const&) = delete;
    ~taken_executor() { taken_.give_back(); }
    prediction_executor<Model>* operator->() const { return &taken_; }

private:
    prediction_executor<Model>& taken_;
};

} // namespace detail

// Predicts with a model's parameters in memory of its own, which it allocates when it is made and
// with the first call: later ones allocate nothing, whatever other threads do. One call at a time
// may use it; others predict at the same time with predictors of their own, or with the model's
// predict(), which makes such memory as it needs it. The model must outlive it.
template <class Model>
class predictor {
    using T = typename Model::value_type;

public:
    explicit predictor(Model const& m) : executor_{m} {}

    // As those of the model; both also throw castnet::error if another call uses this predictor.
    template <size_t Output = 0, class... Inputs>
    std::vector<T> predict(Inputs const&... inputs) {
        return take("predict")->template predict<Output>(inputs...);
    }
    template <size_t Output = 0>
    void predict_one(T const* input, T* output) {
        take("predict_one")->template predict_one<Output>(input, output);
    }

private:
    detail::taken_executor<Model> take(char const* call) {
        if (!executor_.take()) {
            throw error({"castnet: ", call,
                         ": another call uses this predictor; make one for each "
                         "thread, or predict with the model"});
        }
        return detail::taken_executor<Model>{executor_};
    }

    detail::prediction_executor<Model> executor_;
};

} // namespace castnet
