// Threads that are not there: the system starts no more, or this is a child of fork().
#include <castnet/comm/threads.hpp>
#include <castnet/core/own_threads.hpp>
#include <castnet/device/cpu/thread_team.hpp>

#include <atomic>
#include <cstdio>
#include <doctest/doctest.h>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace castnet;

namespace {

// While it lives, the process has memory for two more threads, but not for ten.
struct few_threads {
    static constexpr std::size_t stack = std::size_t{1} << 30;
    std::size_t stack_before = 0;
    rlimit before{};

    few_threads() {
        unsigned long pages = 0;
        if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
            CHECK(std::fscanf(file, "%lu", &pages) == 1);
            std::fclose(file);
        }
        set_stack(stack);
        getrlimit(RLIMIT_AS, &before);
        rlimit now = before;
        now.rlim_cur = pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) + 5 * stack / 2;
        CHECK(setrlimit(RLIMIT_AS, &now) == 0);
    }
    ~few_threads() {
        setrlimit(RLIMIT_AS, &before);
        set_stack(stack_before);
    }

    void set_stack(std::size_t size) {
        pthread_attr_t attributes;
        pthread_getattr_default_np(&attributes);
        if (stack_before == 0) {
            pthread_attr_getstacksize(&attributes, &stack_before);
        }
        pthread_attr_setstacksize(&attributes, size);
        CHECK(pthread_setattr_default_np(&attributes) == 0);
        pthread_attr_destroy(&attributes);
    }
};

// What f throws while the process cannot start ten threads.
template <class F>
doctest::String refusal(F f) {
    few_threads const scarce;
    try {
        f();
    } catch (error const& e) {
        return {e.what()};
    }
    return {"(accepted)"};
}

} // namespace

TEST_CASE("where the system starts no more threads, those that there are end") {
    auto const message = "castnet: cannot start a thread: ";
    std::atomic<int> ended = 0;
    std::size_t started = 0;
    CHECK(refusal([&] {
              detail::own_threads threads;
              for (int i = 0; i < 10; ++i) {
                  threads.start([&] { ++ended; });
                  ++started;
              }
          }) == doctest::Contains(message));
    CHECK(started > 0);
    CHECK(ended == static_cast<int>(started));
    CHECK(refusal([] { cpu::thread_team{10}; }) == doctest::Contains(message));
}

TEST_CASE("replicas whose threads could not be started get them in a later call") {
    comm::threads<10> replicas;
    std::atomic<int> calls = 0;
    auto const call = [&] { replicas.run([&](int, auto&) { ++calls; }); };
    CHECK(refusal(call) == doctest::Contains("castnet: cannot start a thread: "));
    CHECK(calls == 0);
    call();
    CHECK(calls == 10);
}

TEST_CASE("a child of fork() has no team, and ends without it") {
    cpu::thread_team team{2};
    pid_t const child = fork();
    if (child == 0) {
        alarm(20); // rather than to wait for ever
        bool refused = false;
        try {
            cpu::thread_team& of_parent = team;
            of_parent.run([](int) {});
        } catch (error const& e) {
            refused = std::string{e.what()}.find("called fork()") != std::string::npos;
        }
        team.~thread_team();
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    std::atomic<int> calls = 0;
    team.run([&](int) { ++calls; });
    CHECK(calls == 2);
}

TEST_CASE("a child of fork() computes on one thread") {
    auto const sum = [] {
        std::vector<long> parts(100);
        cpu::parallel_for(100, 1e12, [to = parts.data()](std::ptrdiff_t i) { to[i] = i; });
        long all = 0;
        for (long const part : parts) {
            all += part;
        }
        return all;
    };
    CHECK(sum() == 4950);
    pid_t const child = fork();
    if (child == 0) {
        alarm(20);
        _exit(sum() == 4950 && cpu::thread_count() == 1 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(sum() == 4950);
}
