// The group of policy::distributed: the replicas of this process, connected with those of all other
// processes of the job.
#pragma once

#include <castnet/comm/alone.hpp>
#include <castnet/comm/mpi.hpp>
#include <castnet/comm/nested.hpp>

#include <type_traits>

namespace castnet::comm {

template <class Inner>
class processes {
public:
    static constexpr int local = Inner::local;

    int first() const { return mpi_.rank() * local; }
    int size() const { return mpi_.size() * local; }

    // What a replica throws ends the job: the others would wait for it.
    template <class F>
    void run(F const& f) {
        try {
            inner_.run([&](int i, auto& inner) {
                if constexpr (std::is_same_v<Inner, alone>) {
                    f(i, mpi_);
                } else {
                    nested all{inner, mpi_};
                    f(i, all);
                }
            });
        } catch (std::exception const& e) {
            mpi_.fail(e.what());
        }
    }

private:
    Inner inner_;
    mpi mpi_;
};

} // namespace castnet::comm
