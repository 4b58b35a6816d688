// list<T> at compile time and at run time, from one body.
#include <castnet/core/list.hpp>

#include <doctest/doctest.h>

using castnet::ir::list;

namespace {

constexpr bool grows_and_keeps_its_order() {
    list<int> l;
    for (int i = 0; i < 100; ++i) {
        l.push(i);
    }
    bool good = l.size() == 100 && l[0] == 0 && l[99] == 99 && l.back() == 99;
    l.erase(0);
    l.insert(50, -1);
    good = good && l.size() == 100 && l[0] == 1 && l[49] == 50 && l[50] == -1 && l[51] == 51;
    int sum = 0;
    for (int x : l) {
        sum += x;
    }
    return good && sum == 4949;
}

constexpr bool copies_and_moves() {
    list<int> a{1, 2, 3};
    list<int> b = a;
    b.push(4);
    list<int> c = static_cast<list<int>&&>(b);
    b = a;
    return a == list<int>{1, 2, 3} && c == list<int>{1, 2, 3, 4} && b == a && !(a == c);
}

constexpr bool holds_lists() {
    list<list<int>> l;
    for (int i = 0; i < 20; ++i) {
        l.push(list<int>::filled(i, i));
    }
    l.clear();
    l.push({7});
    return l.size() == 1 && l[0] == list<int>{7} && !l.empty();
}

static_assert(grows_and_keeps_its_order());
static_assert(copies_and_moves());
static_assert(holds_lists());

} // namespace

TEST_CASE("a list grows, inserts and erases in order") {
    CHECK(grows_and_keeps_its_order());
}
TEST_CASE("lists are values") {
    CHECK(copies_and_moves());
}
TEST_CASE("lists of lists") {
    CHECK(holds_lists());
}
