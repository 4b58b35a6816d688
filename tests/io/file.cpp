#include <castnet/io/cursor.hpp>

#include "hostile.hpp"

#include <csignal>
#include <cstdint>
#include <sys/resource.h>

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

TEST_CASE("a file comes back as it was written") {
    temporary_directory const directory;
    io::bytes content(100'000);
    for (size_t i = 0; i < content.size(); ++i) {
        content[i] = static_cast<unsigned char>(i * i);
    }
    auto const path = directory / "content";
    for (size_t const size : {size_t{0}, size_t{1}, size_t{65536}, content.size()}) {
        io::atomic_file file{path};
        file.write(std::span{content}.first(size));
        file.commit();
        CHECK(io::read_file(path) == io::bytes(content.begin(), content.begin() + long(size)));
    }
    CHECK(io::exists(path));
    CHECK(directory.names().size() == 1);
}

TEST_CASE("a file of unknown size is read to its end") {
    CHECK(io::read_file("/proc/self/status").size() > 100);
}

TEST_CASE("a file that is larger than it may be is refused before it is read") {
    temporary_directory const directory;
    auto const path = directory.put("four", {1, 2, 3, 4});
    CHECK(io::read_file(path, 4).size() == 4);
    CHECK(refusal([&] { io::read_file(path, 3); }) ==
          ("castnet: " + path + ": the file has more than 3 bytes").c_str());
    // sparse, and larger than any memory
    REQUIRE(::truncate(path.c_str(), off_t{1} << 42) == 0);
    CHECK(refusal([&] { io::read_file(path, 1 << 20); }) == Contains("more than 1048576 bytes"));
    CHECK(refusal([] { io::read_file("/dev/zero", 1 << 20); }) ==
          Contains("more than 1048576 bytes"));
}

TEST_CASE("what cannot be read says which file and why") {
    temporary_directory const directory;
    auto const read = [](std::string const& path) { return refusal([&] { io::read_file(path); }); };
    auto const missing = directory / "missing";
    CHECK(read(missing) ==
          ("castnet: " + missing + ": cannot open the file for reading: No such file or directory")
              .c_str());
    CHECK(read(directory.path) == Contains("Is a directory"));
    CHECK(read("") == Contains("No such file"));
    CHECK(read("/proc/self/mem") == Contains("cannot read the file"));
    auto const secret = directory.put("secret", {1});
    ::chmod(secret.c_str(), 0);
    if (::geteuid() == 0) {
        MESSAGE("skipped: root may read everything");
    } else {
        CHECK(read(secret) == Contains("Permission denied"));
    }
}

TEST_CASE("without commit the old file stays") {
    temporary_directory const directory;
    auto const path = directory.put("model", bytes_of("old"));
    {
        io::atomic_file file{path};
        file.write("half of the new conten");
        CHECK(directory.names().size() == 2);
    }
    CHECK(io::read_file(path) == bytes_of("old"));
    CHECK(directory.names().size() == 1);
    {
        io::atomic_file const file{directory / "never"};
    }
    CHECK(!io::exists(directory / "never"));
}

TEST_CASE("temporary files that a crash left behind do not stand in the way") {
    temporary_directory const directory;
    auto const left_over = directory / "model.tmp-" + std::to_string(::getpid()) + "-";
    for (int i = 0; i < 100; ++i) {
        std::fclose(std::fopen((left_over + std::to_string(i)).c_str(), "w"));
    }
    io::atomic_file file{directory / "model"};
    file.write("new");
    file.commit();
    CHECK(io::read_file(directory / "model") == bytes_of("new"));
    CHECK(directory.names().size() == 101);
}

TEST_CASE("a full disk leaves the old file and no other") {
    temporary_directory const directory;
    auto const path = directory.put("model", bytes_of("old"));
    // A limit on the size of files stands in for the disk.
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    auto const handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit const small{1000, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    auto const message = refusal([&] {
        io::atomic_file file{path};
        file.write(io::bytes(5000));
        file.commit();
    });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK(message == Contains("cannot write the file: File too large"));
    CHECK(io::read_file(path) == bytes_of("old"));
    CHECK(directory.names().size() == 1);
}

TEST_CASE("only files are replaced") {
    temporary_directory const directory;
    auto const write = [](std::string const& path) {
        return refusal([&] { io::atomic_file{path}.commit(); });
    };
    ::mkdir((directory / "inner").c_str(), 0777);
    CHECK(write(directory / "inner") == Contains("a directory or a device"));
    CHECK(write("/dev/null") == Contains("a directory or a device"));
    CHECK(write(directory / "missing/model") == Contains("No such file or directory"));
    CHECK(write(directory / std::string(300, 'x')) == Contains("File name too long"));
    CHECK(directory.names() == std::vector<std::string>{"inner"});
}

TEST_CASE("a file that became a directory meanwhile is not replaced") {
    temporary_directory const directory;
    auto const path = directory / "model";
    CHECK(refusal([&] {
              io::atomic_file file{path};
              ::mkdir(path.c_str(), 0777);
              file.commit();
          }) == Contains("cannot rename"));
    CHECK(directory.names() == std::vector<std::string>{"model"});
}

TEST_CASE("a directory without permission to write") {
    temporary_directory const directory;
    if (::geteuid() == 0) {
        MESSAGE("skipped: root may write everywhere");
        return;
    }
    ::chmod(directory.path.c_str(), 0500);
    CHECK_THROWS_WITH_AS(io::atomic_file{directory / "model"}, Contains("Permission denied"),
                         file_error);
    ::chmod(directory.path.c_str(), 0700);
}

TEST_CASE("links are followed and permissions kept") {
    temporary_directory const directory;
    auto const path = directory.put("epoch-3", bytes_of("old"));
    ::chmod(path.c_str(), 0640);
    REQUIRE(::symlink("epoch-3", (directory / "latest").c_str()) == 0);
    io::atomic_file file{directory / "latest"};
    file.write("new");
    file.commit();
    CHECK(io::read_file(path) == bytes_of("new"));
    struct stat status{};
    REQUIRE(::lstat((directory / "latest").c_str(), &status) == 0);
    CHECK(S_ISLNK(status.st_mode));
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a cursor reads both byte orders and stops at the end") {
    io::bytes const content{1, 2, 3, 4, 0x3f, 0x80, 0, 0, 0xff};
    std::string const name = "some.file";
    io::cursor in{content, name};
    CHECK(in.little<std::uint16_t>("a") == 0x0201);
    CHECK(in.big<std::uint16_t>("b") == 0x0304);
    CHECK(in.big<float>("c") == 1.0F);
    CHECK(in.position() == 8);
    CHECK(refusal([&] { in.big<std::int32_t>("the count"); }) ==
          "castnet: some.file: byte 8: the count needs 4 bytes, found 1; the file is cut short or "
          "not of this format");
    CHECK(in.little<std::int8_t>("d") == -1);
    CHECK(in.remaining() == 0);
    CHECK(in.take(0, "nothing").empty());
    CHECK_THROWS_AS(in.take(~size_t{0}, "everything"), file_error);
}
