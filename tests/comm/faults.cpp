// A replica that fails in every way that a thread can: the program ends in time and says why, and a
// fit goes on from its checkpoint as if nothing had happened. (mpi/fault.sh is the same of
// processes.)
#include <castnet/policy/mirrored.hpp>
#include <castnet/train/checkpoint.hpp>

#include "replicas.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <unistd.h>

using namespace replicas_test;

namespace {

// In the third epoch, replicas besides the caller's fail where they read a sample.
struct faulty_set : data_set {
    faulty_set(data_set const& all, std::string const& how) : data_set{all}, fault{how} {}
    std::string fault;

    static inline std::atomic<std::size_t> reads{0};
    static inline std::thread::id const caller = std::this_thread::get_id();

    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* to) const {
        if (++reads > 2 * size() + 10 && std::this_thread::get_id() != caller) {
            if (fault == "exception") {
                throw std::runtime_error("a replica failed on purpose");
            } else if (fault == "exit") {
                std::exit(3);
            } else if (fault == "kill") {
                std::raise(SIGKILL);
            } else if (fault == "stop") {
                for (;;) {
                    pause();
                }
            }
        }
        data_set::copy_input<I>(sample, to);
    }
};

auto fitted(std::string const& fault, std::string const& checkpoint) {
    using three = cn::policy::mirrored<cn::policy::cpu, 3>;
    cn::model<network, three, cn::batch<4>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    if (std::filesystem::exists(checkpoint)) {
        cn::load(training, checkpoint);
    }
    training.fit(faulty_set{samples(43), fault},
                 {.epochs = 4,
                  .verbose = cn::verbosity::silent,
                  .checkpoint = cn::checkpoint(training, checkpoint, 3)});
    return everything(model);
}

struct temporary_file {
    explicit temporary_file(char const* which)
        : name{(std::filesystem::temp_directory_path() /
                ("castnet_faults_" + std::to_string(getpid()) + which))
                   .string()} {}
    ~temporary_file() { std::filesystem::remove(name); }
    std::string name;
};

} // namespace

TEST_CASE("the victim" * doctest::skip()) { // a program of its own
    fitted(std::getenv("CASTNET_FAULT"), std::getenv("CASTNET_CHECKPOINT"));
}

TEST_CASE("a program of which a replica fails ends in time and goes on from its checkpoint") {
    temporary_file const fresh{"fresh"};
    auto const uninterrupted = fitted("none", fresh.name);
    struct {
        char const *fault, *expected;
        int status;
    } const cases[] = {
        {"exception", "a replica failed on purpose", 1},
        {"exit", "", 3},
        {"kill", "", 128 + SIGKILL},
        {"stop", "waited 1 s for replica", 1},
    };
    auto const program = std::filesystem::read_symlink("/proc/self/exe").string();
    for (auto const& [fault, expected, status] : cases) {
        CAPTURE(fault);
        temporary_file const checkpoint{"checkpoint"}, output{"output"};
        auto const start = std::chrono::steady_clock::now();
        std::string const command =
            "ulimit -c 0; CASTNET_TIMEOUT=1 CASTNET_FAULT=" + std::string(fault) +
            " CASTNET_CHECKPOINT=" + checkpoint.name + " '" + program +
            "' --no-skip --test-case='the victim' --source-file='*/faults.cpp' > " + output.name +
            " 2>&1";
        int const ended = std::system(command.c_str());
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
        CHECK(WEXITSTATUS(ended) == status);
        std::ifstream in{output.name};
        std::string const said{std::istreambuf_iterator<char>{in}, {}};
        CAPTURE(said);
        CHECK(said.find(expected) != std::string::npos);
        CHECK(std::filesystem::exists(checkpoint.name));
        CHECK(fitted("none", checkpoint.name) == uninterrupted);
    }
}
