// Executor of plans on a GPU, with one block of its memory. A step's inputs lie in one of two step
// buffers, used alternately: while the GPU runs a step, the host fills the next one's buffer.
#pragma once

#include <castnet/device/cuda/enqueue.hpp>
#include <castnet/device/cuda/gradients.hpp>
#include <castnet/device/cuda/kept_statistics.hpp>
#include <castnet/device/cuda/messages.hpp>
#include <castnet/device/cuda/numbering.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/device/cuda/step_buffer.hpp>
#include <castnet/device/cuda/step_memory.hpp>
#include <castnet/device/cuda/update_memory.hpp>
#include <castnet/device/executor_sizes.hpp>
#include <castnet/device/launches.hpp>
#include <castnet/optim/optimizer.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace castnet::cuda {

template <class Device>
class executor {
    using T = typename Device::value_type;
    using context = typename Device::context;
    using buffer = step_buffer<context>;

    using step_memory = cuda::step_memory<context>;

public:
    static constexpr std::size_t bytes(executor_sizes const& z) {
        return step_memory::bytes(z, buffer::bytes(z));
    }

    executor(session const& where, T* parameters, philox_key key, executor_sizes const& z)
        : session_{where}, memory_{where, parameters, key, z, buffer::bytes(z)}, update_{where},
          messages_{where} {
        buffers_.reserve(step_memory::buffers);
        for (int i = 0; i < step_memory::buffers; ++i) {
            buffers_.emplace_back(z, memory_.buffer(i), memory_.context());
        }
        next_ = last_ = &buffers_[0];
    }

    ~executor() {
        session_.set_watchdog(nullptr);
        if (connected_ != nullptr) {
            connected_->set_graphs({});
        }
        session_.finish();
    }
    executor(executor const&) = delete;
    executor& operator=(executor const&) = delete;

    std::size_t allocated_bytes() const { return memory_.bytes(); }

    // Chooses the libraries' algorithms for the plan of a training by this rule and for other
    // plans, and allocates their workspace, so that nothing is allocated when they run. Throws
    // castnet::error if these and the parameters exceed the policy's budget, or the GPU's free
    // memory.
    template <class Rule, auto const& Training, auto const&... Plan>
    void prepare(std::size_t parameter_bytes) {
        session_.use();
        choose<Training>();
        (..., choose<Plan>());
        if constexpr (Orthogonalizes<Rule>) {
            prepare_orthogonalization(Training, next_->context);
        }
        std::size_t const planned = parameter_bytes + memory_.bytes(),
                          workspace = session_.library().workspace_bytes();
        if (planned + workspace > session_.budget()) {
            throw error({"castnet: policy::memory_limit allows ", session_.budget(),
                         " bytes, but parameters and training take ", planned,
                         ", and the workspace of cuDNN and cuBLASLt ", workspace,
                         "; allow more, or use a smaller batch"});
        }
        session_.library().reserve();
    }

    // Addresses in the GPU's memory, as of the last run.
    T* at(region r) const { return last_->context.region[int(r)]; }
    T* at(array_ref const& r) const { return last_->context.at(r); }

    // Host memory for region::batch of the next run.
    T* batch() {
        next_->wait_until_free(session_);
        return next_->batch();
    }
    // After batch(): inputs and targets are gathered from these arrays, weights come from the host.
    // Returns host memory for the samples' indices.
    std::uint32_t* gather_from(std::span<stored_array<T> const> arrays) {
        return next_->gather_from(arrays);
    }

    // Index of this replica's first sample in the batch of all replicas.
    void set_first_sample(std::uint32_t first) { first_sample_ = first; }
    // This replica's share of the samples.
    void set_share(double share) { share_ = share; }

    // Runs a plan over the batch; `step` selects dropout's random numbers.
    template <auto const& Plan>
    void run(std::ptrdiff_t, std::uint64_t step) {
        static_assert(arrays_have_numbers<Plan>::checked); // before errors that follow from it
        submit<Plan>(work_kind::run, step, [&](context const&) { enqueue<Plan>(); });
    }
    // Runs the launches one at a time; calls after(i) when launch i has ended.
    template <auto const& Plan, class After>
    void run(std::ptrdiff_t, std::uint64_t step, After const& after) {
        run_with<Plan>(step, [&](int i) {
            session_.wait(session_.compute());
            after(i);
        });
    }
    // Calls f(i) when launch i is enqueued.
    template <auto const& Plan, class F>
    void run(std::ptrdiff_t, std::uint64_t step, after_stages<F> const& after) {
        run_with<Plan>(step, after);
    }

    // Copies values of the GPU's memory to a message in host memory; accept() writes it back
    // (messages.hpp).
    std::span<T> message(std::size_t number, std::span<element_range const> ranges) {
        return messages_.read(number, ranges, last_->context);
    }
    void accept(std::size_t number, std::span<element_range const> ranges) {
        messages_.write(number, ranges, last_->context);
    }

    // Sets the groups of the plan's parameters (plan/penalties.hpp). Waits for the GPU.
    template <auto const& Plan>
    void set_groups(std::span<update_group const> groups) {
        if (update_.template set_groups<Plan>(groups)) {
            forget_graphs();
        }
    }

    // The sum of squares of the gradients of the parameters [first, last), with penalties; waits
    // for the GPU.
    template <auto const& Plan>
    double squares(T scale, std::ptrdiff_t first, std::ptrdiff_t last) {
        T* const factor = update_.norm_scale();
        double* const sums = update_.norm_sums();
        session_.write(factor, 1, [&](T* to) { *to = scale; });
        launch(last_->context,
               squares_call<Device, Plan>(last_->context, factor,
                                          update_.template penalties<Plan>(), sums, first, last));
        double sum = 0;
        session_.read(sums, 1, [&](double const* from) { sum = *from; });
        return sum;
    }

    // Applies the optimizer's rule to all parameters; gradients are multiplied with `scale`.
    template <auto const& Plan, int Slots, class Rule>
    void update(Rule const& rule, T scale) {
        session_.use();
        auto* const to = last_->template values<Rule>();
        launch(last_->context, set_values_call(update_values<Rule, T>{rule, scale}, to));
        enqueue_update<Plan, Slots>(last_->context, to, update_.template tables<Plan>(rule));
        session_.compute().record(last_->done);
    }

    // Adds the outputs of a plan's last run, one after the other, to the totals.
    template <auto const& Plan>
    void add_totals() {
        session_.use();
        launch(last_->context, totals_call<Plan>(last_->context, memory_.totals()));
        session_.compute().record(last_->done);
    }

    // Adds these gradients to others that are kept `place` elements after them, unless they are
    // the first ones, for the last batch of a step; which takes them, and leaves zeros.
    void keep_gradients(std::ptrdiff_t place, element_range const& r, bool are_first) {
        T* const from = at(r.where) + r.offset;
        launch_after_last(keep_body<T>{from, from + place, r.count, are_first});
    }
    void take_kept(std::ptrdiff_t place, element_range const& r) {
        T* const to = at(r.where) + r.offset;
        launch_after_last(take_kept_body<T>{to, to + place, r.count});
    }

    // Keeps the plan's running statistics and the totals, for a step that may not come to its end;
    // and brings them back.
    template <auto const& Plan>
    void keep_statistics() {
        visit_statistics<Plan>([&]<class N>(N* values, N* kept, std::ptrdiff_t count) {
            launch_after_last(keep_body<N>{values, kept, count, true});
        });
    }
    template <auto const& Plan>
    void bring_back_statistics() {
        visit_statistics<Plan>([&]<class N>(N* values, N* kept, std::ptrdiff_t count) {
            launch_after_last(keep_body<N>{kept, values, count, true});
        });
    }

    // A whole training step in one launch.
    template <auto const& Plan, int Slots, class Rule>
    void train(std::ptrdiff_t, std::uint64_t step, Rule const& rule, T scale) {
        bring<Plan>(rule, scale);
        submit<Plan>(work_kind::train, step, [&](context const& c) {
            constexpr int left_out = widens_in_update<Rule>(Plan) ? 1 : 0;
            auto* const values = next_->template values<Rule>();
            update_tables const t = update_.template tables<Plan>(rule);
            std::apply([&](auto const&... call) { enqueue<Plan, left_out>(call...); },
                       closing_calls<Device, Plan, Slots>(c, values, t, memory_.totals()));
            if constexpr (Orthogonalizes<Rule>) {
                enqueue_update<Plan, Slots>(c, values, t);
            }
        });
    }
    // The same where other GPUs compute a part of the step: compute(context, session) puts forward
    // and backward on the stream, then the outputs are added to the totals, and with `updates`
    // update(context, session, values, tables) does the update by these values. Whenever meet() is
    // called, this GPU has nothing to do.
    template <auto const& Plan, class Rule, class Compute, class Update, class Meet>
    void train_among(bool updates, std::uint64_t step, Rule const& rule, T scale,
                     Compute const& compute, Update const& update, Meet const& meet) {
        bring<Plan>(rule, scale);
        submit<Plan>(
            updates ? work_kind::train_with : work_kind::compute_with, step,
            [&](context const& c) {
                gather<Plan>();
                compute(c, session_);
                launch(c, totals_call<Plan>(c, memory_.totals()));
                if (updates) {
                    update(c, session_, next_->template values<Rule>(),
                           update_.template tables<Plan>(rule));
                }
            },
            [&] {
                session_.wait();
                meet();
            });
    }

    // The connection to the GPUs of the other replicas, from now on the watchdog of the host's
    // waits.
    template <class Communicator>
    auto& connect(Communicator& others) {
        session_.use();
        auto& gpus = others.gpus();
        session_.set_watchdog(&gpus);
        if (connected_ != &gpus) {
            connected_ = &gpus;
            gpus.set_graphs([this] { forget_graphs(); });
        }
        return gpus;
    }
    // Broadcasts ranges of the GPU's memory from rank 0.
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
    void evaluate(std::ptrdiff_t, std::uint64_t batch) {
        submit<Plan>(work_kind::evaluate, batch, [&](context const& c) {
            enqueue<Plan>(totals_call<Plan>(c, memory_.totals()));
        });
    }

    // Runs a body for each of its `count` indices, after the last run. Returns when it has ended,
    // since other sessions may read what it writes.
    template <class Body>
    void launch_body(Body const& body) {
        launch_after_last(body);
        session_.wait(session_.compute());
    }

    // In place of an evaluation that other replicas make and this one does not.
    template <auto const& Plan>
    void evaluate_nothing() {
        if constexpr (!is_direct<Plan>) {
            skip();
        }
    }
    // In place of a run: all replicas swap buffers at the same time, so that all meet in
    // train_among() or none.
    void skip() {
        session_.use();
        swap_buffers();
    }

    // Reads and sets the totals. Both wait for the GPU.
    void read_totals(double* to, std::size_t count) const {
        session_.read(memory_.totals(), std::ptrdiff_t(count),
                      [&](double const* from) { std::copy_n(from, count, to); });
    }
    void set_totals(double const* from, std::size_t count) {
        session_.write(memory_.totals(), std::ptrdiff_t(count),
                       [&](double* to) { std::copy_n(from, count, to); });
    }

private:
    template <auto const& Plan, class Copy>
    void visit_statistics(Copy const& copy) {
        kept_.template visit<Plan>(session_, 0, at(region::parameters), memory_.totals(), copy);
    }

    void forget_graphs() {
        for (buffer& b : buffers_) {
            b.known.forget();
        }
    }
    template <auto const& Plan>
    void gather() const {
        if (next_->gathers()) {
            launch(next_->context, next_->template gather_call<Plan>());
        }
    }
    // Whether a step is one kernel with its buffer as an argument.
    template <auto const& Plan>
    static constexpr bool is_direct =
        takes_arguments<Device, Plan>(buffer::template most_bytes<Plan>());

    template <auto const& Plan, int LeftOut = 0, class... Body>
    void enqueue(kernel_call<Body> const&... then) const {
        if constexpr (is_direct<Plan>) {
            auto const arriving = next_->template arriving_call<Plan>(values_of(step_));
            launch_one_block<Plan>(next_->context, arriving.body, then.body...);
        } else {
            cuda::enqueue<Device, Plan, LeftOut>(next_->context, next_->gathers(),
                                                 next_->template gather_call<Plan>(), then...);
        }
    }

    step_values values_of(std::uint64_t step) const {
        return {static_cast<std::uint32_t>(step), first_sample_, share_};
    }

    template <auto const& Plan>
    void choose() const {
        if constexpr (!Device::template in_one_block<Plan>) {
            context c = next_->context;
            c.samples = Plan.batch;
            Device::template prepare<Plan>(c);
        }
    }

    // Copies the next step buffer to the GPU; the compute stream waits for it.
    template <auto const& Plan>
    void send(std::uint64_t step) {
        static_assert(arrays_have_numbers<Plan>::checked);
        session_.use();
        next_->template send<Plan>(values_of(step), session_.copies(), session_.compute());
    }
    template <auto const& Plan, class After>
    void run_with(std::uint64_t step, After const& after) {
        send<Plan>(step);
        last_ = next_; // later work of the step uses its buffer
        Device::template prepare<Plan>(next_->context);
        session_.library().reserve();
        gather<Plan>();
        Device::template run<Plan>(next_->context, after);
        swap_buffers();
    }
    void swap_buffers() {
        session_.compute().record(next_->done);
        last_ = next_;
        next_ = next_ == &buffers_[0] ? &buffers_[1] : &buffers_[0];
    }

    // Writes the update's arguments into the next buffer.
    template <auto const& Plan, class Rule>
    void bring(Rule const& rule, T scale) {
        next_->set(update_values<Rule, T>{rule, scale});
        update_.template tables<Plan>(rule); // allocates
    }

    struct nobody {
        void operator()() const {}
    };
    // All replicas meet before work is enqueued for the first time, before it is captured, and
    // before its graph runs first. A single kernel that has the buffer as an argument needs no
    // graph, and no other buffer.
    template <auto const& Plan, class F, class Meet = nobody>
    void submit(work_kind kind, std::uint64_t step, F const& enqueue_all, Meet const& meet = {}) {
        bool const others = kind == work_kind::compute_with || kind == work_kind::train_with;
        if constexpr (is_direct<Plan>) {
            if (!others) {
                session_.use();
                step_ = step;
                enqueue_all(next_->context);
                last_ = next_;
                return;
            }
        }
        send<Plan>(step);
        buffer& b = *next_;
        auto const prepare = [&] {
            if (!Device::template in_one_block<Plan> || others) {
                Device::template prepare<Plan>(b.context);
                session_.library().reserve();
            }
        };
        b.known.submit(
            {&Plan, kind, b.gathers()}, session_.compute(), session_.use_graphs(), prepare,
            [&] { enqueue_all(b.context); }, meet);
        swap_buffers();
    }

    template <class Body>
    static void launch(context const& c, kernel_call<Body> const& call) {
        c.launch(call.where, call.body);
    }
    // After the last run, with a thread for each of the body's `count` indices.
    template <class Body>
    void launch_after_last(Body const& body) {
        session_.use();
        last_->context.launch(grid_for(body.count), body);
        session_.compute().record(last_->done);
    }
    session const& session_;
    step_memory memory_;
    update_memory<T> update_;
    std::vector<buffer> buffers_;
    buffer* next_;                  // for the next run
    buffer* last_;                  // of the last run
    watchdog* connected_ = nullptr; // to the other GPUs: see connect()
    std::uint64_t step_ = 0;        // of what is being enqueued
    std::uint32_t first_sample_ = 0;
    double share_ = 1;
    messages<context> messages_;
    kept_statistics<T> kept_;
};

} // namespace castnet::cuda
