#include <castnet/io/atomic_file.hpp>

#include "hostile.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>

using namespace castnet;
using namespace castnet::testing;
using doctest::Contains;

namespace {

// What the next calls of fsync do: 0, or an error. Then it works as always.
std::vector<int> syncs;

struct failing_syncs {
    explicit failing_syncs(std::vector<int> results) { syncs = std::move(results); }
    failing_syncs(failing_syncs const&) = delete;
    failing_syncs& operator=(failing_syncs const&) = delete;
    ~failing_syncs() { syncs.clear(); }
};

} // namespace

// In the place of the system's.
extern "C" int fsync(int) {
    if (syncs.empty()) {
        return 0;
    }
    errno = syncs.front();
    syncs.erase(syncs.begin());
    return errno == 0 ? 0 : -1;
}

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
          ("castnet: " + path + ": holds more than 3 bytes").c_str());
    // sparse, and larger than any memory
    REQUIRE(::truncate(path.c_str(), off_t{1} << 42) == 0);
    CHECK(refusal([&] { io::read_file(path, 1 << 20); }) == Contains("more than 1048576 bytes"));
    CHECK(refusal([] { io::read_file("/proc/self/status", 10); }) ==
          Contains("more than 10 bytes"));
}

TEST_CASE("what cannot be read says which file and why") {
    temporary_directory const directory;
    auto const read = [](std::string const& path) { return refusal([&] { io::read_file(path); }); };
    auto const missing = directory / "missing";
    CHECK(read(missing) ==
          ("castnet: " + missing + ": cannot open the file for reading: No such file or directory")
              .c_str());
    CHECK(read(directory.path) ==
          ("castnet: " + directory.path + ": is a directory, expected a regular file").c_str());
    CHECK(read("") == "castnet: \"\": the name of the file is empty");
    CHECK(refusal([&] { io::check_writable(""); }) == Contains("the name of the file is empty"));
    auto const longer = directory / std::string("a\0b", 3);
    CHECK(read(longer) == Contains("/a: after this the file's name has a byte of 0"));
    CHECK(refusal([&] { io::atomic_file{longer}; }) == Contains("a byte of 0"));
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

TEST_CASE("temporary files of processes that were killed are removed, those of others are not") {
    temporary_directory const directory;
    auto const path = directory / "model";
    for (auto const* name : {"model.tmp-1-0", "model.tmp-123-45"}) { // of long ago
        directory.put(name, bytes_of("half"));
    }
    std::vector<std::string> kept{"model.tmp-1-", "model.tmp-1-x", "model.tmp-1", "model2.tmp-1-0"};
    for (auto const& name : kept) { // of someone else
        directory.put(name, {});
    }
    REQUIRE(::symlink("elsewhere", (directory / "model.tmp-2-2").c_str()) == 0);
    kept.emplace_back("model.tmp-2-2");

    int ready[2], go[2]; // pipes
    REQUIRE((::pipe(ready) == 0 && ::pipe(go) == 0));
    char byte = 0;
    auto const writer = [&](bool killed) {
        auto const process = ::fork();
        if (process == 0) {
            io::atomic_file file{path};
            file.write("from the child");
            (void)!::write(ready[1], &byte, 1);
            if (killed) {
                ::pause();
            }
            (void)!::read(go[0], &byte, 1);
            file.commit();
            ::_exit(0);
        }
        (void)!::read(ready[0], &byte, 1);
        return process;
    };
    auto const write_here = [&] {
        io::atomic_file file{path};
        file.write("from the parent");
        file.commit();
    };
    auto const temporaries = [&] { return directory.names().size() - kept.size() - 1; };
    directory.put("model", bytes_of("old"));

    auto const killed = writer(true);
    CHECK(temporaries() == 1); // those of long ago are gone
    ::kill(killed, SIGKILL);
    ::waitpid(killed, nullptr, 0);
    CHECK(temporaries() == 1);
    auto const living = writer(false);
    CHECK(temporaries() == 1); // of the living one
    write_here();
    CHECK(io::read_file(path) == bytes_of("from the parent"));
    CHECK(temporaries() == 1);
    (void)!::write(go[1], &byte, 1);
    int status = -1;
    ::waitpid(living, &status, 0);
    CHECK(status == 0);
    CHECK(io::read_file(path) == bytes_of("from the child"));
    CHECK(temporaries() == 0);
    auto names = directory.names();
    for (auto const& name : kept) {
        CHECK(std::find(names.begin(), names.end(), name) != names.end());
    }
    for (int const fd : {ready[0], ready[1], go[0], go[1]}) {
        ::close(fd);
    }
}

TEST_CASE("writers of one file at the same time: one of them is complete in the end") {
    temporary_directory const directory;
    auto const path = directory / "model";
    std::vector<std::thread> writers;
    std::atomic<int> failed{0};
    for (char letter = 'a'; letter < 'e'; ++letter) {
        writers.emplace_back([&, letter] {
            for (int i = 0; i < 50; ++i) {
                try {
                    io::atomic_file file{path};
                    file.write(std::string(5000, letter));
                    file.commit();
                } catch (file_error const&) {
                    ++failed;
                }
            }
        });
    }
    for (auto& writer : writers) {
        writer.join();
    }
    CHECK(failed == 0);
    auto const content = io::read_file(path);
    CHECK(content == io::bytes(5000, content.at(0)));
    CHECK(directory.names().size() == 1);
}

TEST_CASE("any name that the system takes can be written") {
    temporary_directory const directory;
    for (auto const size : {247U, 248U, 255U}) {
        auto const path = directory / std::string(size, 'n');
        directory.put(std::string(200, 'n') + ".tmp-1-1", {}); // left behind
        io::atomic_file file{path};
        file.write("content");
        file.commit();
        CHECK(io::read_file(path) == bytes_of("content"));
    }
    CHECK(directory.names().size() == 3);
}

TEST_CASE("a call that a signal interrupts is made again") {
    temporary_directory const directory;
    failing_syncs const interrupted{{EINTR, EINTR, 0, EINTR, 0}};
    io::atomic_file file{directory / "model"};
    file.write("new");
    file.commit();
    CHECK(syncs.empty());
    CHECK(io::read_file(directory / "model") == bytes_of("new"));
}

TEST_CASE("what does not come to the disk is an error") {
    temporary_directory const directory;
    auto const path = directory.put("model", bytes_of("old"));
    auto const write = [&] {
        io::atomic_file file{path};
        file.write("new");
        file.commit();
    };
    {
        failing_syncs const of_file{{EIO}};
        CHECK(refusal(write) == Contains("cannot bring the file to the disk: Input/output error"));
        CHECK(io::read_file(path) == bytes_of("old"));
    }
    {
        failing_syncs const of_folder{{0, EIO}};
        CHECK(refusal(write) == Contains("the file is written, but cannot bring its folder to the "
                                         "disk: Input/output error"));
        CHECK(io::read_file(path) == bytes_of("new"));
    }
    failing_syncs const folders_cannot{{0, EINVAL}};
    CHECK(refusal(write) == "(accepted)");
    CHECK(directory.names().size() == 1);
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
    CHECK(write(directory / "inner") == Contains("is a directory, expected"));
    CHECK(write("/dev/null") == Contains("is a device, expected"));
    CHECK(write(directory / "missing/model") == Contains("No such file or directory"));
    auto const too_long = directory / std::string(300, 'x');
    CHECK(write(too_long) == Contains("File name too long"));
    CHECK(refusal([&] { io::check_writable(too_long); }) == Contains("File name too long"));
    directory.put("file", {});
    CHECK(write(directory / "file/model") ==
          Contains("file/model: cannot write a file of this name: Not a directory"));
    ::unlink((directory / "file").c_str());
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
    ::chmod(path.c_str(), 06640);
    REQUIRE(::symlink("epoch-3", (directory / "latest").c_str()) == 0);
    io::atomic_file file{directory / "latest"};
    file.write("new");
    file.commit();
    CHECK(io::read_file(path) == bytes_of("new"));
    // also one that leads to nothing yet, and one to another link
    ::mkdir((directory / "runs").c_str(), 0777);
    REQUIRE(::symlink("runs/last", (directory / "last").c_str()) == 0);
    REQUIRE(::symlink("last", (directory / "newest").c_str()) == 0);
    io::atomic_file second{directory / "newest"};
    second.write("first");
    second.commit();
    CHECK(io::read_file(directory / "runs/last") == bytes_of("first"));
    ::unlink((directory / "runs/last").c_str());
    REQUIRE(::symlink("round", (directory / "round").c_str()) == 0);
    CHECK(refusal([&] { io::atomic_file{directory / "round"}; }) == Contains("symbolic link"));
    struct stat status{};
    REQUIRE(::lstat((directory / "last").c_str(), &status) == 0);
    CHECK(S_ISLNK(status.st_mode));
    REQUIRE(::lstat((directory / "latest").c_str(), &status) == 0);
    CHECK(S_ISLNK(status.st_mode));
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("numbers are read in both byte orders, and not behind the end") {
    io::bytes const content{1, 2, 3, 4, 0x3f, 0x80, 0, 0, 0xff};
    io::memory_source in{content, "some.file"};
    CHECK(in.little<std::uint16_t>("a") == 0x0201);
    CHECK(in.big<std::uint16_t>("b") == 0x0304);
    CHECK(in.big<float>("c") == 1.0F);
    CHECK(in.position() == 8);
    CHECK(in.remaining() == 1);
    CHECK(refusal([&] { in.take(4, "the name"); }) ==
          "castnet: some.file: byte 8: the name needs 4 bytes, found 1; the file is cut short or "
          "not of this format");
    CHECK(refusal([&] { in.check_end("the numbers"); }) ==
          "castnet: some.file: byte 8: found more bytes after the numbers; the file is damaged or "
          "not of this format");
    CHECK(in.take(0, "nothing").empty());
    in.check_end("the numbers");
    CHECK(refusal([&] { in.big<std::int32_t>("the count"); }) == Contains("byte 9: the count"));
    CHECK_THROWS_AS(in.take(~size_t{0}, "everything"), file_error);
}
