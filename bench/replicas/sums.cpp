// Sums over replicas in the memory of the host: threads, processes, and MPI_Allreduce as the OSU
// micro-benchmarks measure it (osu_allreduce: the mean time of a call); and training steps whose
// buckets are sent during the backward pass, or one after the other.
//
//   bench_replicas_sums; mpirun -np 2 bench_replicas_sums
#include <castnet/policy/distributed.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../networks.hpp"
#include "measure.hpp"

#include <cstdio>
#include <numeric>

namespace {

using namespace bench;
namespace comm = cn::comm;

constexpr int rounds = 5;

// Seconds of one of `calls` sums of `count` numbers; at the same time on all replicas.
template <class Sum>
double time_of_sums(Sum const& sum, int calls) {
    sum();
    double const start = cn::detail::monotonic_seconds();
    for (int k = 0; k < calls; ++k) {
        sum();
    }
    return (cn::detail::monotonic_seconds() - start) / calls;
}

// Calls row(bytes, calls) for messages of several sizes.
template <class Row>
void for_each_size(Row const& row) {
    for (std::size_t bytes = 64; bytes <= std::size_t{64} << 20; bytes *= 8) {
        row(bytes, bytes <= 32768 ? 2000 : bytes <= 2 << 20 ? 100 : 8);
    }
}
void print(std::vector<double> const& times, std::size_t bytes) {
    double const median = spread_of(times).median;
    std::printf("| %.2f | %.2f ", 1e6 * median, 1e-9 * double(bytes) / median);
}

void sums_of_threads() {
    std::printf("| bytes | 2 threads, µs | GB/s |\n|---:|---:|---:|\n");
    comm::threads<2> group;
    for_each_size([&](std::size_t bytes, int calls) {
        std::vector<float> values[2];
        std::vector<double> times;
        for (int k = 0; k < rounds; ++k) {
            group.run([&](int i, auto& others) {
                values[i].assign(bytes / sizeof(float), 1);
                double const t =
                    time_of_sums([&] { others.sum(std::span{values[i]}, {"sum"}); }, calls);
                if (i == 0) {
                    times.push_back(t);
                }
            });
        }
        std::printf("| %zu ", bytes);
        print(times, bytes);
        std::printf("|\n");
    });
}

void sums_of_processes(comm::mpi& all) {
    if (all.rank() == 0) {
        std::printf("| bytes | %d processes, µs | GB/s | MPI_Allreduce, µs | GB/s |\n"
                    "|---:|---:|---:|---:|---:|\n",
                    all.size());
    }
    for_each_size([&](std::size_t bytes, int calls) {
        std::size_t const count = bytes / sizeof(float);
        std::vector<float> mine(count), result(count);
        std::vector<double> ours, theirs;
        for (int k = 0; k < rounds; ++k) {
            std::fill(mine.begin(), mine.end(), 1.0F);
            MPI_Barrier(MPI_COMM_WORLD);
            ours.push_back(time_of_sums([&] { all.sum(std::span{mine}, {"sum"}); }, calls));
            std::fill(mine.begin(), mine.end(), 1.0F);
            MPI_Barrier(MPI_COMM_WORLD);
            theirs.push_back(time_of_sums(
                [&] {
                    MPI_Allreduce(mine.data(), result.data(), int(count), MPI_FLOAT, MPI_SUM,
                                  MPI_COMM_WORLD);
                },
                calls));
        }
        if (all.rank() == 0) {
            std::printf("| %zu ", bytes);
            print(ours, bytes);
            print(theirs, bytes);
            std::printf("|\n");
            std::fflush(stdout);
        }
    });
}

// Processes that send every bucket at once and wait for it.
class waiting_processes : public comm::processes<comm::single_replica> {
    struct communicator : comm::mpi {
        template <class T>
        void begin_sum(std::span<T> values, comm::collective const& at) {
            sum(values, at);
        }
    };
    communicator waiting_;

public:
    using processes::processes;
    template <class F>
    void run(F const& f) {
        f(0, waiting_);
    }
};
struct waiting : cn::policy::cpu {
    using group = waiting_processes;
};

template <class What, size_t Batch>
void compare_steps(char const* name) {
    using sending = cn::policy::distributed<cn::policy::cpu>;
    cn::model<typename What::network, sending, cn::batch<Batch>> a{cn::seed{42}};
    cn::model<typename What::network, waiting, cn::batch<Batch>> b{cn::seed{42}};
    auto train_a = cn::compile(a, What::loss, cn::adam{});
    auto train_b = cn::compile(b, What::loss, cn::adam{});
    auto const data = random_samples<typename What::dataset>(train_a.step_capacity());
    std::vector<size_t> all(data.size());
    std::iota(all.begin(), all.end(), size_t(0));
    std::vector<double> sent, waited;
    for (int k = 0; k < 2 * rounds; ++k) {
        sent.push_back(time_of_sums([&] { train_a.step(data, all); }, 40));
        waited.push_back(time_of_sums([&] { train_b.step(data, all); }, 40));
    }
    if (train_a.rank() == 0) {
        spread const s = spread_of(sent), w = spread_of(waited);
        std::printf("| %s/batch:%zu | %.0f | %.0f … %.0f | %.0f | %.0f … %.0f |\n", name, Batch,
                    1e6 * s.median, 1e6 * s.least, 1e6 * s.most, 1e6 * w.median, 1e6 * w.least,
                    1e6 * w.most);
        std::fflush(stdout);
    }
}

} // namespace

int main() {
    use_threads(1);
    comm::mpi all;
    if (all.size() == 1) {
        sums_of_threads();
        return 0;
    }
    sums_of_processes(all);
    if (all.rank() == 0) {
        std::printf(
            "\n| training step, %d processes of 1 thread | buckets during the backward pass, "
            "µs | min … max | one after the other, µs | min … max |\n"
            "|---|---:|---:|---:|---:|\n",
            all.size());
    }
    compare_steps<wide_mlp, 32>("wide_mlp");
    compare_steps<wide_mlp, 128>("wide_mlp");
    compare_steps<dropout_cnn, 32>("dropout_cnn");
    return 0;
}
