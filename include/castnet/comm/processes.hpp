// Group of policy::distributed: the replicas of this process, connected with those of all other
// processes of the job.
#pragma once

#include <castnet/comm/in_process.hpp>
#include <castnet/comm/mpi.hpp>
#include <castnet/comm/single_replica.hpp>

#include <string>
#include <type_traits>

namespace castnet::comm {

template <class Inner>
class processes {
public:
    static constexpr bool has_processes = true; // besides this one

    // Throws castnet::error unless all processes have equally many replicas.
    explicit processes(int local) : inner_{local} {
        std::vector<int> all(static_cast<std::size_t>(mpi_.size()));
        mpi_.gather(std::as_bytes(std::span{&local, 1}), std::as_writable_bytes(std::span{all}),
                    {"comparison of the numbers of replicas"});
        for (std::size_t r = 1; r < all.size(); ++r) {
            if (all[r] != all[0]) {
                throw error(
                    {"castnet: rank 0 has ", quantity(all[0], "replica"), ", but rank ", r, " has ",
                     all[r],
                     "; all processes need the same number, and so must see as many devices"});
            }
        }
    }

    int local() const { return inner_.local(); }
    int first() const { return mpi_.rank() * local(); }
    int size() const { return mpi_.size() * local(); }

    // An exception of a replica ends the job: the others would wait for it.
    template <class F>
    void run(F const& f) {
        guarded([&] {
            inner_.run([&](int i, auto& inner) {
                if constexpr (std::is_same_v<Inner, single_replica>) {
                    f(i, mpi_);
                } else {
                    in_process<mpi> all{inner, mpi_};
                    f(i, all);
                }
            });
        });
    }

    // Calls f() on this process only; its exceptions end the job, too.
    template <class F>
    auto guarded(F const& f) {
        try {
            return f();
        } catch (std::exception const& e) {
            std::string const why = e.what(); // from threads: names their last collective
            mpi_.fail(why.starts_with("castnet: ") ? why.substr(9) : mpi_.where() + ": " + why);
        } catch (...) {
            mpi_.fail(mpi_.where() + ": threw something that is not a std::exception");
        }
    }

private:
    Inner inner_;
    mpi mpi_;
};

} // namespace castnet::comm
