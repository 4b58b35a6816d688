// predictor<Model>: prediction with a model's parameters, in memory of its own.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/turn.hpp>
#include <castnet/policy/devices.hpp>
#include <castnet/train/feed.hpp>
#include <castnet/train/model_access.hpp>
#include <castnet/train/program.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace castnet {

namespace detail {

// Counts the calls that predict in this process at the same time, which share its threads.
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

template <class Given>
inline constexpr bool is_data_set = requires { Given::input_count; };

} // namespace detail

template <class Element, class... Given>
struct predict_takes { // a class, so that every compiler prints the types
    static_assert(
        (detail::is_data_set<Given> && ...) ||
            (std::convertible_to<Given const&, std::span<Element const>> && ...),
        "castnet: predict takes a data set or, for each input of the network, the numbers "
        "of its samples: a vector, array or span of the model's element type; see "
        "predict_takes<element type, what was given...>");
    static constexpr bool checked = true;
};
template <size_t Expected, size_t Given>
struct inputs_are_given {
    static_assert(Expected == Given,
                  "castnet: predict takes one data set, or the numbers of every input of the "
                  "network; see inputs_are_given<expected, given>");
    static constexpr bool checked = true;
};

// Predicts with a model's parameters in one thread at a time. Others may do so at the same time
// with predictors of their own or the model's predict(), which makes predictors as it needs them;
// one that a thread keeps allocates nothing after its first call, whatever other threads do. The
// model must outlive it.
template <class Model>
class predictor {
    using T = typename Model::value_type;
    using network = typename Model::network_type;
    using device = typename Model::device;
    using policy = typename Model::policy_type;

    template <size_t Output>
    using output = detail::nth_of<Output, typename Model::output_shapes>;

public:
    explicit predictor(Model const& m)
        : model_{m}, session_{policy{}, detail::device_of<policy>(m.chosen_devices(), 0)},
          executor_{session_, m.data(), key_of(m.seed_value()), Model::prediction_sizes} {}
    predictor(predictor const&) = delete;
    predictor& operator=(predictor const&) = delete;

    // As the model's predict().
    template <size_t Output = 0, class... Inputs>
    std::vector<T> predict(Inputs const&... inputs) {
        static_assert(predict_takes<T, Inputs...>::checked);
        if constexpr ((detail::is_data_set<Inputs> && ...)) {
            static_assert(inputs_are_given<1, sizeof...(Inputs)>::checked);
            return predict_all<Output>(inputs...);
        } else {
            static_assert(inputs_are_given<network::inputs::size, sizeof...(Inputs)>::checked);
            return predict_all<Output>(detail::samples_in_memory<T, typename network::inputs>{
                std::span<T const>{inputs}...});
        }
    }

    // As the model's predict_one().
    template <size_t Output = 0>
    void predict_one(T const* input, T* result) {
        static_assert(network::inputs::size == 1,
                      "castnet: predict_one is for networks with one input; "
                      "give the numbers of each input to predict()");
        using shape = detail::nth_of<0, typename network::inputs>;
        call const now{*this, "predict_one"};
        T* const batch = executor_.batch();
        detail::place_sample<device, shape>(batch + plan().inputs[0].offset, batch + plan().staging,
                                            [&](T* to) { std::copy_n(input, shape::count, to); });
        run<Output>(
            1, [&](T const* from) { detail::read_sample<device, output<Output>>(from, result); });
    }

private:
    // The length of a call: the parameters do not change, and nobody else uses this predictor.
    class call {
    public:
        call(predictor& of, char const* name) : of_{of}, access_{of.model_.access(), name} {
            of.model_.finish_changes();
            if (of.busy_.test_and_set(std::memory_order_acquire)) {
                throw error(
                    {"castnet: ", name,
                     ": this predictor is in use by another call; make one for each thread, "
                     "or use the model's own predict"});
            }
        }
        call(call const&) = delete;
        call& operator=(call const&) = delete;
        ~call() { of_.busy_.clear(std::memory_order_release); }

    private:
        predictor& of_;
        model_access::shared access_;
        detail::prediction_count beside_;
    };

    static constexpr auto const& plan() { return Model::prediction_plan; }

    template <size_t Output, class Data>
    std::vector<T> predict_all(Data const& data) {
        constexpr size_t numbers = output<Output>::count;
        detail::check_inputs<network, Data>();
        call const now{*this, "predict"};
        std::vector<T> all(data.size() * numbers);
        for (size_t first = 0; first < data.size(); first += Model::capacity) {
            size_t const count = std::min(Model::capacity, data.size() - first);
            T* const batch = executor_.batch();
            for (size_t row = 0; row < count; ++row) {
                detail::fill_inputs<device>(detail::places_in_batch(plan()), batch, data,
                                            first + row, row, typename network::inputs{});
            }
            run<Output>(count, [&](T const* from) {
                for (size_t row = 0; row < count; ++row) {
                    detail::read_sample<device, output<Output>>(
                        from + row * numbers, all.data() + (first + row) * numbers);
                }
            });
        }
        return all;
    }

    // Runs the plan over so many samples of the batch, and read(numbers) with an output of theirs.
    template <size_t Output, class Read>
    void run(size_t samples, Read const& read) {
        typename device::replica_scope const share{0, detail::prediction_count::now()};
        executor_.template run<Model::prediction_plan>(std::ptrdiff_t(samples), 0);
        session_.read(executor_.at(plan().outputs[Output]),
                      std::ptrdiff_t(samples * output<Output>::count), read);
    }

    Model const& model_;
    typename device::session session_;
    typename device::executor executor_;
    std::atomic_flag busy_;
};

namespace detail {

// Predictors of a model that no call uses, for those who have none of their own.
template <class Model>
class predictor_pool {
    struct node {
        explicit node(Model const& m) : value{m} {}
        predictor<Model> value;
        std::unique_ptr<node> next;
    };

public:
    // One of them, or a new one where none is left, as long as it lives.
    class lease {
    public:
        lease(predictor_pool& from, Model const& m) : from_{from}, mine_{from.take()} {
            if (!mine_) {
                mine_ = std::make_unique<node>(m);
            }
        }
        lease(lease const&) = delete;
        lease& operator=(lease const&) = delete;
        ~lease() {
            turn const one_at_a_time{from_.busy_};
            mine_->next = std::move(from_.idle_);
            from_.idle_ = std::move(mine_);
        }
        predictor<Model>* operator->() const { return &mine_->value; }

    private:
        predictor_pool& from_;
        std::unique_ptr<node> mine_;
    };

private:
    std::unique_ptr<node> take() {
        turn const one_at_a_time{busy_};
        std::unique_ptr<node> first = std::move(idle_);
        if (first) {
            idle_ = std::move(first->next);
        }
        return first;
    }

    std::atomic_flag busy_;
    std::unique_ptr<node> idle_;
};

} // namespace detail
} // namespace castnet
