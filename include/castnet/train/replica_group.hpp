// The replicas of a training in this process, and their group's communicators.
#pragma once

#include <castnet/comm/single_replica.hpp>
#include <castnet/core/spin_lock.hpp>
#include <castnet/train/agreement.hpp>
#include <castnet/train/replica.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class replica_group {
    using device = typename Model::device;
    using policy = typename Model::policy_type;
    static constexpr bool is_connected = requires { sizeof(comm::group_of<policy>); };
    static_assert(is_connected, "castnet: replicas on several GPUs add up by NCCL: include "
                                "<castnet/nccl.hpp> and link castnet::nccl; or use "
                                "policy::logical, or policy::host_reduction");
    using group = std::conditional_t<is_connected, comm::group_of<policy>, comm::single_replica>;

public:
    using replica_type = replica<Model, Loss, Optimizer, Metrics...>;
    using scalars = typename replica_type::scalars;
    static constexpr bool is_single = std::is_same_v<group, comm::single_replica>;
    static_assert(
        is_single || !ir::SeparateDevices<device>,
        "castnet: policy::model_parallel on GPUs has one replica: use mirrored and "
        "distributed with policy::cuda itself, or policy::model_parallel<policy::cpu, N>");
    // Whether there may be replicas in other processes.
    static constexpr bool has_processes = requires { requires group::has_processes; };

    replica_group(Model& m, scalars const& numbers)
        : model_{m}, group_{detail::replicas_here<policy>(m.chosen_devices())}, scalars_{numbers} {
        if constexpr (is_single) {
            replicas_[0].emplace(m, m.session(), m.data(), scalars_);
        } else {
            replicas_ = std::make_unique<std::optional<replica_type>[]>(size_t(group_.local()));
            group_.run([&](int i, auto&) {
                typename device::replica_scope const here{i, group_.local()};
                make(i);
            });
        }
    }

    replica_group(replica_group const&) = delete;
    replica_group& operator=(replica_group const&) = delete;
    ~replica_group() {
        if constexpr (requires { group_.before_end(); }) {
            group_.before_end();
            for (int i = 0; i < group_.local(); ++i) { // before any of them frees memory
                replicas_[size_t(i)]->end_work();
                group_.before_end();
            }
        }
    }

    // The replica whose parameters are the model's.
    replica_type& first() { return *replicas_[0]; }
    replica_type const& first() const { return *replicas_[0]; }

    int rank() const { return group_.first(); }
    int size() const { return group_.size(); }

    // Broadcast of rank 0's value.
    template <class Value>
    Value of_first(Value const& value) {
        Value result = value;
        if constexpr (!is_single) {
            run([&](replica_type& r, auto& others) {
                Value copy = value;
                others.broadcast(std::as_writable_bytes(std::span{&copy, 1}), {"broadcast"});
                if (&r == &first()) {
                    result = copy;
                }
            });
        }
        return result;
    }

    std::vector<double> of_first(std::vector<double> const& values) {
        std::vector<double> result = values;
        if constexpr (!is_single) {
            size_t const count = of_first(values.size());
            if (count == 0) {
                return {};
            }
            run([&](replica_type& r, auto& others) {
                std::vector<double> copy = values;
                copy.resize(count);
                others.broadcast(std::as_writable_bytes(std::span{copy}), {"broadcast"});
                if (&r == &first()) {
                    result = std::move(copy);
                }
            });
        }
        return result;
    }

    // Logical or over the processes.
    bool any(bool mine) {
        bool result = mine;
        if constexpr (has_processes) {
            run([&](replica_type& r, auto& others) {
                std::byte const own{mine};
                std::vector<std::byte> all(size_t(others.size()));
                others.gather({&own, 1}, all, {"whether to stop"});
                if (&r == &first()) {
                    result = std::count(all.begin(), all.end(), std::byte{1}) > 0;
                }
            });
        }
        return result;
    }

    // With several processes, throws castnet::error on all of them unless they make the same call
    // with the same settings, as recorded by describe(detail::settings&). (With a parameter of type
    // auto&, it costs other policies no compile time.)
    template <class Describe>
    void agree([[maybe_unused]] char const* call, [[maybe_unused]] Describe const& describe) const {
        if constexpr (has_processes) {
            detail::settings mine{call};
            group_.guarded([&] { describe(mine); });
            run([&](replica_type&, auto& others) { detail::require_same(others, mine); });
        }
    }

protected:
    // Calls f(), which has no communicator; with several replicas its exceptions name the rank.
    template <class F>
    auto guarded(F const& f) const {
        if constexpr (has_processes) {
            return group_.guarded(f);
        } else {
            return f();
        }
    }

    // Calls f(replica, communicator) on all local replicas at the same time.
    template <class F>
    void run(F const& f) const {
        if constexpr (is_single) {
            group_.run(
                [&](int, auto& others) { f(const_cast<replica_group*>(this)->first(), others); });
        } else {
            try {
                group_.run([&](int i, auto& others) {
                    typename device::replica_scope const here{i, group_.local()};
                    f(*replicas_[size_t(i)], others);
                });
            } catch (...) {
                if (unreadable_) {
                    std::rethrow_exception(std::exchange(unreadable_, nullptr));
                }
                throw;
            }
        }
    }

    // Calls f(), which reads data, within run(), which throws what f throws as it is: it is about a
    // sample, whichever replica has read it.
    template <class F>
    auto reading_data(F const& f) const {
        if constexpr (is_single) {
            return f();
        } else {
            try {
                return f();
            } catch (...) {
                spin_lock const lock{reports_};
                unreadable_ = unreadable_ ? unreadable_ : std::current_exception();
                throw;
            }
        }
    }

    Model& model_;
    mutable group group_;

private:
    using T = typename Model::value_type;

    void make(int i) {
        auto& r = replicas_[size_t(i)];
        if (i == 0) {
            r.emplace(model_, model_.session(), model_.data(), scalars_, size());
        } else {
            auto& copy = model_.copy_for(i);
            r.emplace(model_, copy.session, copy.parameters.template as<T>(), scalars_, size());
        }
    }

    scalars scalars_;
    std::conditional_t<is_single, std::array<std::optional<replica_type>, 1>,
                       std::unique_ptr<std::optional<replica_type>[]>>
        replicas_;
    mutable std::atomic_flag reports_{};      // held by the replica that sets
    mutable std::exception_ptr unreadable_{}; // what reading_data() has thrown first
};

} // namespace castnet
