// Nonblocking MPI messages of a collective.
#pragma once

#include <castnet/comm/detail/heading.hpp>
#include <castnet/comm/detail/mpi_environment.hpp>
#include <castnet/core/text.hpp>

namespace castnet::comm::detail {

class mpi_messages {
public:
    explicit mpi_messages(mpi_environment& job)
        : job_{&job}, theirs_(static_cast<std::size_t>(job.size())) {}

    // Sets the collective of the following messages. Its data follow the processes' headings, which
    // must be equal; the next two functions begin to receive and send these.
    void belong_to(heading const& h) { mine_ = h; }
    void expect_heading(int from, int tag) {
        expected_.push_back({from, requests_.size()});
        receive(&theirs_[static_cast<std::size_t>(from)], sizeof(heading), from, tag);
    }
    void send_heading(int to, int tag) { send(&mine_, sizeof mine_, to, tag); }

    // Begin to receive or send bytes. Tags, from 1 on, distinguish messages in flight.
    void receive(void* to, std::size_t bytes, int from, int tag) {
        pieces(to, bytes, from, [&](void* p, int n, MPI_Request* r) {
            return MPI_Irecv(p, n, MPI_BYTE, from, tag, job_->world(), r);
        });
    }
    void send(void const* from, std::size_t bytes, int to, int tag) {
        pieces(const_cast<void*>(from), bytes, to, [&](void* p, int n, MPI_Request* r) {
            return MPI_Isend(p, n, MPI_BYTE, to, tag, job_->world(), r);
        });
    }

    // Whether all messages are complete. Ends the job if another process calls another collective.
    bool done() {
        if (requests_.empty()) {
            return true;
        }
        int done = 0;
        int const status = job_->within([&] {
            return MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                               MPI_STATUSES_IGNORE);
        });
        if (done != 0 || status != MPI_SUCCESS) {
            compare_headings(); // before MPI's errors about message sizes
            job_->check(status, mine_.text());
            requests_.clear();
            peers_.clear();
            expected_.clear();
        }
        return done != 0;
    }

    // Ends the job if a process that this one waits for calls another collective, or has ended.
    [[gnu::noinline]] void look_for_faults() const {
        compare_headings();
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (open(requests_[i]) && job_->has_ended(peers_[i]) && open(requests_[i])) {
                job_->fail(
                    string_of({mine_.text(), ": rank ", peers_[i], " has ended its program"}));
            }
        }
    }

    // The collective of this process, for error messages.
    std::string text() const { return mine_.text(); }

    // The ranks that this process waits for.
    std::string late() const {
        std::vector<bool> ranks(static_cast<std::size_t>(job_->size()));
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (open(requests_[i])) {
                ranks[static_cast<std::size_t>(peers_[i])] = true;
            }
        }
        std::string text;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
            if (ranks[r]) {
                append(text, {text.empty() ? "" : ", ", r});
            }
        }
        return text;
    }

private:
    static constexpr std::size_t largest_piece = std::size_t{1} << 30;

    template <class Begin>
    void pieces(void* bytes, std::size_t count, int peer, Begin const& begin) {
        auto* at = static_cast<char*>(bytes);
        while (count > 0) {
            std::size_t const n = count < largest_piece ? count : largest_piece;
            requests_.push_back(MPI_REQUEST_NULL);
            peers_.push_back(peer);
            job_->check(
                job_->within([&] { return begin(at, static_cast<int>(n), &requests_.back()); }),
                "a message");
            at += n;
            count -= n;
        }
    }

    // Compares the headings that have arrived.
    void compare_headings() const {
        for (auto const& [peer, request] : expected_) {
            heading const& other = theirs_[static_cast<std::size_t>(peer)];
            if (!open(requests_[request]) && !(other == mine_)) {
                job_->fail(string_of({mine_.text(), ": rank ", peer, " is in ", other.text(),
                                      "; all processes must make the same calls"}));
            }
        }
    }

    bool open(MPI_Request r) const {
        int done = 1;
        job_->within([&] { return MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE); });
        return done == 0;
    }

    mpi_environment* job_;
    std::vector<MPI_Request> requests_;
    std::vector<int> peers_; // of each request
    struct expected {
        int peer;
        std::size_t request;
    };
    heading mine_;
    std::vector<heading> theirs_;    // of each rank
    std::vector<expected> expected_; // of them
};

} // namespace castnet::comm::detail
