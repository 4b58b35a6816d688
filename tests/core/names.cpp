// A program may use castnet's names and have types of its own with common ones.
#include <castnet/castnet.hpp>

#include <doctest/doctest.h>

using namespace castnet;

namespace {

struct kernel_launch {
    int number = 1;
};
struct node {
    node* next = nullptr;
};
struct plan {};
struct list {};
struct graph {};
struct window {};
struct region {};
struct stage {};
struct program {};
struct results {};
struct exchange {};
struct room {};

using net = sequential<input<2>, dense<3>, relu>;

} // namespace

TEST_CASE("the names of planner and graph are not in the way") {
    [[maybe_unused]] list const l;
    [[maybe_unused]] graph const g;
    [[maybe_unused]] window const w;
    [[maybe_unused]] plan const p;
    [[maybe_unused]] region const r;
    [[maybe_unused]] stage const t;
    [[maybe_unused]] program const q;
    [[maybe_unused]] results const e;
    [[maybe_unused]] exchange const x;
    [[maybe_unused]] room const m;
    CHECK(kernel_launch{}.number == 1);
    CHECK(node{}.next == nullptr);
    CHECK(net::parameter_count == 9);
}
