// The group of policy::distributed: the replicas of this process, connected with those of all other
// processes of the job.
#pragma once

#include <castnet/comm/alone.hpp>
#include <castnet/comm/in_process.hpp>
#include <castnet/comm/mpi.hpp>

#include <string>
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
                    in_process<mpi> all{inner, mpi_};
                    f(i, all);
                }
            });
        } catch (std::exception const& e) {
            std::string const why = e.what(); // of threads: says where they were
            mpi_.fail(why.starts_with("castnet: ") ? why.substr(9) : mpi_.where() + ": " + why);
        }
    }

private:
    Inner inner_;
    mpi mpi_;
};

} // namespace castnet::comm
