// The functions of NCCL that castnet calls, on the simulated machine. A call is under way until the
// program has asked a few times; what it puts on streams comes there only then. Collectives of a
// communicator are carried out one after the other, in the order of the calls.
#include "nccl.hpp"

#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

using machine::here;

namespace {

struct world;
struct operation {
    bool broadcasts;
    ncclDataType_t type;
    void* values;
    std::size_t count;
    friend bool operator==(operation const& a, operation const& b) {
        return a.broadcasts == b.broadcasts && a.type == b.type && a.count == b.count;
    }
};

} // namespace

struct ncclComm {
    world* in;
    int rank;
    int polls = 0; // until the last call is done
    std::function<void()> then = [] {};
    bool aborted = false, finalized = false;
    std::uint64_t given = 0, done = 0; // collectives
    std::vector<operation> const* arrived =
        nullptr; // of the next one, when a stream has come there
};

namespace {

struct world {
    int size;
    std::vector<ncclComm*> ranks;
    bool complete() const { return static_cast<int>(ranks.size()) == size; }
};
std::map<std::string, world>& worlds() {
    static std::map<std::string, world> all;
    return all;
}

thread_local struct {
    int depth = 0;
    ncclComm* comm = nullptr;
    cudaStream_t stream = nullptr;
    std::vector<operation> operations;
} group;

template <class T>
void carry_out(world& w, std::size_t which) {
    operation const& first = (*w.ranks[0]->arrived)[which];
    auto const values = [&](ncclComm const* c) {
        return static_cast<T*>((*c->arrived)[which].values);
    };
    auto const root = std::find_if(w.ranks.begin(), w.ranks.end(),
                                   [](ncclComm const* c) { return c->rank == 0; });
    for (std::size_t i = 0; i < first.count; ++i) {
        T result = first.broadcasts ? values(*root)[i] : T(0);
        for (ncclComm const* c : w.ranks) {
            result += first.broadcasts ? T(0) : values(c)[i];
        }
        for (ncclComm const* c : w.ranks) {
            values(c)[i] = result;
        }
    }
}

// Whether the collective with this number may go on, on this rank: when it has come on all ranks,
// it is carried out.
bool comes(ncclComm* c, std::uint64_t number, std::vector<operation> const& operations) {
    if (c->aborted || c->done > number) {
        return true;
    }
    if (c->done < number || c->rank == simulated_nccl::lost_rank) {
        return false;
    }
    c->arrived = &operations;
    world& w = *c->in;
    if (!std::all_of(w.ranks.begin(), w.ranks.end(), [&](ncclComm const* other) {
            return other->arrived != nullptr && *other->arrived == operations;
        })) {
        return false;
    }
    for (std::size_t i = 0; i < operations.size(); ++i) {
        operations[i].type == ncclFloat64 ? carry_out<double>(w, i) : carry_out<float>(w, i);
    }
    for (ncclComm* other : w.ranks) {
        other->arrived = nullptr;
        ++other->done;
    }
    ++simulated_nccl::count.collectives;
    return true;
}

void put(ncclComm* c, cudaStream_t stream, std::vector<operation> const& operations) {
    auto& s = *reinterpret_cast<machine::stream*>(stream);
    auto const all = std::make_shared<std::vector<operation> const>(operations);
    machine::work w;
    w.number = [c, captured = s.captures != nullptr] {
        simulated_nccl::count.in_graphs += captured;
        return c->given++;
    };
    w.may_run = [=](std::uint64_t number) { return comes(c, number, *all); };
    here().put(s, std::move(w));
}

ncclResult_t begin(ncclComm* c, std::function<void()> then) {
    c->polls = 3;
    c->then = std::move(then);
    return ncclInProgress;
}

ncclResult_t collective(operation const& o, ncclComm* c, cudaStream_t stream) {
    if (c->polls > 0 || (group.comm != nullptr && (group.comm != c || group.stream != stream))) {
        return ncclInvalidUsage;
    }
    group.comm = c;
    group.stream = stream;
    group.operations.push_back(o);
    return ncclSuccess;
}

} // namespace

extern "C" {

char const* ncclGetErrorString(ncclResult_t) {
    return "simulated error";
}
char const* ncclGetLastError(ncclComm_t) {
    return "";
}
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    static int last = 0;
    std::lock_guard const lock{here().mutex};
    std::memset(id, 0, sizeof *id);
    std::string const text = "world " + std::to_string(++last);
    std::memcpy(id->internal, text.data(), text.size());
    return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
    if (config->blocking != 0 || std::strncmp(id.internal, "world ", 6) != 0) {
        return ncclInvalidArgument;
    }
    std::lock_guard const lock{here().mutex};
    world& w = worlds()[id.internal];
    w.size = size;
    *comm = new ncclComm{&w, rank};
    w.ranks.push_back(*comm);
    ++simulated_nccl::count.open;
    return begin(*comm, [] {});
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
    std::lock_guard const lock{here().mutex};
    *state = simulated_nccl::failure;
    if (*state == ncclSuccess && comm->polls > 0) {
        *state = ncclInProgress;
        if (comm->in->complete() && --comm->polls == 0) {
            comm->then();
        }
    }
    return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    std::lock_guard const lock{here().mutex};
    comm->finalized = true;
    return begin(comm, [] {});
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    std::lock_guard const lock{here().mutex};
    if (!comm->finalized || comm->polls > 0 || comm->done != comm->given) {
        return ncclInvalidUsage;
    }
    --simulated_nccl::count.open;
    return ncclSuccess; // its memory stays, as that of work that was aborted does
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    std::lock_guard const lock{here().mutex};
    comm->aborted = true;
    --simulated_nccl::count.open;
    ++simulated_nccl::count.aborted;
    return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    std::lock_guard const lock{here().mutex};
    if (--group.depth > 0 || group.comm == nullptr) {
        return ncclSuccess;
    }
    auto const put_all = [c = group.comm, stream = group.stream, all = group.operations] {
        put(c, stream, all);
    };
    ncclComm* const c = group.comm;
    group.comm = nullptr;
    group.operations.clear();
    return begin(c, put_all);
}
ncclResult_t ncclAllReduce(void const*, void* values, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
    return collective({false, type, values, count}, comm, stream);
}
ncclResult_t ncclBroadcast(void const*, void* values, std::size_t count, ncclDataType_t type, int,
                           ncclComm_t comm, cudaStream_t stream) {
    return collective({true, type, values, count}, comm, stream);
}

} // extern "C"
