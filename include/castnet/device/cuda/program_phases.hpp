// Phases of a fused program by rows, as types (plan/instruction.hpp): the program of each, and what
// its ends reduce a row to.
#pragma once

#include <castnet/device/ir.hpp>
#include <castnet/device/reducer.hpp>
#include <castnet/plan/evaluate.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace castnet::cuda {

template <class Program>
struct program_phases;
template <instruction... I>
struct program_phases<program<I...>> {
    static constexpr int count = program<I...>::phases;

    // The first instruction of a phase; its first end, of all.
    CASTNET_HD static constexpr int begin(int phase) {
        constexpr instruction all[] = {I...};
        int i = 0;
        for (; phase > 0; ++i) {
            phase -= ir::is_end(all[i]) && (i + 1 == int(sizeof...(I)) || !ir::is_end(all[i + 1]));
        }
        return i;
    }
    CASTNET_HD static constexpr int first_end(int phase) {
        constexpr instruction all[] = {I...};
        int ends = 0;
        for (int i = 0; i < begin(phase); ++i) {
            ends += ir::is_end(all[i]);
        }
        return ends;
    }
    CASTNET_HD static constexpr instruction at(int i) {
        constexpr instruction all[] = {I...};
        return all[i];
    }
    template <int Phase, std::size_t... N>
    static auto code(std::index_sequence<N...>) -> program<at(begin(Phase) + int(N))...>;
    template <int Phase>
    using phase = decltype(code<Phase>(
        std::make_index_sequence<std::size_t(begin(Phase + 1) - begin(Phase))>{}));
};

CASTNET_HD constexpr bool keeps_rows(instruction const& end) {
    return (end.b & 1) != 0;
}

// The accumulator of an end that reduces rows; nothing for others.
template <class Phase, int K, class T>
constexpr auto find_row_reducer() {
    constexpr instruction end = Phase::end_of(K);
    if constexpr (end.code == opcode::reduce && keeps_rows(end)) {
        return reducer<static_cast<reduction>(end.a), T>{};
    } else {
        return std::integral_constant<int, K>{};
    }
}
template <class Phase, int K, class T>
struct row_reducer : decltype(find_row_reducer<Phase, K, T>()) {};
template <class Phase, class T, class Ends>
struct row_reducers;
template <class Phase, class T, int... K>
struct row_reducers<Phase, T, std::integer_sequence<int, K...>> : row_reducer<Phase, K, T>... {};

} // namespace castnet::cuda
