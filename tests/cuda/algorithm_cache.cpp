// The cache of timed algorithms, and its file. No GPU and no library is
// needed.
#include <castnet/device/cuda/algorithm_cache.hpp>

#include "../io/hostile.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <stdexcept>

namespace cn = castnet;
namespace cuda = castnet::cuda;
using cn::testing::bytes_of, cn::testing::temporary_directory;
using cuda::algorithm_choice, cuda::algorithm_choices;

namespace {

struct candidate {
    int number;
    std::int64_t engine;
};

// A library that lists algorithms, and a GPU that times them.
struct library {
    std::vector<candidate> algorithms{{0, 10}, {2, 11}, {5, 12}};
    int fastest = 5; // its number; -1: no algorithm can be timed now
    int timed = 0;   // how often algorithms were timed

    std::optional<int> choose(cuda::algorithm_cache& cache, std::string const& what) {
        auto const chosen = cache.choose(
            what,
            [&](std::optional<int> number) {
                auto found = algorithms;
                std::erase_if(found,
                              [&](candidate const& c) { return number && c.number != *number; });
                return found;
            },
            [&](std::vector<candidate> const& all) -> std::optional<std::size_t> {
                ++timed;
                for (std::size_t i = 0; i < all.size(); ++i) {
                    if (all[i].number == fastest) {
                        return i;
                    }
                }
                return std::nullopt;
            });
        return chosen ? std::optional{chosen->number} : std::nullopt;
    }
};

algorithm_choices const some{{"conv of 64 images, cuDNN 91900, NVIDIA H200", {3, 57}},
                             {"product of 6 x 7", {0, -1}},
                             {"x", {2147483647, 9223372036854775807}}};

std::string text_of(cn::io::bytes const& content) {
    return {content.begin(), content.end()};
}

} // namespace

TEST_CASE("algorithms are timed once for each text") {
    cuda::algorithm_cache cache;
    library cudnn;
    CHECK(cudnn.choose(cache, "a") == 5);
    CHECK(cudnn.timed == 1);
    cudnn.fastest = 2; // by chance, this time
    CHECK(cudnn.choose(cache, "a") == 5);
    CHECK(cudnn.timed == 1);
    CHECK(cudnn.choose(cache, "b") == 2);
    CHECK(cudnn.timed == 2);
}

TEST_CASE("an algorithm that the list has no more, or another engine there, is chosen anew") {
    cuda::algorithm_cache cache;
    library cudnn;
    CHECK(cudnn.choose(cache, "a") == 5);
    cudnn.algorithms.back().engine = 13;
    CHECK(cudnn.choose(cache, "a") == 5);
    CHECK(cudnn.timed == 2);
    cudnn.algorithms.pop_back();
    cudnn.fastest = 2;
    CHECK(cudnn.choose(cache, "a") == 2);
    CHECK(cudnn.timed == 3);
    CHECK(cudnn.choose(cache, "a") == 2);
    CHECK(cudnn.timed == 3);
}

TEST_CASE("algorithms that cannot be timed: the first, until they can") {
    cuda::algorithm_cache cache;
    library cudnn;
    cudnn.fastest = -1;
    CHECK(cudnn.choose(cache, "a") == 0);
    cudnn.fastest = 5;
    CHECK(cudnn.choose(cache, "a") == 5);
}

TEST_CASE("a library without algorithms has no choice") {
    cuda::algorithm_cache cache;
    library cudnn;
    cudnn.algorithms.clear();
    CHECK(cudnn.choose(cache, "a") == std::nullopt);
    CHECK(cudnn.timed == 0);
}

TEST_CASE("a search that throws releases the lock") {
    cuda::algorithm_cache cache;
    auto const fail = [](std::optional<int>) -> std::vector<candidate> {
        throw std::runtime_error("no library");
    };
    auto const first = [](auto const&) { return std::optional<std::size_t>{0}; };
    CHECK_THROWS_AS(cache.choose("a", fail, first), std::runtime_error);
    CHECK_THROWS_AS(cache.choose("a", fail, first), std::runtime_error);
}

TEST_CASE("a file keeps choices from run to run, and those of other processes") {
    temporary_directory const directory;
    auto const path = directory / "algorithms";
    library cudnn;
    {
        cuda::algorithm_cache one{path}, other{path};
        CHECK(cudnn.choose(one, "a") == 5);
        cudnn.fastest = 2;
        CHECK(cudnn.choose(other, "b") == 2);
        CHECK(cudnn.timed == 2);
    }
    cuda::algorithm_cache next{path};
    CHECK(cudnn.choose(next, "a") == 5);
    CHECK(cudnn.choose(next, "b") == 2);
    CHECK(cudnn.timed == 2);
    CHECK(text_of(cn::io::read_file(path)) == "castnet algorithms 1\n5 12 a\n2 11 b\n");
    CHECK(directory.names().size() == 1);
}

TEST_CASE("the environment names the file of the process") {
    temporary_directory const directory;
    auto const path = directory / "algorithms";
    ::setenv("CASTNET_ALGORITHM_CACHE", path.c_str(), 1);
    library cudnn;
    CHECK(cudnn.choose(cuda::algorithm_cache::of_process(), "a") == 5);
    ::unsetenv("CASTNET_ALGORITHM_CACHE");
    CHECK(text_of(cn::io::read_file(path)) == "castnet algorithms 1\n5 12 a\n");
}

TEST_CASE("files of something else are not read and stay as they are; older ones are replaced") {
    temporary_directory const directory;
    library cudnn;
    auto const title = std::string{"castnet algorithms 1\n"};
    std::string const others[] = {"my model", "castnet", title + std::string(1 << 20, '\n')};
    for (std::string const& content : others) {
        auto const path = directory.put("other", bytes_of(content));
        cuda::algorithm_cache cache{path};
        CHECK(cudnn.choose(cache, "a") == 5);
        CHECK(text_of(cn::io::read_file(path)) == content);
    }
    for (std::string const& content :
         {std::string{}, std::string{"castnet algorithms 0\n2 11 a\n"}}) {
        auto const path = directory.put("old", bytes_of(content));
        cuda::algorithm_cache cache{path};
        CHECK(cudnn.choose(cache, "a") == 5);
        CHECK(text_of(cn::io::read_file(path)) == title + "5 12 a\n");
    }
}

TEST_CASE("where no file can be, the process remembers") {
    temporary_directory const directory;
    for (std::string const& path : {directory.path, directory / "missing/algorithms"}) {
        cuda::algorithm_cache cache{path};
        library cudnn;
        CHECK(cudnn.choose(cache, "a") == 5);
        CHECK(cudnn.choose(cache, "a") == 5);
        CHECK(cudnn.timed == 1);
    }
    CHECK(directory.names().empty());
}

TEST_CASE("choices as text") {
    CHECK(cuda::algorithm_choices_in(cuda::text_of(some)) == some);
    CHECK(cuda::algorithm_choices_in(cuda::text_of({})).empty());
    auto const lines = [](std::string const& text) {
        return cuda::algorithm_choices_in("castnet algorithms 1\n" + text);
    };
    CHECK(lines("3 4 a b\n") == algorithm_choices{{"a b", {3, 4}}});
    for (char const* const damaged :
         {"3 4 a", "-1 4 a\n", "3 4 \n", "3 4\n", "3  4 a\n", "3 x a\n", " 3 4 a\n", "3,4 a\n",
          "99999999999 4 a\n", "3 99999999999999999999 a\n", "\n", "a\n"}) {
        CAPTURE(damaged);
        CHECK(lines(damaged).empty());
        CHECK(lines(damaged + std::string{"\n1 2 b\n"}).contains("b"));
    }
    CHECK(cuda::algorithm_choices_in("castnet algorithms 2\n3 4 a\n").empty());
    CHECK(cuda::algorithm_choices_in("").empty());
}

TEST_CASE(
    "the beginning of a file is never taken for something else, whatever is damaged is read") {
    std::string const text = cuda::text_of(some);
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        auto const found = cuda::algorithm_choices_in(text.substr(0, size));
        CHECK(found.size() < some.size());
        CHECK(std::includes(some.begin(), some.end(), found.begin(), found.end(),
                            [](auto const& a, auto const& b) { return a.first < b.first; }));
    }
    cn::testing::check_mutations(bytes_of(text), 7, 5000, [](cn::io::bytes const& damaged) {
        for (auto const& [what, choice] : cuda::algorithm_choices_in(text_of(damaged))) {
            CHECK(choice.number >= 0);
            CHECK(!what.empty());
        }
    });
}
