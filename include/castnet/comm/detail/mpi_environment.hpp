// The processes of an MPI job, and messages between them that do not wait for ever.
#pragma once

#include <castnet/comm/detail/wait.hpp>
#include <castnet/core/error.hpp>

#include <cstdio>
#ifndef OMPI_SKIP_MPICXX // MPI's C++ classes of old, which no longer compile without warnings
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <vector>

namespace castnet::comm::detail {

class mpi_environment {
public:
    static mpi_environment& instance() {
        static mpi_environment job;
        return job;
    }
    mpi_environment(mpi_environment const&) = delete;
    mpi_environment& operator=(mpi_environment const&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }
    int rank_on_machine() const { return rank_on_machine_; }

    // Begin to move bytes; wait() ends it.
    void receive(void* to, std::size_t bytes, int from) {
        pieces(to, bytes, from, [&](void* p, int n, MPI_Request* r) {
            return MPI_Irecv(p, n, MPI_BYTE, from, data, world_, r);
        });
    }
    void send(void const* from, std::size_t bytes, int to) {
        pieces(const_cast<void*>(from), bytes, to, [&](void* p, int n, MPI_Request* r) {
            return MPI_Isend(p, n, MPI_BYTE, to, data, world_, r);
        });
    }

    // Until all that was begun is done.
    void wait(collective const& at) {
        int polls = 0;
        bool const all_came = wait_until([&] {
            bool const done = test(at);
            if (!done && ++polls % 64 == 0) {
                look_for_ended(at);
            }
            return done;
        });
        if (!all_came) {
            char seconds[32];
            std::snprintf(seconds, sizeof seconds, "%g", deadline());
            std::string const text = std::string("waited ") + seconds + " s for rank ";
            fail(at.text() + ": " + text + late() + "; see comm::deadline()");
        }
        requests_.clear();
        peers_.clear();
    }

    // Ends the job: says why, and takes all other processes along.
    [[noreturn]] void fail(std::string const& why) const {
        std::fprintf(stderr, "castnet: rank %d of %d, %s\n", rank_, size_, why.c_str());
        std::fflush(stderr);
        MPI_Abort(world_, 1);
        std::_Exit(1);
    }

private:
    static constexpr int data = 1, ended = 2; // tags
    static constexpr std::size_t largest_piece = std::size_t{1} << 30;

    mpi_environment() {
        int running = 0;
        MPI_Initialized(&running);
        if (running == 0) {
            int threads = 0;
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads);
            owner_ = true;
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &world_);
        MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
        MPI_Comm_rank(world_, &rank_);
        MPI_Comm_size(world_, &size_);
        MPI_Comm machine = MPI_COMM_NULL;
        MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
        MPI_Comm_rank(machine, &rank_on_machine_);
        MPI_Comm_free(&machine);
        for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
            char const* const text = std::getenv(name);
            if (text != nullptr && size_ == 1 && std::atoi(text) > 1) {
                throw error(std::string("castnet: ") + text +
                            " processes were started, but MPI sees only one: mpirun belongs to "
                            "another MPI than the program was linked with");
            }
        }
    }

    // Tells the others, so that those who still wait for this process need not wait in vain.
    ~mpi_environment() {
        int over = 0;
        MPI_Finalized(&over);
        if (!owner_ || over != 0) {
            return;
        }
        char nothing = 0;
        std::vector<MPI_Request> sent;
        for (int r = 0; r < size_; ++r) {
            if (r != rank_) {
                sent.emplace_back();
                MPI_Isend(&nothing, 0, MPI_BYTE, r, ended, world_, &sent.back());
                sent.emplace_back();
                MPI_Irecv(&nothing, 0, MPI_BYTE, r, ended, world_, &sent.back());
            }
        }
        bool const all = wait_until([&] {
            int done = 0;
            MPI_Testall(static_cast<int>(sent.size()), sent.data(), &done, MPI_STATUSES_IGNORE);
            return done != 0;
        });
        if (!all) {
            fail("end of the program: other processes did not end theirs");
        }
        MPI_Finalize();
    }

    template <class Begin>
    void pieces(void* bytes, std::size_t count, int peer, Begin const& begin) {
        auto* at = static_cast<char*>(bytes);
        while (count > 0) {
            std::size_t const n = count < largest_piece ? count : largest_piece;
            requests_.push_back(MPI_REQUEST_NULL);
            peers_.push_back(peer);
            check(begin(at, static_cast<int>(n), &requests_.back()), "a message");
            at += n;
            count -= n;
        }
    }

    bool test(collective const& at) {
        int done = 0;
        check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                          MPI_STATUSES_IGNORE),
              at.text());
        return done != 0;
    }

    // Whether a process that this one waits for has ended: what it had sent has arrived by then.
    void look_for_ended(collective const& at) {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            int found = 0;
            if (open(requests_[i])) {
                MPI_Iprobe(peers_[i], ended, world_, &found, MPI_STATUS_IGNORE);
            }
            if (found != 0 && open(requests_[i])) {
                fail(at.text() + ": rank " + std::to_string(peers_[i]) + " has ended its program");
            }
        }
    }
    static bool open(MPI_Request r) {
        int done = 1;
        MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE);
        return done == 0;
    }
    std::string late() const {
        std::string text;
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            std::string const peer = std::to_string(peers_[i]);
            if (open(requests_[i]) && text.find(peer) == std::string::npos) {
                text += (text.empty() ? "" : ", ") + peer;
            }
        }
        return text;
    }

    void check(int status, std::string const& what) const {
        if (status != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING];
            int length = 0;
            MPI_Error_string(status, text, &length);
            fail(what + ": " + std::string(text, static_cast<std::size_t>(length)));
        }
    }

    MPI_Comm world_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, rank_on_machine_ = 0;
    bool owner_ = false;
    std::vector<MPI_Request> requests_;
    std::vector<int> peers_; // of each request
};

} // namespace castnet::comm::detail
