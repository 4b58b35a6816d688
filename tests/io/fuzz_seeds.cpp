// The seeds of the fuzz targets, and damaged copies of them: what a fuzzer finds becomes a seed, so
// that it is looked at here ever after.
#include "../fuzz/readers.hpp"
#include "hostile.hpp"

#include <filesystem>

using namespace castnet;
using namespace castnet::testing;

namespace {

// Runs the target on every seed, and on copies. Returns how many seeds there are.
template <class F>
int replay(std::string const& target, F run) {
    int seeds = 0;
    auto const folder = std::string{CASTNET_TEST_DATA} + "/../fuzz/seeds/" + target;
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        CAPTURE(entry.path());
        auto const seed = io::read_file(entry.path().string());
        run(seed);
        check_mutations(seed, 4, 200, run);
        ++seeds;
    }
    return seeds;
}

} // namespace

TEST_CASE("IDX: seeds of the fuzz target") {
    CHECK(replay("idx", fuzz::idx) >= 10);
}

TEST_CASE("safetensors: seeds of the fuzz target") {
    CHECK(replay("safetensors", fuzz::safetensors) >= 12);
}

TEST_CASE("CSV: seeds of the fuzz target") {
    CHECK(replay("csv", fuzz::csv) >= 6);
}

TEST_CASE("NumPy: seeds of the fuzz target") {
    CHECK(replay("npy", fuzz::npy) >= 6);
}

TEST_CASE("NumPy's archives: seeds of the fuzz target") {
    CHECK(replay("npz", fuzz::npz) >= 12);
}

TEST_CASE("packed samples: seeds of the fuzz target") {
    CHECK(replay("packed", fuzz::packed) >= 4);
    std::filesystem::remove("fuzz.packed");
}

#ifdef CASTNET_HAS_ZLIB

TEST_CASE("gzip: seeds of the fuzz target") {
    CHECK(replay("gzip", fuzz::gzip) >= 11);
}

#endif
