// Set of a plan's different programs, numbered in the order in which they were added.
#pragma once

#include <castnet/core/list.hpp>
#include <castnet/plan/instruction.hpp>

#include <utility>

namespace castnet::ir {

class program_set {
public:
    // The number of the program with this code, which is added if it is new.
    constexpr int number_of(list<instruction> const& code) {
        unsigned hash = 0;
        for (instruction const& i : code) {
            hash = hash * 31U + i.digest();
        }
        int& first = first_with_[static_cast<int>(hash % buckets)];
        for (int p = first; p >= 0; p = next_with_[p]) {
            if (programs_[p] == code) {
                return p;
            }
        }
        next_with_.push(first);
        programs_.push(code);
        return first = programs_.size() - 1;
    }

    // All of them, by number; leaves the set empty.
    constexpr list<list<instruction>> take() { return std::move(programs_); }

private:
    static constexpr unsigned buckets = 251;
    list<list<instruction>> programs_;
    list<int> first_with_ = list<int>::filled(buckets, -1); // program of each hash
    list<int> next_with_;                                   // program of the same hash
};

} // namespace castnet::ir
