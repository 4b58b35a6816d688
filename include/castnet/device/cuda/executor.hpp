// Runs plans over one block of memory of a GPU.
//
// What changes from step to step (the batch, the optimizer's rule, the step's number) is written
// into page-locked memory, which is copied to the GPU beside the step before; two such slots take
// turns. So the work of a step is always the same for a slot: the first time it is put on the
// stream piece by piece, which lets libraries choose and allocate; the second time it is captured
// as a graph, and from then on a step is one launch.
#pragma once

#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/exchanges.hpp>
#include <castnet/device/cuda/graph.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/steps.hpp>
#include <castnet/plan/communication.hpp>
#include <castnet/plan/penalties.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace castnet::cuda {

template <class Device>
class executor {
    using T = typename Device::value_type;
    using context = typename Device::context;
    // What a slot holds before the batch: step_values and update_values.
    static constexpr std::size_t header_bytes = 2 * alignment_bytes;
    static constexpr std::size_t totals_bytes = max_totals * sizeof(double);

    static constexpr std::size_t slot_bytes(executor_sizes const& z) {
        return header_bytes + rounded(std::size_t(z.batch) * sizeof(T));
    }
    static constexpr std::size_t rounded(std::size_t bytes) {
        return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
    }

public:
    static constexpr std::size_t bytes(executor_sizes const& z) {
        return rounded(std::size_t(z.gradients + z.state) * sizeof(T)) +
               rounded(std::size_t(z.workspace) * sizeof(T)) + 2 * slot_bytes(z) + totals_bytes;
    }

    executor(session const& where, T* parameters, philox_key key, executor_sizes const& z)
        : session_{where}, arena_{bytes(z)} {
        char* next = arena_.template as<char>();
        auto const take = [&](std::size_t count) { return std::exchange(next, next + count); };
        context c;
        c.region[int(region::parameters)] = parameters;
        c.region[int(region::gradients)] =
            reinterpret_cast<T*>(take(rounded(std::size_t(z.gradients + z.state) * sizeof(T))));
        c.region[int(region::workspace)] =
            reinterpret_cast<T*>(take(rounded(std::size_t(z.workspace) * sizeof(T))));
        totals_ = reinterpret_cast<double*>(take(totals_bytes));
        c.key = key;
        c.stream = where.compute().get();
        c.library = &where.library();
        c.precision = where.precision();
        for (slot& s : slots_) {
            s.device = take(slot_bytes(z));
            s.host = pinned_memory(slot_bytes(z));
            s.context = c;
            s.context.region[int(region::batch)] = reinterpret_cast<T*>(s.device + header_bytes);
            s.context.now = reinterpret_cast<step_values const*>(s.device);
        }
    }

    ~executor() {
        session_.watch_by(nullptr);
        session_.finish();
    }
    executor(executor const&) = delete;
    executor& operator=(executor const&) = delete;

    std::size_t allocated_bytes() const { return arena_.bytes(); }

    // In the GPU's memory.
    T* at(region r) const { return last_->context.region[int(r)]; }
    T* at(array_ref const& r) const { return last_->context.at(r); }

    // Where the host puts region::batch of the next run.
    T* batch() {
        session_.wait(next_->copied); // before the last step, as a rule
        return reinterpret_cast<T*>(next_->host.template as<char>() + header_bytes);
    }

    // Which sample of the batch of all replicas is the first of this one.
    void set_first_sample(std::uint32_t first) { first_sample_ = first; }

    // Runs a plan over the batch; `step` numbers the random numbers of dropout.
    template <auto const& Plan>
    void run(std::ptrdiff_t, std::uint64_t step) {
        submit<Plan>(work::run, step, [](context const& c) { cuda::enqueue<Device, Plan>(c); });
    }
    // Calls after(i) when step i has ended: one step at a time.
    template <auto const& Plan, class After>
    void run(std::ptrdiff_t, std::uint64_t step, After const& after) {
        run_with<Plan>(step, [&](int i) {
            session_.wait(session_.compute());
            after(i);
        });
    }
    // Calls f(i) when step i is on the stream.
    template <auto const& Plan, class F>
    void run(std::ptrdiff_t, std::uint64_t step, after_stages<F> const& after) {
        run_with<Plan>(step, after);
    }

    // Numbers of the GPU's memory as a message in the host's; accept() writes it back. Messages are
    // numbered, and each holds what it does until the next of its number. Waits for what is on the
    // stream.
    std::span<T> message(std::size_t number, std::span<element_range const> ranges) {
        std::size_t count = 0;
        for (element_range const& r : ranges) {
            count += std::size_t(r.count);
        }
        session_.use();
        if (messages_.size() <= number) {
            messages_.resize(number + 1);
        }
        if (messages_[number].bytes() < count * sizeof(T)) {
            session_.wait(session_.compute()); // which may still read the one before
            messages_[number] = pinned_memory(count * sizeof(T));
        }
        T* const all = messages_[number].template as<T>();
        copy_ranges(ranges, all, cudaMemcpyDeviceToHost);
        session_.wait(session_.compute());
        return {all, count};
    }
    void accept(std::size_t number, std::span<element_range const> ranges) {
        copy_ranges(ranges, messages_[number].template as<T>(), cudaMemcpyHostToDevice);
    }

    // Applies the optimizer's rule to all parameters; gradients are multiplied with `scale`.
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        session_.use();
        // from memory that is not page-locked: the values are read before the call ends
        update_values<Rule, T> const values{rule, scale};
        auto* const to = last_->template values<Rule>();
        CASTNET_CUDA(cudaMemcpyAsync(to, &values, sizeof values, cudaMemcpyHostToDevice,
                                     session_.compute().get()));
        launch(last_->context, update_call<Plan, Slots>(last_->context, to, ranges<Plan>()));
        session_.compute().record(last_->done);
    }

    // Adds the outputs of the last run of a plan that has one number in each.
    template <auto const& Plan>
    void add_totals() {
        session_.use();
        launch(last_->context, totals_call<Plan>(last_->context, totals_));
        session_.compute().record(last_->done);
    }

    // All of that in one launch.
    template <auto const& Plan, int Slots, class Rule>
    void train(std::ptrdiff_t, std::uint64_t step, Rule const& rule, T scale) {
        bring<Plan>(rule, scale);
        submit<Plan>(work::train, step, [&](context const& c) {
            cuda::enqueue<Device, Plan>(
                c, update_call<Plan, Slots>(c, next_->template values<Rule>(), ranges<Plan>()),
                totals_call<Plan>(c, totals_));
        });
    }
    // The same together with the replicas on other GPUs (comm/nccl.hpp): what add_totals() adds is
    // that of all. Until the step is a graph, the host waits for each sum before it goes on; and no
    // GPU works where another one loads code, allocates or captures, as that may wait for all work
    // of the process.
    template <auto const& Plan, int Slots, class Communicator, class Rule>
    void train_with(Communicator& others, std::uint64_t step, Rule const& rule, T scale) {
        auto& gpus = connect(others);
        bring<Plan>(rule, scale);
        if (!side_) {
            side_ = std::make_unique<side_stream>();
        }
        auto const wait = [&](stream const& s) {
            if (!session_.compute().is_captured()) {
                session_.wait(s);
            }
        };
        auto const enqueue_all = [&](context const& c) {
            enqueue_with_exchanges<Device, Plan>(c, session_.compute(), *side_, gpus, step, wait);
            launch(c, update_call<Plan, Slots>(c, next_->template values<Rule>(), ranges<Plan>()));
            launch(c, totals_call<Plan>(c, totals_));
        };
        auto const meet = [&] {
            session_.wait();
            others.meet({"begin of a step", -1, step});
        };
        submit<Plan>(work::train_with, step, enqueue_all, meet);
        gpus.doing({"sums of a captured step", -1, step});
    }
    // Numbers in the GPU's memory become those of rank 0.
    template <class Communicator, class Collective>
    void take_from_first(Communicator& others, element_range const& r, Collective const& at_) {
        auto& gpus = connect(others);
        if (r.count > 0) {
            gpus.broadcast(std::span{at(r.where) + r.offset, std::size_t(r.count)},
                           session_.compute().get(), at_);
            session_.wait(session_.compute());
        }
    }
    template <auto const& Plan>
    void evaluate(std::ptrdiff_t) {
        submit<Plan>(work::evaluate, 0, [&](context const& c) {
            cuda::enqueue<Device, Plan>(c, totals_call<Plan>(c, totals_));
        });
    }

    // What add_totals() added up since set_totals(). Both wait for the GPU.
    void read_totals(double* to, std::size_t count) const {
        session_.read(totals_, std::ptrdiff_t(count),
                      [&](double const* from) { std::copy_n(from, count, to); });
    }
    void set_totals(double const* from, std::size_t count) {
        session_.write(totals_, std::ptrdiff_t(count),
                       [&](double* to) { std::copy_n(from, count, to); });
    }

private:
    enum class work { run, train, train_with, evaluate };

    // The graph of some work on a plan; empty until that work comes for the second time.
    struct known_work {
        void const* plan;
        work kind;
        captured_graph graph;
    };

    struct slot {
        pinned_memory host;
        char* device = nullptr;
        typename Device::context context;
        event copied; // to the GPU
        event done;   // the step that read it
        std::vector<known_work> known;

        template <class Rule>
        update_values<Rule, T>* values() const {
            return reinterpret_cast<update_values<Rule, T>*>(device + alignment_bytes);
        }
    };

    // Sends the next slot to the GPU; the compute stream waits for it.
    template <auto const& Plan>
    void send(std::uint64_t step) {
        session_.use();
        slot& s = *next_;
        s.context.samples = Plan.batch;
        *s.host.template as<step_values>() = {static_cast<std::uint32_t>(step), first_sample_};
        session_.copies().wait_for(s.done);
        CASTNET_CUDA(cudaMemcpyAsync(s.device, s.host.template as<char>(),
                                     header_bytes + std::size_t(Plan.staging) * sizeof(T),
                                     cudaMemcpyHostToDevice, session_.copies().get()));
        session_.copies().record(s.copied);
        session_.compute().wait_for(s.copied);
    }
    template <auto const& Plan, class After>
    void run_with(std::uint64_t step, After const& after) {
        send<Plan>(step);
        last_ = next_; // what follows a step sees its memory
        Device::template prepare<Plan>(next_->context);
        Device::template run<Plan>(next_->context, after);
        turn();
    }
    void turn() {
        session_.compute().record(next_->done);
        last_ = next_;
        next_ = next_ == &slots_[0] ? &slots_[1] : &slots_[0];
    }

    // What an update needs, into the next slot.
    template <auto const& Plan, class Rule>
    void bring(Rule const& rule, T scale) {
        static_assert(sizeof(update_values<Rule, T>) <= alignment_bytes &&
                      std::is_trivially_copyable_v<Rule>);
        update_values<Rule, T> const values{rule, scale};
        std::memcpy(next_->host.template as<char>() + alignment_bytes, &values, sizeof values);
        ranges<Plan>(); // allocates
    }

    // The connection to the GPUs of the other replicas, which from now on watches the host's waits.
    template <class Communicator>
    auto& connect(Communicator& others) {
        session_.use();
        auto& gpus = others.gpus();
        session_.watch_by(&gpus);
        return gpus;
    }

    struct nobody {
        void operator()() const {}
    };
    // Before work that is not yet captured is put on the stream or captured, and before what was
    // captured runs first, all replicas meet.
    template <auto const& Plan, class F, class Meet = nobody>
    void submit(work kind, std::uint64_t step, F const& enqueue_all, Meet const& meet = {}) {
        send<Plan>(step);
        slot& s = *next_;
        auto const same = [&](known_work const& k) { return k.plan == &Plan && k.kind == kind; };
        auto known = std::find_if(s.known.begin(), s.known.end(), same);
        if (known == s.known.end()) {
            s.known.push_back({&Plan, kind, {}});
            meet();
            if (!Device::template in_one_block<Plan> || kind == work::train_with) {
                Device::template prepare<Plan>(s.context);
            }
            meet();
            enqueue_all(s.context);
        } else if (!session_.use_graphs()) {
            enqueue_all(s.context);
        } else {
            if (!known->graph) {
                meet();
                known->graph = captured_graph(session_.compute(), [&] { enqueue_all(s.context); });
                meet();
            }
            known->graph.launch(session_.compute());
        }
        turn();
    }

    // Between the ranges and `message`, where they lie one after the other; on the stream.
    void copy_ranges(std::span<element_range const> ranges, T* message, cudaMemcpyKind way) const {
        session_.use();
        for (element_range const& r : ranges) {
            T* const here = at(r.where) + r.offset;
            bool const out = way == cudaMemcpyDeviceToHost;
            if (r.count > 0) {
                CASTNET_CUDA(cudaMemcpyAsync(out ? message : here, out ? here : message,
                                             std::size_t(r.count) * sizeof(T), way,
                                             session_.compute().get()));
            }
            message += r.count;
        }
    }

    template <class Body>
    static void launch(context const& c, kernel_call<Body> const& call) {
        c.launch(call.where, call.body);
    }

    // The penalties of the parameters, in the GPU's memory.
    template <auto const& Plan>
    penalized_range const* ranges() {
        if (ranges_.bytes() == 0) {
            std::vector<penalized_range> all;
            for_each_penalty(Plan, [&](penalty const& cost, std::ptrdiff_t, std::ptrdiff_t last) {
                all.push_back({last, cost});
            });
            ranges_ = memory(all.size() * sizeof(penalized_range));
            session_.write(ranges_.template as<penalized_range>(), std::ptrdiff_t(all.size()),
                           [&](penalized_range* to) { std::copy(all.begin(), all.end(), to); });
        }
        return ranges_.template as<penalized_range>();
    }

    session const& session_;
    memory arena_;
    memory ranges_;
    double* totals_ = nullptr;
    std::array<slot, 2> slots_;
    slot* next_ = &slots_[0]; // for the next run
    slot* last_ = &slots_[0]; // of the last run
    std::uint32_t first_sample_ = 0;
    std::vector<pinned_memory> messages_;
    std::unique_ptr<side_stream> side_; // where there are other GPUs
};

} // namespace castnet::cuda
