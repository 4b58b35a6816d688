// The functions of NCCL that castnet calls, on the simulated machine. A call is under way until the
// program has asked a few times; what it puts on streams comes there only then. Collectives of a
// communicator are carried out one after the other, in the order of the calls.
#include "nccl.hpp"

#include <castnet/core/bfloat16.hpp>

#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

using machine::here;
using simulated_nccl::kind;

namespace {

struct world;
struct call {
    simulated_nccl::operation what;
    void const* from;
    void* to;
};

} // namespace

struct ncclComm {
    world* in;
    int rank;
    int polls = 0; // until the last call is done
    std::function<void()> then = [] {};
    bool aborted = false, finalized = false;
    std::uint64_t given = 0, done = 0;          // collectives
    std::vector<call> const* arrived = nullptr; // of the next one, when a stream has come there
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
    std::vector<call> calls;
    ncclResult_t failure = ncclSuccess;
    std::vector<ncclComm*> aborts; // which happen when the group has ended
} group;

// One operation of a group: the numbers of all ranks, or of the root, to all or to the root.
template <class T>
void carry_out(world& w, std::size_t which) {
    simulated_nccl::operation const& o = (*w.ranks[0]->arrived)[which].what;
    for (std::size_t i = 0; i < o.count; ++i) {
        T result = T(0.0F);
        for (ncclComm const* c : w.ranks) {
            if (o.what != kind::broadcast || c->rank == o.root) {
                result += static_cast<T const*>((*c->arrived)[which].from)[i];
            }
        }
        for (ncclComm const* c : w.ranks) {
            if (o.what != kind::reduce || c->rank == o.root) {
                static_cast<T*>((*c->arrived)[which].to)[i] = result;
            }
        }
    }
}

// Whether two ranks call the same.
bool agree(std::vector<call> const& a, std::vector<call> const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](call const& x, call const& y) { return x.what == y.what; });
}

// Whether the collective with this number may go on, on this rank: when it has come on all ranks,
// it is carried out.
bool comes(ncclComm* c, std::uint64_t number, std::vector<call> const& calls) {
    if (c->aborted || c->done > number) {
        return true;
    }
    if (c->done < number ||
        (c->rank == simulated_nccl::lost_rank && number >= simulated_nccl::lost_from)) {
        return false;
    }
    c->arrived = &calls;
    world& w = *c->in;
    if (!std::all_of(w.ranks.begin(), w.ranks.end(), [&](ncclComm const* other) {
            return other->arrived != nullptr && agree(*other->arrived, calls);
        })) {
        return false;
    }
    std::vector<simulated_nccl::operation> together;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        together.push_back(calls[i].what);
        calls[i].what.type == ncclFloat64    ? carry_out<double>(w, i)
        : calls[i].what.type == ncclBfloat16 ? carry_out<castnet::bfloat16>(w, i)
                                             : carry_out<float>(w, i);
    }
    simulated_nccl::carried_out.push_back(together);
    for (ncclComm* other : w.ranks) {
        other->arrived = nullptr;
        ++other->done;
    }
    ++simulated_nccl::count.collectives;
    return true;
}

void put(ncclComm* c, cudaStream_t stream, std::vector<call> const& calls) {
    auto& s = *reinterpret_cast<machine::stream*>(stream);
    auto const all = std::make_shared<std::vector<call> const>(calls);
    if (s.captures) {
        s.captures->holds.insert(c);
    }
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

// What NCCL would wait for before it ends a communicator must be gone.
void release(ncclComm* c) {
    simulated_nccl::count.endless += here().is_held(c);
    --simulated_nccl::count.open;
}
void abort(ncclComm* c) {
    c->aborted = true;
    release(c);
    ++simulated_nccl::count.aborted;
}

// A failure within a group is one of the group.
ncclResult_t failed(ncclResult_t why) {
    group.failure = group.depth > 0 ? why : group.failure;
    return why;
}

ncclResult_t collective(call const& o, ncclRedOp_t op, ncclComm* c, cudaStream_t stream) {
    if (simulated_nccl::calls.strikes()) {
        return failed(ncclSystemError);
    }
    bool const known =
        o.what.type == ncclFloat64 || o.what.type == ncclFloat32 || o.what.type == ncclBfloat16;
    if (op != ncclSum || !known || o.what.root < 0 || o.what.root >= c->in->size) {
        return failed(ncclInvalidArgument);
    }
    if (c->polls > 0 || (group.comm != nullptr && (group.comm != c || group.stream != stream))) {
        return failed(ncclInvalidUsage);
    }
    group.comm = c;
    group.stream = stream;
    group.calls.push_back(o);
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
    if (simulated_nccl::calls.strikes()) {
        return ncclSystemError;
    }
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
    if (simulated_nccl::calls.strikes()) {
        return ncclSystemError;
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
        if (comm->in->complete() && !simulated_nccl::is_stuck && --comm->polls == 0) {
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
    release(comm);
    return ncclSuccess; // its memory stays, as that of work that was aborted does
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    std::lock_guard const lock{here().mutex};
    group.depth > 0 ? group.aborts.push_back(comm) : abort(comm);
    return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
    if (simulated_nccl::calls.strikes()) {
        return ncclSystemError;
    }
    ++group.depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    std::lock_guard const lock{here().mutex};
    if (--group.depth > 0) {
        return group.failure;
    }
    if (simulated_nccl::calls.strikes()) {
        group.failure = ncclSystemError;
    }
    for (ncclComm* c : std::exchange(group.aborts, {})) {
        abort(c);
    }
    ncclResult_t const status = std::exchange(group.failure, ncclSuccess);
    if (status != ncclSuccess || group.comm == nullptr) {
        group.comm = nullptr;
        group.calls.clear();
        return status;
    }
    auto const put_all = [c = group.comm, stream = group.stream, all = group.calls] {
        put(c, stream, all);
    };
    ncclComm* const c = group.comm;
    group.comm = nullptr;
    group.calls.clear();
    return begin(c, put_all);
}
ncclResult_t ncclAllReduce(void const* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    return collective({{kind::all_reduce, type, count, 0}, from, to}, op, comm, stream);
}
ncclResult_t ncclReduce(void const* from, void* to, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
    return collective({{kind::reduce, type, count, root}, from, to}, op, comm, stream);
}
ncclResult_t ncclBroadcast(void const* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
    return collective({{kind::broadcast, type, count, root}, from, to}, ncclSum, comm, stream);
}

} // extern "C"
