// Assignment of the remaining values to workspace buffers, each reused after its last read.
#pragma once

#include <castnet/plan/block_allocator.hpp>
#include <castnet/plan/buffer_assignment.hpp>
#include <castnet/plan/operand_reuse.hpp>
#include <castnet/plan/parameter_copy.hpp>
#include <castnet/plan/stage.hpp>

namespace castnet::ir {

template <class Plan>
class workspace_assignment {
public:
    constexpr workspace_assignment(Plan& p, graph_view const& g, array_use const* uses,
                                   buffer_assignment& buffers, lifetimes_view const& lives,
                                   int chunks, int workers, bool keeps, std::ptrdiff_t alignment,
                                   int bf16_per_value)
        : p_{p}, g_{g}, nodes_{g.nodes}, uses_{uses}, buffers_{buffers}, lives_{lives},
          reuse_{g.nodes, uses, buffers, lives}, chunks_{chunks}, workers_{workers}, keeps_{keeps},
          alignment_{alignment}, copy_{p, bf16_per_value},
          stages_{list<int>::filled(Plan::sizes.launches + 1, Plan::sizes.stages)},
          stage_of_{stages_.data()} {}

    constexpr void run() {
        number_stages();
        place_kept();
        std::ptrdiff_t end = 0;
        for (int d = 0; d < Plan::sizes.devices; ++d) {
            element_range& here = p_.devices[d].workspace;
            here.offset = end;
            end = place_values(d, end);
            here.count = end - here.offset;
        }
        p_.elements(region::workspace) = end;
        p_.elements(region::prepared) = prepared_end_;
        if constexpr (Plan::sizes.devices > 1) {
            enter_copied();
        }
    }

private:
    constexpr array_ref ref(array_use const& use) const {
        return use.node < 0 ? copy_.whole(use)
               : use.is_bf16 && nodes_[lives_.base[use.node]].kind == op::parameter
                   ? copy_.of(buffers_.ref(use.node), nodes_[use.node].device)
                   : buffers_.ref(use.node);
    }

    constexpr void number_stages() {
        for (int i = 0; i < Plan::sizes.stages; ++i) {
            for (int k = p_.stages[i].first; k < p_.stages[i].last; ++k) {
                stage_of_[k] = i;
            }
        }
    }

    // Values that are computed once and read in every run are kept. One that is read only to
    // prepare another needs its memory no longer than that.
    constexpr void place_kept() {
        if (!keeps_) {
            return;
        }
        list<char> always = list<char>::with_size(g_.node_count); // read in every run
        for (kernel_launch const& s : p_.launches) {
            for (int k = 0; !s.once && k < s.arrays; ++k) {
                int const id = uses_[s.first_array + k].node;
                if (id >= 0 && !(k == 1 && s.prepared >= 0)) {
                    always[base_of(id, nodes_)] = 1;
                }
            }
        }
        for (int i = 0; i < g_.output_count; ++i) {
            always[base_of(g_.outputs[i], nodes_)] = 1;
        }
        for (kernel_launch const& s : p_.launches) {
            if (int const id = uses_[s.output].node; s.once && always[id] != 0) {
                kept_memory const kept = keep(nodes_[id].size.count(), s.repeat);
                buffers_.fix(id, region::prepared, kept.offset, kept.repeat_stride);
            }
        }
    }
    struct kept_memory {
        std::ptrdiff_t offset, repeat_stride;
    };
    // Of each repetition where it is in a repeated block.
    constexpr kept_memory keep(std::ptrdiff_t count, int block) {
        std::ptrdiff_t const offset = prepared_end_, stride = aligned(count, alignment_);
        prepared_end_ += block < 0 ? stride : g_.repeat_at(block).count * stride;
        return {offset, block < 0 ? 0 : stride};
    }

    // Memory is shared by stages, not by launches: within a stage, chunks do not wait for each
    // other. Values that leave a stage hold the whole batch; those within lie in the memory of a
    // chunk. Those of one device, from `begin_of_device` on; returns their end.
    constexpr std::ptrdiff_t place_values(int device, std::ptrdiff_t begin_of_device) {
        block_allocator memory{Plan::sizes.stages, alignment_, begin_of_device};
        block_allocator chunk{0, alignment_};
        place_caches(device, memory);
        for (int i = 0; i < Plan::sizes.stages; ++i) {
            stage const& now = p_.stages[i];
            if (now.device != device) {
                continue;
            }
            memory.advance_to(i);
            if (now.repeat >= 0 && (i == 0 || p_.stages[i - 1].repeat != now.repeat)) {
                place_saved(i, memory);
            }
            std::ptrdiff_t of_chunk = 0; // elements; the sums lie before all else
            std::ptrdiff_t scratch = 0;  // of a worker, for one launch after another
            for (int k = now.first; k < now.last; ++k) {
                if (int const sums = p_.launches[k].sums; sums >= 0) {
                    p_.arrays[sums].offset = of_chunk;
                    of_chunk += aligned(uses_[sums].scratch, alignment_);
                }
            }
            bool const in_chunks = now.samples_at_once > 0;
            if (in_chunks) {
                chunk.restart(now.last - now.first, of_chunk);
            }
            if (now.iterations > 0) { // first the arrays of all steps, as long as gaps are whole
                for (int k = now.first; k < now.last; ++k) {
                    kernel_launch const& s = p_.launches[k];
                    int const id = uses_[s.output].node;
                    if (s.kind != op::map && nodes_[id].stored == storage::array) {
                        place_result(s.output, s, k, i, memory, chunk);
                    }
                }
            }
            for (int k = now.first; k < now.last; ++k) {
                kernel_launch const& s = p_.launches[k];
                if (in_chunks) {
                    chunk.advance_to(k - now.first);
                }
                for (int result = s.output; result < s.output + s.results; ++result) {
                    place_result(result, s, k, i, memory, chunk);
                }
                if (s.scratch >= 0) {
                    int const block = memory.allocate(uses_[s.scratch].scratch, i);
                    p_.arrays[s.scratch].offset = memory.offset(block);
                }
                if (s.prepared >= 0) {
                    place_weight(s, i, memory);
                }
                if (s.chunk_scratch >= 0) {
                    std::ptrdiff_t const wanted = uses_[s.chunk_scratch].scratch;
                    scratch = wanted > scratch ? wanted : scratch;
                }
            }
            of_chunk = in_chunks ? chunk.peak() : of_chunk;
            parts of_chunks, of_workers;
            if (of_chunk > 0) {
                of_chunks = place_parts(chunks_, of_chunk, i, memory);
            }
            if (scratch > 0) {
                of_workers = place_parts(workers_, aligned(scratch, alignment_), i, memory);
            }
            for (int k = now.first; k < now.last; ++k) {
                if (in_chunks) {
                    enter_chunk(p_.launches[k], of_chunks);
                }
                enter_arrays(p_.launches[k], of_chunks, of_workers);
            }
        }
        return memory.peak();
    }

    // Caches, which the next run of the plan reads again, lie apart from all other values.
    constexpr void place_caches(int device, block_allocator& memory) {
        for (kernel_launch const& s : p_.launches) {
            if (s.kind == op::cache && nodes_[uses_[s.output].node].device == device) {
                int const id = uses_[s.output].node;
                int const block =
                    memory.allocate(nodes_[id].size.count() * p_.batch, Plan::sizes.stages);
                buffers_.fix(id, region::workspace, memory.offset(block));
            }
        }
    }

    // Operands of copies, which may lie on devices whose turn comes later.
    constexpr void enter_copied() {
        for (kernel_launch const& s : p_.launches) {
            if (s.kind == op::copy) {
                p_.arrays[s.first_array] = buffers_.ref(uses_[s.first_array].node);
            }
        }
    }

    // The weight of a launch in another form: kept where it depends on parameters alone.
    constexpr void place_weight(kernel_launch const& s, int stage_number, block_allocator& memory) {
        array_ref& r = p_.arrays[s.prepared];
        std::ptrdiff_t const count = uses_[s.prepared].scratch;
        r.size = {false, 1, static_cast<int>(count)};
        if (s.constant_weight) {
            kept_memory const kept = keep(count, s.repeat);
            r.where = region::prepared;
            r.offset = kept.offset;
            r.repeat_stride = kept.repeat_stride;
        } else {
            r.where = region::workspace;
            r.offset = memory.offset(memory.allocate(count, stage_number));
        }
    }

    // The result that is this array of a launch.
    constexpr void place_result(int array, kernel_launch const& s, int number, int stage_number,
                                block_allocator& memory, block_allocator& chunk) {
        int const id = uses_[array].node;
        if (id < 0) { // the copy of all parameters
            auto const part = static_cast<int>(uses_[s.output].scratch);
            std::ptrdiff_t const count = copy_.bf16_elements(copy_.parameters(part).count);
            copy_.place(part, memory.offset(memory.allocate(count, stage_of_[lives_.last_copied])));
            return;
        }
        node_buffer& result = buffers_[id];
        if (result.fixed || is_delay_of_others(id, s) || // a feedback
            result.held >= 0 || lives_.base[id] != id) { // what is saved or carried
            return;
        }
        if (lives_.saved[id]) { // what the first repetition gets, before those of all others
            place_for_repetitions(array, 1, memory);
            return;
        }
        result.is_bf16 = uses_[array].is_bf16;
        stage const& now = p_.stages[stage_number];
        result.in_chunk = now.samples_at_once > 0 && nodes_[id].size.sample &&
                          stage_of_[lives_.last[id]] == stage_number;
        block_allocator& place = result.in_chunk ? chunk : memory;
        int const last = result.in_chunk ? lives_.last[id] - now.first : stage_of_[lives_.last[id]];
        bool const at_every_point = // by a program of its own, which reads it once
            nodes_[id].kind == op::map && (s.kind == op::map || s.kind == op::reduce) &&
            s.phases == 1;
        int const reused = array != s.output      ? -1
                           : at_every_point       ? reuse_.dying_operand(s, number, result.in_chunk)
                           : s.kind != op::concat ? -1
                           : s.loop >= 0          ? reuse_.take_finished(p_.launches, number, now)
                                                  : reuse_.dying_rows(s, number, result.in_chunk);
        extents const e = nodes_[id].stored == storage::array
                              ? nodes_[id].size
                              : size_in_memory(nodes_[id], nodes_[id]);
        std::ptrdiff_t const count = result.in_chunk ? e.count() * now.samples_at_once
                                                     : e.count() * (e.sample ? p_.batch : 1);
        result.held =
            reused >= 0 ? place.take_over(reused, last)
                        : place.allocate(result.is_bf16 ? copy_.bf16_elements(count) : count, last);
        result.offset = place.offset(result.held);
    }

    constexpr bool is_delay_of_others(int id, kernel_launch const& s) const {
        return nodes_[id].kind == op::delay && s.kind != op::delay;
    }

    // Saved values of a repeated block, which live from its first stage, `stage_number`, on.
    constexpr void place_saved(int stage_number, block_allocator& memory) {
        int const block = p_.stages[stage_number].repeat;
        int k = p_.stages[stage_number].first;
        for (; k < Plan::sizes.launches && p_.launches[k].repeat == block; ++k) {
            kernel_launch const& s = p_.launches[k];
            for (int array = s.output; array < s.output + s.results; ++array) {
                int const id = uses_[array].node;
                if (id >= 0 && lives_.saved[id] && !buffers_[id].fixed && lives_.base[id] == id &&
                    !is_delay_of_others(id, s)) {
                    place_for_repetitions(array, 0, memory);
                }
            }
        }
    }
    // The result that is this array of a launch, of each repetition and so many more.
    constexpr void place_for_repetitions(int array, int more, block_allocator& memory) {
        int const id = uses_[array].node;
        node_buffer& result = buffers_[id];
        result.is_bf16 = uses_[array].is_bf16;
        extents const e = nodes_[id].size;
        std::ptrdiff_t const count = e.count() * (e.sample ? p_.batch : 1);
        result.repeat_stride =
            aligned(result.is_bf16 ? copy_.bf16_elements(count) : count, alignment_);
        std::ptrdiff_t const all =
            (g_.repeat_at(lives_.repeat[id]).count + more) * result.repeat_stride;
        result.held = memory.allocate(all, stage_of_[lives_.last[id]]);
        result.offset = memory.offset(result.held);
    }

    // Memory of the same size for each chunk of a stage or, as scratch memory, for each worker:
    // their number does not depend on the batch.
    struct parts {
        std::ptrdiff_t begin = 0, stride = 0;
    };
    static constexpr parts place_parts(int count, std::ptrdiff_t stride, int stage_number,
                                       block_allocator& memory) {
        return {memory.offset(memory.allocate(count * stride, stage_number)), stride};
    }

    constexpr void enter_arrays(kernel_launch const& s, parts const& of_chunks,
                                parts const& of_workers) {
        int const end = s.output + s.results;
        for (int k = s.first_array; k < end; ++k) { // as few steps as can be: compilers count them
            p_.arrays[k] =
                uses_[k].node < 0 || uses_[k].is_bf16 ? ref(uses_[k]) : buffers_.ref(uses_[k].node);
        }
        if (s.scratch >= 0) {
            enter_scratch(s.scratch, {});
        }
        if (s.sums >= 0) {
            enter_scratch(s.sums, of_chunks);
        }
        if (s.chunk_scratch >= 0) {
            enter_scratch(s.chunk_scratch, of_workers);
        }
    }
    constexpr void enter_chunk(kernel_launch const& s, parts const& of_chunks) {
        for (int k = s.output; k < s.output + s.results; ++k) {
            int const id = uses_[k].node;
            if (id >= 0 && buffers_[id].in_chunk) {
                node_buffer& result = buffers_[id];
                result.offset += of_chunks.begin;
                result.chunk_stride = of_chunks.stride;
            }
        }
    }
    constexpr void enter_scratch(int array, parts const& of) {
        array_ref& r = p_.arrays[array];
        r = {region::workspace,
             of.begin + r.offset,
             {false, 1, static_cast<int>(uses_[array].scratch)},
             of.stride};
    }

    Plan& p_;
    graph_view g_;
    node const* nodes_;
    array_use const* uses_;
    buffer_assignment& buffers_;
    lifetimes_view lives_;
    operand_reuse reuse_;
    int chunks_, workers_;
    bool keeps_; // what depends on parameters alone is computed once
    std::ptrdiff_t prepared_end_ = 0;
    std::ptrdiff_t alignment_;
    parameter_copy<Plan> copy_;
    list<int> stages_;
    int* stage_of_; // per launch; one more for the end of all
};

} // namespace castnet::ir
