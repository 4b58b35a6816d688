// All replicas of a training in this process, kept alike, and what connects them with those of
// others.
#pragma once

#include <castnet/comm/alone.hpp>
#include <castnet/train/replica.hpp>

#include <cstring>
#include <optional>

namespace castnet {

template <class Model, class Loss, class Optimizer, class... Metrics>
class replicas {
    using T = typename Model::value_type;
    using device = typename Model::device;
    using group = comm::group_of<typename Model::policy_type>;

public:
    using replica_type = replica<Model, Loss, Optimizer, Metrics...>;
    static constexpr int local = group::local;
    static constexpr bool alone = std::is_same_v<group, comm::alone>;

    explicit replicas(Model& m) : model_{m} {
        group_.run([&](int i, auto& others) {
            scope const here{i};
            T* parameters = m.data();
            if (i > 0) {
                copies_[i] = typename device::memory(Model::parameter_bytes);
                parameters = copies_[i].template as<T>();
            }
            replica_[i].emplace(parameters, key_of(m.seed_value()));
            if constexpr (!alone) {
                compare(others, replica_type::signature(), "program");
            }
        });
    }

    // The replica whose parameters are the model's.
    replica_type& first() { return *replica_[0]; }
    replica_type const& first() const { return *replica_[0]; }

    int rank() const { return group_.first(); }
    int size() const { return group_.size(); }

    // f(replica, communicator) on all at the same time.
    template <class F>
    void run(F const& f) {
        group_.run([&](int i, auto& others) {
            scope const here{i};
            f(*replica_[i], others);
        });
    }

    // Parameters and optimizer state become those of rank 0, unless they are already: set() of the
    // model and changed() say that they may not be.
    void synchronize() {
        if constexpr (!alone) {
            if (!changed_ && revision_ == model_.revision()) {
                return;
            }
            run([&](replica_type& r, auto& others) {
                others.broadcast(std::as_writable_bytes(r.parameters()),
                                 {"broadcast of parameters"});
                others.broadcast(std::as_writable_bytes(r.optimizer_state()),
                                 {"broadcast of the optimizer's state"});
            });
            changed_ = false;
            revision_ = model_.revision();
        }
    }
    void changed() { changed_ = true; }

    // What rank 0 has.
    template <class Value>
    Value of_first(Value const& value) {
        Value result = value;
        if constexpr (!alone) {
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

    // Throws castnet::error on all replicas if `text` is not the same on all.
    void require_same(std::string const& text, char const* what) {
        if constexpr (!alone) {
            run([&](replica_type&, auto& others) { compare(others, text, what); });
        }
    }

private:
    // What a thread needs to work as one of several replicas, if the device has such a thing.
    struct nothing {
        constexpr nothing(int, int) {}
    };
    template <class D>
    struct scope_of {
        using type = nothing;
    };
    template <class D>
        requires requires { typename D::replica_scope; }
    struct scope_of<D> {
        using type = typename D::replica_scope;
    };
    struct scope : scope_of<device>::type {
        explicit scope(int i) : scope_of<device>::type(i, local) {}
    };

    template <class Communicator>
    static void compare(Communicator& others, std::string const& text, char const* what) {
        constexpr size_t length = 512;
        std::byte mine[length]{};
        std::memcpy(mine, text.data(), std::min(text.size(), length - 1));
        std::vector<std::byte> all(length * size_t(others.size()));
        others.gather(mine, all, {"comparison of what replicas do"});
        for (int r = 1; r < others.size(); ++r) {
            auto const of = [&](int rank) {
                return std::string(
                    reinterpret_cast<char const*>(all.data() + length * size_t(rank)));
            };
            if (of(r) != of(0)) {
                throw error(std::string("castnet: replicas do not run the same ") + what +
                            ": rank 0 has " + of(0) + ", but rank " + std::to_string(r) + " has " +
                            of(r));
            }
        }
    }

    Model& model_;
    group group_;
    typename device::memory copies_[local];
    std::optional<replica_type> replica_[local];
    std::uint64_t revision_ = 0;
    bool changed_ = true;
};

} // namespace castnet
