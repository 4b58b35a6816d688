// The seeds of the fuzz target of images, and damaged copies of them.
#include "../fuzz/image.hpp"
#include "../io/hostile.hpp"

#include <filesystem>

TEST_CASE("images: seeds of the fuzz target") {
    int seeds = 0;
    auto const folder = std::string{CASTNET_TEST_DATA} + "/../fuzz/seeds/image";
    for (auto const& entry : std::filesystem::directory_iterator{folder}) {
        CAPTURE(entry.path());
        auto const seed = castnet::io::read_file(entry.path().string());
        castnet::fuzz::image(seed);
        castnet::testing::check_mutations(seed, 4, 200, castnet::fuzz::image);
        ++seeds;
    }
    CHECK(seeds >= 10);
}
