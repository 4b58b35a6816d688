// Messages between processes that are under way.
#pragma once

#include <castnet/comm/detail/mpi_environment.hpp>
#include <castnet/core/text.hpp>

namespace castnet::comm::detail {

class mpi_messages {
public:
    explicit mpi_messages(mpi_environment& job) : job_{&job} {}

    // Begin to move bytes. A tag, from 1 on, tells messages apart that are under way together.
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

    // Whether all have been moved.
    bool done(collective const& at) {
        if (requests_.empty()) {
            return true;
        }
        int done = 0;
        job_->check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                                MPI_STATUSES_IGNORE),
                    at.text());
        if (done != 0) {
            requests_.clear();
            peers_.clear();
        }
        return done != 0;
    }

    // Ends the job if one that this process waits for has ended.
    void look_for_ended(collective const& at) const {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (open(requests_[i]) && job_->has_ended(peers_[i]) && open(requests_[i])) {
                job_->fail(string_of({at.text(), ": rank ", peers_[i], " has ended its program"}));
            }
        }
    }

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
            job_->check(begin(at, static_cast<int>(n), &requests_.back()), "a message");
            at += n;
            count -= n;
        }
    }

    static bool open(MPI_Request r) {
        int done = 1;
        MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE);
        return done == 0;
    }

    mpi_environment* job_;
    std::vector<MPI_Request> requests_;
    std::vector<int> peers_; // of each request
};

} // namespace castnet::comm::detail
