// Known answers: the vectors that the authors of Philox publish with Random123 (kat_vectors).
#include <castnet/core/philox.hpp>

#include <doctest/doctest.h>

using castnet::philox;
using castnet::philox_block;

TEST_CASE("philox4x32-10 gives the published answers") {
    static_assert(philox({0, 0, 0, 0}, {0, 0}) ==
                  philox_block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
          philox_block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          philox_block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("uniform numbers lie in [0, 1) and use the upper bits") {
    CHECK(castnet::uniform<float>(0) == 0.0F);
    CHECK(castnet::uniform<float>(0x80000000) == 0.5F);
    CHECK(castnet::uniform<float>(0xffffffff) < 1.0F);
    CHECK(castnet::uniform<double>(0xffffffff) == castnet::uniform<float>(0xffffffff));
}

TEST_CASE("the key is the seed, low word first") {
    auto const key = castnet::key_of(0x0123456789abcdef);
    CHECK(key.k0 == 0x89abcdef);
    CHECK(key.k1 == 0x01234567);
}
