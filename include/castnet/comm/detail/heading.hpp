// Header of a collective's messages: its identity and size.
#pragma once

#include <castnet/comm/collective.hpp>

#include <cstring>
#include <iterator>
#include <type_traits>

namespace castnet::comm::detail {

enum class operation_kind : std::uint32_t { sum, reduction, sharing, gathering, broadcast };

// Bytes that processes exchange and compare before the data.
class heading {
public:
    heading() = default;
    heading(collective const& at, operation_kind kind, std::size_t bytes)
        : step_{at.step}, bytes_{bytes}, number_{at.number}, kind_{kind} {
        std::strncpy(what_, at.what, sizeof what_ - 1);
    }

    friend bool operator==(heading const& a, heading const& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    }

    [[gnu::noinline]] std::string text() const {
        static constexpr char const* names[] = {"sum", "reduction", "sharing", "gathering",
                                                "broadcast"};
        auto const kind = static_cast<std::size_t>(kind_);
        return string_of({collective{what_, number_, step_}.text(), " (",
                          kind < std::size(names) ? names[kind] : "unknown", " of ", bytes_,
                          " bytes)"});
    }

private:
    std::uint64_t step_ = 0, bytes_ = 0;
    std::int32_t number_ = 0;
    operation_kind kind_{};
    char what_[48]{};
};
static_assert(std::is_trivially_copyable_v<heading> &&
              std::has_unique_object_representations_v<heading>); // no padding

} // namespace castnet::comm::detail
