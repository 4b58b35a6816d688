// Stages of a plan: consecutive launches that treat every sample by itself, or sum over samples,
// and run together; each chunk takes a few samples through all of them.
#pragma once

#include <castnet/plan/device_count.hpp>
#include <castnet/plan/launch_list_builder.hpp>

namespace castnet::ir {

// A device that works in chunks says so; for others every launch is a stage of its own.
//   static constexpr int chunks;
//   static constexpr int samples_at_once(kernel_launch const&, window const* windows,
//                                        instruction const& end, ptrdiff_t elements);
// is how many samples of so many elements (in all operands and results) fit the cache, 0 if the
// launch has to see the whole batch at once.
template <class Device>
concept ChunkDevice = requires { Device::chunks; };

constexpr int chunks_of_batch(int chunks, int batch) {
    return chunks < batch ? chunks : batch;
}

template <class Device>
class stage_finder {
public:
    constexpr stage_finder(graph_view const& g, kernel_launch const* launches, int count,
                           array_use const* uses, instruction const* instructions,
                           int const* first_instruction, int batch)
        : g_{g}, launches_{launches}, count_{count}, uses_{uses}, instructions_{instructions},
          first_instruction_{first_instruction}, batch_{batch},
          summed_{list<int>::filled(g.node_count, -1)}, summed_in_{summed_.data()} {}

    constexpr list<stage> run() {
        for (int i = 0; i < count_; ++i) {
            if (launches_[i].loop >= 0) {
                i = add_loop(i) - 1;
                continue;
            }
            int const n = samples_at_once(i);
            array_use const& result = uses_[launches_[i].output];
            int const device = result.node >= 0
                                   ? g_.nodes[result.node].device
                                   : static_cast<int>(result.scratch) / 2; // parameters
            if (n == 0 || open_.samples_at_once == 0 || !same_size(n) || device != open_.device ||
                launches_[i].repeat != launches_[open_.first].repeat || reads_sum(i)) {
                close();
                open_ = {i, i, n, 0, device};
                windows_ = false;
            }
            add(i, n);
        }
        close();
        for (int i = 0; i < found_.size() && g_.repeat_count > 0; ++i) {
            repeat_with_block(found_[i]);
        }
        if constexpr (device_count<Device> > 1) {
            find_waits();
        }
        return std::move(found_);
    }

private:
    constexpr int samples_at_once(int i) const {
        if constexpr (ChunkDevice<Device>) {
            kernel_launch const& s = launches_[i];
            if (s.kind == op::copy) {
                return 0;
            }
            bool const result = g_.nodes[uses_[s.output].node].size.sample;
            if (!result && s.kind != op::reduce && s.kind != op::conv_weight) {
                return 0;
            }
            std::ptrdiff_t elements = 0;
            for (int k = s.first_array; k <= s.output; ++k) {
                extents const e = g_.nodes[uses_[k].node].size;
                bool const again = k < s.output && uses_[k].node == uses_[s.output].node;
                elements += e.sample && !again ? e.count() : 0;
            }
            instruction end;
            if (s.program >= 0) {
                end = instructions_[first_instruction_[s.program + 1] - 1];
            }
            return Device::samples_at_once(s, g_.windows, end, elements);
        } else {
            return 0;
        }
    }

    // The body of the loop from launch i on. Returns the launch after it.
    constexpr int add_loop(int i) {
        close();
        int const result = uses_[launches_[i].output].node;
        stage body{i, i, 0, 0, g_.nodes[result].device};
        for (; body.last < count_ && launches_[body.last].loop == launches_[i].loop; ++body.last) {
            body.flops += launches_[body.last].flops;
        }
        int end = 0; // which may be part of a launch
        while (g_.nodes[end].kind != op::feedback || g_.nodes[end].loop != launches_[i].loop) {
            ++end;
        }
        body.iterations = g_.nodes[end].size.pixels;
        body.backwards = g_.nodes[end].attribute < 0;
        found_.push(body);
        return body.last;
    }

    constexpr void repeat_with_block(stage& s) const {
        s.repeat = launches_[s.first].repeat;
        if (s.repeat >= 0) {
            s.repetitions = g_.repeat_at(s.repeat).count;
            s.last_repetition_first = s.repeat >= g_.repeat_count;
        }
    }

    // Launches on small images and on large ones go separate ways: each takes as many as suit it.
    constexpr bool same_size(int n) const {
        constexpr int many = 8;
        return (n >= many) == (open_.samples_at_once >= many);
    }

    constexpr bool reads_sum(int i) const {
        kernel_launch const& s = launches_[i];
        for (int k = s.first_array; k < s.first_array + s.arrays; ++k) {
            if (summed_in_[base_of(uses_[k].node, g_.nodes)] == found_.size()) {
                return true;
            }
        }
        return false;
    }

    constexpr void add(int i, int n) {
        kernel_launch const& s = launches_[i];
        int const result = uses_[s.output].node;
        if (result >= 0 && !g_.nodes[result].size.sample) {
            summed_in_[result] = found_.size();
        }
        windows_ = windows_ || s.window >= 0;
        open_.samples_at_once = n < open_.samples_at_once ? n : open_.samples_at_once;
        open_.flops += s.flops;
        open_.last = i + 1;
    }

    // Without images there is nothing to gain: such launches see the whole batch.
    constexpr void close() {
        if (open_.last == open_.first) {
            return;
        }
        if (windows_ && open_.samples_at_once > 0) {
            if constexpr (ChunkDevice<Device>) {
                int const most = batch_ / chunks_of_batch(Device::chunks, batch_);
                if (open_.samples_at_once > most) {
                    open_.samples_at_once = most;
                }
            }
            found_.push(open_);
        } else {
            for (int i = open_.first; i < open_.last; ++i) {
                found_.push({i, i + 1, 0, launches_[i].flops, open_.device});
            }
        }
        open_ = {};
    }

    // A copy waits for the stage that makes its operand; parameters are there.
    constexpr void find_waits() {
        list<int> made_in = list<int>::filled(g_.node_count, -1);
        for (int i = 0; i < found_.size(); ++i) {
            for (int k = found_[i].first; k < found_[i].last; ++k) {
                kernel_launch const& s = launches_[k];
                for (int use = s.output; use < s.output + s.results; ++use) {
                    if (int const result = uses_[use].node; result >= 0) { // no copy of parameters
                        made_in[result] = i;
                    }
                }
                if (s.kind == op::copy) {
                    found_[i].after = made_in[base_of(uses_[s.first_array].node, g_.nodes)];
                }
            }
        }
    }

    graph_view g_;
    kernel_launch const* launches_;
    int count_;
    array_use const* uses_;
    instruction const* instructions_;
    int const* first_instruction_;
    int batch_;
    list<stage> found_;
    stage open_{};
    bool windows_ = false;
    list<int> summed_;
    int* summed_in_; // per node: the stage that sums it up
};

// The stages as a constant of fixed size; of as many entries as there are launches.
template <class Device, int Launches>
struct stages {
    stage of[array_size(Launches)]{};
    int count = 0;
    int chunks = 1;  // in use: no more than the batch has samples
    int workers = 1; // at most, of loops in kernels that need scratch memory

    template <class LaunchList>
    constexpr stages(graph_view const& g, LaunchList const& s, int batch) {
        stage_finder<Device> finder{
            g, s.launches, Launches, s.arrays, s.instructions, s.first_instruction, batch};
        list<stage> const found = finder.run();
        copy_list(of, found);
        count = found.size();
        if constexpr (ChunkDevice<Device>) {
            chunks = chunks_of_batch(Device::chunks, batch);
            workers = Device::chunks;
        }
    }
};

} // namespace castnet::ir
