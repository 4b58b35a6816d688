// stateful_predictor<Model>: prediction of sequences step by step, with a state of its own.
#pragma once

#include <castnet/train/data_contract.hpp>
#include <castnet/train/model.hpp>
#include <castnet/train/prefill.hpp>
#include <castnet/train/sequence_recipes.hpp>
#include <castnet/train/step_input.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace castnet {

template <class Model>
    requires(predicts_with_model<Model>::checked)
class stateful_predictor;
// None, as a predictor is none.
template <class Model>
struct predicts_with_model<stateful_predictor<Model>> {
    static constexpr bool checked = false;
};

// Predicts sequences one step at a time, as they come in, where the model's network has recurrent
// layers, scans, causal convolutions or causal attention: the state after a step is kept for the
// next one (Keras' stateful=True), of convolutions the steps that the next one reads, of attention
// all keys and values so far. After all steps of a sequence the outputs are those of the model's
// predict(), up to rounding: of return_sequences() those of each step in turn, of a last state that
// after the steps so far. A sequence may have any number of steps, or most_steps where the network
// has causal attention, positions or lengths.
//
//     cn::stateful_predictor voice{model};
//     std::span<float const, 1> const y = voice.predict(x); // of one step, whose numbers x has
//     voice.reset();                                        // a sequence begins with the next one
//
// A step of an input (time, features) has `features` numbers, one of (time) a single one; inputs
// without a time axis are given whole, with each step, and so is another sequence to whose steps
// attention goes, such as that of an encoder (of another length, or as a vector that the network
// reshapes). Within the network, what treats steps one by one works as it does on sequences: dense
// layers, embeddings, element-wise functions, layer_norm, dropout, positions, concat, slices of
// features, and of features that are a tensor of several axes, (time, heads, features) in row-major
// order (reshape_to<row_major_shape<time, 3, 4>>, since reshape<time, 3, 4> is one image whose
// channels are the steps), also reductions, copies and permutations of these axes and products of
// two such tensors. What needs other steps is an error at compile time.
//
// The constructor allocates all memory; a predictor moves, but does not copy (copy_state() does so
// with its state alone), and the calls of one that was moved away throw castnet::error until
// another one is assigned to it. On a CPU, predict() and reset() allocate nothing, wait for nothing
// and use the calling thread alone. Any number of them may use one model, each with a state of its
// own and in a thread of its own. The model must outlive it, and its parameters cannot change while
// it lives: what trains, evaluates, sets or loads throws castnet::error.
template <class Model>
    requires(predicts_with_model<Model>::checked)
class stateful_predictor {
    using T = typename Model::value_type;
    using network = typename Model::network_type;
    using policy = typename Model::policy_type;
    using device = typename Model::device;
    static constexpr auto const& plan =
        detail::compiled_step<detail::one_step_recipe, network, device, 1, false>::value;
    static constexpr size_t network_inputs = network::inputs::size;
    static constexpr size_t network_outputs = size_t(Model::prediction_plan.sizes.outputs);
    static constexpr size_t results = size_t(plan.sizes.outputs); // with the carries
    static constexpr size_t carries = results - network_outputs;
    static constexpr auto sizes = ir::sizes_on<device>(
        {0, 0, plan.elements(ir::region::batch), plan.elements(ir::region::workspace)}, plan);

    static constexpr size_t count(ir::array_ref const& r) { return size_t(r.size.count()); }
    template <size_t Input>
    using step_input = detail::step_input<T, detail::nth_of<Input, typename network::inputs>,
                                          count(plan.inputs[Input])>;
    template <size_t Input>
    using number = typename step_input<Input>::number;

public:
    // Numbers of a step of an input and of an output.
    template <size_t Input = 0>
    static constexpr size_t input_size = count(plan.inputs[Input]);
    template <size_t Output = 0>
    static constexpr size_t output_size = count(plan.outputs[Output]);

    // The most steps of a sequence: the network's where it has causal attention, positions or
    // lengths; 0: any number.
    static constexpr size_t most_steps = detail::most_steps<network>();

    // Throws castnet::error if another thread trains or sets the parameters.
    explicit stateful_predictor(Model const& m) : all_{std::make_unique<parts>(m)} {
        m.finish_changes();
        reset();
    }

    // Takes one step of each input and returns the first output, which is there until the next
    // call. A step is a vector, array or span; one of a single number may be given as a number.
    // Throws castnet::error for a vector of another size, for an id that the input does not allow,
    // and after the last of most_steps.
    template <class... Steps>
    std::span<T const, output_size<0>> predict(Steps const&... steps) {
        if constexpr (takes<Steps...>(std::make_index_sequence<sizeof...(Steps)>{})) {
            T* const batch = here().executor.batch();
            write_steps(batch, std::make_index_sequence<network_inputs>{}, steps...);
            count_step(); // last, so that one that is refused does not count
            run(batch);
        } else {
            static_assert(step_inputs_fit<Steps...>::checked);
        }
        return output<0>();
    }

    // Takes the first steps of a sequence at once, such as a prompt, and returns the first output
    // after the last of them. `sequences` has for each input its steps one after the other, or a
    // single one if it has no time axis. It is as if each step was predicted in turn after reset(),
    // up to rounding: the state comes from products of matrices by matrices instead, over as many
    // steps as the network's sequences have, unless that would take longer. Costs memory for these,
    // allocated by the first call, and one more plan. Throws castnet::error for numbers that are no
    // whole steps, for none and for more than most_steps, and as predict().
    template <class... Sequences>
    std::span<T const, output_size<0>> prefill(Sequences const&... sequences) {
        constexpr auto each = std::make_index_sequence<network_inputs>{};
        if constexpr (are_sequences<Sequences...>(each)) {
            take_steps<detail::prefill<network, device>>(each, sequences...);
        } else {
            static_assert(step_sequences_fit<Sequences...>::checked);
        }
        return output<0>();
    }

    // An output of the last step.
    template <size_t Output>
    std::span<T const, output_size<Output>> output() const {
        return std::span<T const, output_size<Output>>{result<Output>(), output_size<Output>};
    }

    // The next step is the first of a sequence.
    void reset() {
        steps_ = 0;
        forget(std::make_index_sequence<carries>{});
    }

    // Goes on where another predictor is, as each branch of a beam search does from the text so
    // far; costs a copy of the state, of attention the keys and values of all steps so far. Outputs
    // are copied, too.
    void copy_state(stateful_predictor const& other) {
        copy_results(other, std::make_index_sequence<results>{});
        copy_caches(other);
        steps_ = other.steps_;
    }

private:
    // Whether results stay where the plan computes them, since this is the host's memory.
    static constexpr bool in_place = requires { requires device::executor::in_host_memory; };

    template <size_t R>
    T* result() const {
        if constexpr (in_place) {
            return here().executor.at(plan.outputs[R]);
        } else {
            return here().results_of_step.data() + end_of_result(R);
        }
    }
    // Where the results of a step begin: outputs, then the carries for the next step.
    static constexpr size_t end_of_result(size_t before) {
        size_t all = 0;
        for (size_t i = 0; i < before; ++i) {
            all += count(plan.outputs[i]);
        }
        return all;
    }

    template <class... Steps, size_t... I>
    static constexpr bool takes(std::index_sequence<I...>) {
        if constexpr (sizeof...(Steps) == network_inputs) {
            return (step_input<I>::template takes<Steps> && ...);
        } else {
            return false;
        }
    }
    template <class... Sequences, size_t... I>
    static constexpr bool are_sequences(std::index_sequence<I...>) {
        if constexpr (sizeof...(Sequences) == network_inputs) {
            return (step_input<I>::template takes_sequence<Sequences> && ...);
        } else {
            return false;
        }
    }

    // Prefill is a parameter, so that its plan is compiled only where it is needed.
    template <class Prefill, size_t... I, class... Sequences>
    void take_steps(std::index_sequence<I...>, Sequences const&... sequences) {
        size_t const steps =
            Prefill::count_steps({std::span<number<I> const>(sequences).size()...});
        if (most_steps > 0 && steps > most_steps) {
            throw error({"castnet: stateful_predictor::prefill: found ", quantity(steps, "step"),
                         ", but the network's sequences have ", most_steps});
        }
        reset();
        size_t first = std::min(steps - 1, Prefill::steps); // of those that are left for predict()
        if (first > 0 && first >= Prefill::worthwhile_steps()) {
            fill<Prefill>(first,
                          std::span<number<I> const>(sequences).first(
                              Prefill::has_time(I) ? first * input_size<I> : input_size<I>)...);
        } else {
            first = 0;
        }
        for (; first < steps; ++first) {
            predict(std::span<number<I> const, input_size<I>>{
                std::span<number<I> const>(sequences).data() +
                    (Prefill::has_time(I) ? first * input_size<I> : 0),
                input_size<I>}...);
        }
    }

    // The state after `steps` steps, as if they had been predicted since reset().
    template <class Prefill, class... Numbers>
    void fill(size_t steps, std::span<Numbers const> const&... given) {
        if (!here().prefill_executor) {
            here().prefill_executor = Prefill::make_executor(here().session, here().model.data(),
                                                             key_of(here().model.seed_value()));
        }
        Prefill::run(*here().prefill_executor, given...);
        Prefill::read_carries(here().session, *here().prefill_executor, steps,
                              carry_results(std::make_index_sequence<carries>{}));
        Prefill::copy_caches(here().session, *here().prefill_executor, steps, carries,
                             here().executor);
        steps_ = most_steps > 0 ? steps : 0;
    }
    template <size_t... C>
    std::array<T*, carries> carry_results(std::index_sequence<C...>) const {
        return {result<network_outputs + C>()...};
    }

    template <size_t... I, class... Steps>
    static void write_steps(T* batch, std::index_sequence<I...>, Steps const&... steps) {
        (..., step_input<I>::write(batch + plan.inputs[I].offset, I, steps));
    }
    void count_step() {
        if (most_steps > 0 && steps_++ == most_steps) {
            steps_ = most_steps;
            throw error({"castnet: stateful_predictor: the network's sequences have ",
                         quantity(most_steps, "step"),
                         ", of which none is left: call reset() before the next one"});
        }
    }

    void run(T* batch) {
        constexpr bool may_use_threads = plan.flops() > 100'000;
        constexpr int many = 1 << 20; // of which this thread is one
        [[maybe_unused]] typename device::replica_scope const alone{0, may_use_threads ? many : 1};
        copy_carries(batch, std::make_index_sequence<carries>{});
        here().executor.template run<plan>(1, 0);
        if constexpr (!in_place) {
            read_results(std::make_index_sequence<results>{});
        }
    }
    template <size_t... C>
    void copy_carries(T* batch, std::index_sequence<C...>) const {
        (..., copy_carry<plan.inputs[network_inputs + C], network_outputs + C>(batch));
    }
    template <ir::array_ref To, size_t Result>
    void copy_carry(T* batch) const {
        constexpr ir::array_ref from = plan.outputs[Result];
        if constexpr (from.where != To.where || from.offset != To.offset) { // else it is there
            std::copy_n(result<Result>(), count(from), batch + To.offset);
        }
    }
    template <size_t... C>
    void forget(std::index_sequence<C...>) {
        (..., void(std::fill_n(result<network_outputs + C>(),
                               count(plan.outputs[network_outputs + C]), T(0))));
    }
    template <size_t... R>
    void copy_results(stateful_predictor const& other, std::index_sequence<R...>) {
        (..., void(std::copy_n(other.template result<R>(), count(plan.outputs[R]), result<R>())));
    }
    void copy_caches(stateful_predictor const& other) {
        auto& session = here().session;
        for (ir::kernel_launch const& s : plan.launches) {
            if (s.kind == op::cache) {
                ir::array_ref const& cache = plan.arrays[s.output];
                auto const numbers = std::ptrdiff_t(other.steps_) * cache.size.channels;
                session.read(other.here().executor.at(cache), numbers, [&](T const* from) {
                    session.write(here().executor.at(cache), numbers,
                                  [&](T* to) { std::copy_n(from, numbers, to); });
                });
            }
        }
    }
    template <size_t... R>
    void read_results(std::index_sequence<R...>) {
        (..., here().session.read(
                  here().executor.at(plan.outputs[R]), plan.outputs[R].size.count(),
                  [&](T const* from) { std::copy_n(from, count(plan.outputs[R]), result<R>()); }));
    }

    // Parts that stay where they are when a predictor moves: others refer to them.
    struct parts {
        explicit parts(Model const& m)
            : model{m}, access{m.access(), "stateful_predictor"},
              session{policy{}, detail::device_of<policy>(m.chosen_devices(), 0)},
              executor{session, m.data(), key_of(m.seed_value()), sizes},
              results_of_step(in_place ? 0 : end_of_result(results)) {}

        Model const& model;
        model_access::shared access;
        typename device::session session;
        typename device::executor executor;
        std::unique_ptr<typename device::executor> prefill_executor; // made by the first prefill()
        std::vector<T> results_of_step;                              // where they are not in_place
    };

    parts& here() const {
        if (!all_) {
            throw error("castnet: this stateful_predictor was moved away; call the one that it was "
                        "moved to");
        }
        return *all_;
    }

    std::unique_ptr<parts> all_;
    size_t steps_ = 0; // since the sequence began, where they are limited
};

} // namespace castnet
