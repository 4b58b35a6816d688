// The environment of an MPI job: initialization, finalization, and abort of all processes.
#pragma once

#include <castnet/comm/detail/wait.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#ifndef OMPI_SKIP_MPICXX // MPI's C++ classes of old, which no longer compile without warnings
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>
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

    MPI_Comm world() const { return world_; }

    // An MPI call, which may not return: MPICH ends a process inside a call, by exit(), if another
    // process has ended the job.
    template <class Call>
    int within(Call const& call) {
        in_call_ = true;
        int const status = call();
        in_call_ = false;
        return status;
    }

    void check(int status, std::string const& what) {
        if (status != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING];
            int length = 0;
            MPI_Error_string(status, text, &length);
            fail(string_of({what, ": ", std::string_view(text, static_cast<std::size_t>(length))}));
        }
    }

    // Whether another process has ended its program; its earlier messages have arrived by then.
    bool has_ended(int peer) {
        int found = 0;
        within([&] { return MPI_Iprobe(peer, ended, world_, &found, MPI_STATUS_IGNORE); });
        return found != 0;
    }

    // Reports the cause and ends all processes of the job.
    [[noreturn, gnu::cold]] void fail(std::string const& why) {
        std::fprintf(stderr, "castnet: rank %d of %d, %s\n", rank_, size_, why.c_str());
        std::fflush(stderr);
        wait_for_reader(STDERR_FILENO);
        std::signal(SIGALRM, SIG_DFL); // ends an abort that waits for a dead process
        alarm(seconds_to_abort);
        within([&] { return MPI_Abort(world_, 1); });
        std::_Exit(1);
    }

private:
    static constexpr int ended = 0; // tag
    static constexpr unsigned seconds_to_abort = 5;

    // Waits until the launcher has read what was written, for a second at most: an abort makes
    // MPICH's launcher drop what is still in the pipe.
    static void wait_for_reader(int pipe) {
        using namespace std::chrono_literals;
        int unread = 0;
        for (int ms = 0; ms < 1000 && ioctl(pipe, FIONREAD, &unread) == 0 && unread > 0; ++ms) {
            std::this_thread::sleep_for(1ms);
        }
    }

    mpi_environment() {
        timeout(); // throws while there is no job to end
        int running = 0, over = 0;
        MPI_Finalized(&over);
        if (over != 0) {
            throw error(
                "castnet: MPI has been finalized: call MPI_Finalize after the last model and "
                "training, or leave it to castnet");
        }
        MPI_Initialized(&running);
        if (running == 0) {
            int threads = 0;
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads);
            // MPICH uses this handler for all communicators.
            MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
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
                throw error({"castnet: ", text,
                             " processes were started, but MPI sees only one: mpirun belongs to "
                             "another MPI than the program was linked with"});
            }
        }
    }

    // Notifies the other processes, so that none waits for this one in vain, and finalizes MPI. Not
    // after exit() inside an MPI call or in another thread.
    ~mpi_environment() {
        int over = 0, in_its_thread = 0;
        MPI_Finalized(&over);
        if (!owner_ || over != 0 || in_call_) {
            return;
        }
        MPI_Is_thread_main(&in_its_thread); // which ends the job once MPI is finalized
        if (in_its_thread == 0) {
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

    MPI_Comm world_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1, rank_on_machine_ = 0;
    bool owner_ = false;
    bool in_call_ = false;
};

} // namespace castnet::comm::detail
