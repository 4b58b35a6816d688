// The functions of CUDA's runtime that castnet calls, on the simulated machine. What CUDA would
// refuse (work that a capture leaves behind, waiting for what is not captured, or for what is while
// it is captured, in whichever thread) is refused here, too.
#include "machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <map>
#include <sched.h>

using machine::here;

namespace {

machine::stream& of(cudaStream_t s) {
    return *reinterpret_cast<machine::stream*>(s);
}
// Work that refers to an event may outlive it.
std::shared_ptr<machine::event>& shared(cudaEvent_t e) {
    return *reinterpret_cast<std::shared_ptr<machine::event>*>(e);
}
machine::event& of(cudaEvent_t e) {
    return *shared(e);
}

// Page-locked memory, by address.
std::map<char const*, std::size_t>& pinned() {
    static std::map<char const*, std::size_t> all;
    return all;
}
bool is_pinned(void const* p) {
    auto const at = static_cast<char const*>(p);
    auto const next = pinned().upper_bound(at);
    return next != pinned().begin() && at < std::prev(next)->first + std::prev(next)->second;
}

template <class Done>
cudaError_t wait(Done const& done) {
    for (;;) {
        {
            std::lock_guard const lock{here().mutex};
            if (done()) {
                return cudaSuccess;
            }
        }
        if (!here().progress()) {
            sched_yield();
        }
    }
}
// Asking lets the machine go on.
template <class Done>
cudaError_t ask(Done const& done) {
    here().progress();
    std::lock_guard const lock{here().mutex};
    return done() ? cudaSuccess : cudaErrorNotReady;
}

// While any of these streams is captured, to wait for it is an error, and the capture's end.
template <class Which>
bool is_captured(Which const& which) {
    std::lock_guard const lock{here().mutex};
    bool captured = false;
    for (machine::stream* s : here().streams) {
        if (s->captures && which(*s)) {
            captured = s->captures->is_invalid = true;
        }
    }
    return captured;
}

bool depends(machine::graph const& g, std::size_t node, std::vector<std::size_t> const& roots) {
    return std::any_of(roots.begin(), roots.end(), [&](std::size_t r) {
        return r == node || depends(g, node, g.nodes[r].after);
    });
}

} // namespace

extern "C" {

char const* cudaGetErrorName(cudaError_t) {
    return "simulated error";
}
char const* cudaGetErrorString(cudaError_t) {
    return "of a simulated machine";
}
cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    *count = here().devices;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    machine::current = device;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    *device = machine::current;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    *properties = {};
    std::strcpy(properties->name, "simulated GPU");
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *free = *total = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    int const device = machine::current;
    auto const is_here = [device](machine::stream const& s) { return s.device == device; };
    return is_captured(is_here) ? cudaErrorStreamCaptureUnsupported : wait([is_here] {
        return std::all_of(here().streams.begin(), here().streams.end(),
                           [&](auto const* s) { return !is_here(*s) || s->queue.empty(); });
    });
}

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    if (machine::captures > 0) {
        return cudaErrorStreamCaptureUnsupported;
    }
    if (here().is_full || here().full == machine::current) {
        return cudaErrorMemoryAllocation;
    }
    *p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(*p, 0xff, bytes);
    std::lock_guard const lock{here().mutex};
    here().blocks[static_cast<char*>(*p)] = {bytes, machine::current};
    return cudaSuccess;
}
cudaError_t cudaFree(void* p) { // waits for all that runs
    wait([] {
        return std::all_of(here().streams.begin(), here().streams.end(),
                           [](auto const* s) { return s->queue.empty(); });
    });
    {
        std::lock_guard const lock{here().mutex};
        here().blocks.erase(static_cast<char*>(p));
    }
    std::free(p);
    return cudaSuccess;
}
// A pool's memory is that of a stream: it is given out at once, and taken back, and spoiled, when
// the stream comes to that.
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, cudaMemPoolProps const* wishes) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    *pool = reinterpret_cast<cudaMemPool_t>(new int{wishes->location.id});
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
    return here().calls.strikes() ? cudaErrorUnknown : cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    delete reinterpret_cast<int*>(pool);
    return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void** p, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
    if (*reinterpret_cast<int*>(pool) != of(stream).device) {
        return cudaErrorInvalidValue;
    }
    return cudaMalloc(p, bytes);
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
    std::lock_guard const lock{here().mutex};
    machine::work free;
    free.run = [p] { // (with the machine's mutex)
        auto const block = here().blocks.find(static_cast<char*>(p));
        std::memset(p, 0xff, block->second.bytes);
        here().blocks.erase(block);
        std::free(p);
    };
    here().put(of(stream), std::move(free));
    return cudaSuccess;
}
cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    if (machine::captures > 0) {
        return cudaErrorStreamCaptureUnsupported;
    }
    *p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::lock_guard const lock{here().mutex};
    pinned()[static_cast<char*>(*p)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) { // waits for all that runs
    wait([] {
        return std::all_of(here().streams.begin(), here().streams.end(),
                           [](auto const* s) { return s->queue.empty(); });
    });
    {
        std::lock_guard const lock{here().mutex};
        pinned().erase(static_cast<char*>(p));
    }
    std::free(p);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    machine::work set;
    set.run = [=] { std::memset(p, value, bytes); };
    here().put(of(stream), std::move(set));
    return cudaSuccess;
}
// Memory of the host that is not page-locked is read or written before the call ends, unless the
// machine reads it late.
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::unique_lock lock{here().mutex};
    if (to == nullptr || from == nullptr) {
        return cudaErrorInvalidValue;
    }
    if (kind == cudaMemcpyDefault) { // between GPUs, by the host's memory unless they are peers
        int const device = here().device_of(to), source = here().device_of(from);
        if (device < 0 || source < 0) {
            return cudaErrorInvalidValue;
        }
        if (of(stream).captures && device != source && !here().peers.contains({device, source})) {
            return cudaErrorStreamCaptureUnsupported;
        }
        ++here().peer_copies;
    }
    machine::work copy;
    if (kind == cudaMemcpyHostToDevice && !is_pinned(from) && !here().reads_late) {
        auto const* const first = static_cast<char const*>(from);
        copy.run = [to, data = std::vector<char>(first, first + bytes)] {
            std::copy(data.begin(), data.end(), static_cast<char*>(to)); // may be nothing
        };
    } else {
        copy.run = [=] { std::memcpy(to, from, bytes); };
    }
    here().put(of(stream), std::move(copy));
    bool const waits = kind == cudaMemcpyDeviceToHost && !is_pinned(to);
    lock.unlock();
    return waits ? wait([=] { return of(stream).queue.empty(); }) : cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    *can = here().has_peers;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    if (!here().has_peers || peer == machine::current) {
        return cudaErrorInvalidDevice;
    }
    bool const is_new = here().peers.emplace(machine::current, peer).second;
    return is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int device, void const* from, int source,
                                std::size_t bytes, cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    if (!here().is_memory_of(device, to) || !here().is_memory_of(source, from)) {
        return cudaErrorInvalidValue;
    }
    if (of(stream).captures) {
        return cudaErrorStreamCaptureUnsupported;
    }
    machine::work copy;
    copy.run = [=] { std::memcpy(to, from, bytes); };
    here().put(of(stream), std::move(copy));
    ++here().peer_copies;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    auto* const s = new machine::stream;
    s->device = machine::current;
    std::lock_guard const lock{here().mutex};
    here().streams.push_back(s);
    *stream = reinterpret_cast<cudaStream_t>(s);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    wait([=] { return of(stream).queue.empty(); });
    std::lock_guard const lock{here().mutex};
    std::erase(here().streams, &of(stream));
    delete &of(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    return is_captured([=](auto const& s) { return &s == &of(stream); })
               ? cudaErrorStreamCaptureUnsupported
               : wait([=] { return of(stream).queue.empty(); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    return is_captured([=](auto const& s) { return &s == &of(stream); })
               ? cudaErrorStreamCaptureUnsupported
               : ask([=] { return of(stream).queue.empty(); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    auto made = std::make_shared<machine::event>();
    made->device = machine::current;
    made->knows_time = (flags & cudaEventDisableTiming) == 0;
    *e = reinterpret_cast<cudaEvent_t>(new std::shared_ptr<machine::event>{std::move(made)});
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    std::lock_guard const lock{here().mutex};
    delete &shared(e);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    if (of(e).device != of(stream).device) {
        return cudaErrorInvalidResourceHandle;
    }
    of(e).captured = of(stream).captures;
    if (of(e).captured) {
        of(e).nodes = of(stream).last;
        return cudaSuccess;
    }
    machine::work record;
    record.run = [to = shared(e), number = ++of(e).recorded] {
        to->done = std::max(to->done, number);
        to->time = here().clock;
    };
    here().put(of(stream), std::move(record));
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    machine::stream& s = of(stream);
    ++here().waits;
    if (of(e).captured) {
        if (s.captures && s.captures != of(e).captured) {
            return cudaErrorStreamCaptureMerge;
        }
        if (!s.captures) { // joins the capture
            s.captures = of(e).captured;
            s.last.clear();
        }
        s.last.insert(s.last.end(), of(e).nodes.begin(), of(e).nodes.end());
        return cudaSuccess;
    }
    if (s.captures) {
        return cudaErrorStreamCaptureIsolation;
    }
    machine::work waiting;
    waiting.may_run = [on = shared(e), number = of(e).recorded](std::uint64_t) {
        return on->done >= number;
    };
    here().put(s, std::move(waiting));
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    return of(e).captured ? cudaErrorCapturedEvent
                          : wait([=] { return of(e).done == of(e).recorded; });
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    return of(e).captured ? cudaErrorCapturedEvent
                          : ask([=] { return of(e).done == of(e).recorded; });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    for (machine::event const* e : {&of(begin), &of(end)}) {
        if (!e->knows_time || e->recorded == 0) {
            return cudaErrorInvalidResourceHandle;
        }
        if (e->done != e->recorded) {
            return cudaErrorNotReady;
        }
    }
    *milliseconds = static_cast<float>(of(end).time - of(begin).time);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    *status = of(stream).captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    {
        std::lock_guard const lock{here().mutex};
        of(stream).captures = std::make_shared<machine::graph>();
        of(stream).last.clear();
        ++machine::captures;
    }
    sched_yield(); // what other threads do meanwhile must not matter
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
    std::lock_guard const lock{here().mutex};
    bool const fails = here().calls.strikes() || here().reports_at_capture_end;
    auto const g = of(stream).captures;
    bool joined = true;
    --machine::captures;
    for (machine::stream* s : here().streams) {
        if (s->captures == g) {
            for (std::size_t node : s->last) {
                joined = joined && depends(*g, node, of(stream).last);
            }
            s->captures = nullptr;
        }
    }
    auto const* const made = new std::shared_ptr<machine::graph>{g};
    here().graphs.insert(made);
    *out = reinterpret_cast<cudaGraph_t>(const_cast<std::shared_ptr<machine::graph>*>(made));
    return fails           ? cudaErrorUnknown
           : g->is_invalid ? cudaErrorStreamCaptureInvalidated
           : joined        ? cudaSuccess
                           : cudaErrorStreamCaptureUnjoined;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t g, unsigned long long) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    auto* const made =
        new machine::executable{*reinterpret_cast<std::shared_ptr<machine::graph>*>(g)};
    here().executables.insert(made);
    *out = reinterpret_cast<cudaGraphExec_t>(made);
    return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    reinterpret_cast<machine::executable*>(exec)->is_uploaded = true;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    std::lock_guard const lock{here().mutex};
    auto* const made = reinterpret_cast<std::shared_ptr<machine::graph>*>(g);
    here().graphs.erase(made);
    delete made;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    std::lock_guard const lock{here().mutex};
    auto* const made = reinterpret_cast<machine::executable*>(exec);
    here().executables.erase(made);
    delete made;
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    if (here().calls.strikes()) {
        return cudaErrorUnknown;
    }
    std::lock_guard const lock{here().mutex};
    if (of(stream).device != machine::current) { // as for kernels
        return cudaErrorInvalidResourceHandle;
    }
    auto& made = *reinterpret_cast<machine::executable*>(exec);
    here().launches_that_allocate += !made.is_uploaded;
    made.is_uploaded = true;
    auto const g = made.of;
    machine::launch l{g, {}, std::vector<bool>(g->nodes.size()), g->nodes.size()};
    for (auto const& node : g->nodes) {
        l.numbers.push_back(node.what.number());
    }
    if (l.left > 0) {
        of(stream).queue.push_back({{}, 0, std::make_shared<machine::launch>(std::move(l))});
    }
    ++here().launches;
    return cudaSuccess;
}

} // extern "C"
