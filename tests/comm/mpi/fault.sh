#!/usr/bin/env bash
# fault.sh FAULTS REPLICAS PROGRAM MPIEXEC FLAGS…: jobs of three processes of which one fails, or differs from
# the others, in each of the ways that are named, or in "all". The job ends in time, says why, leaves no process
# behind, and goes on from its checkpoint as if nothing had happened. REPLICAS is a list, too: processes have
# one ("alone"), several ("threads"), or parts of the optimizer's state ("sharded"). The whole matrix:
#   fault.sh all "alone threads sharded" build/release/tests/comm/mpi/test_mpi_fault mpiexec -n
set -uo pipefail
faults=$1 kinds=$2 program=$3
shift 3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
output=$directory/output failures=0

# When each fault is noticed (before the first step; during the fit, when there is a checkpoint; after it; at
# the timeout, when there is one, too), and what the messages say.
declare -A when said
names=()
fault() { names+=("$1") when[$1]=$2 said[$1]=$3; }
ended="rank [02] of 3, .*: rank 1 has ended its program"
other_call="of 3, .*rank [0-5] is in .*all processes must make the same calls"
fault exception during "a replica failed on purpose"
fault caught during "$ended"
fault read during "(rank 1 of 3|replica [01] of 2), .*: a sample cannot be read"
fault int during "rank 1 of 3, sample [0-9]+ of the data: .*threw something that is not a std::exception"
fault weight during "rank 1 of 3, .*a weight cannot be read"
fault exit during "$ended"
fault leave during "$ended"
fault kill during "rank 1|[Kk]illed|KILLED"
fault thread-exit during "" # with MPICH, nobody says anything
fault quit timeout "rank [02] of 3, .*waited [0-9]+ s for rank 1|without calling"
fault stop timeout "rank [02] of 3, .*waited [0-9]+ s for rank 1"
fault evaluate during "$other_call"
fault step-call after "$other_call"
fault step-samples after "step: 'the number of samples' is 8 on rank 0, but 7 on rank [12]"
fault step-rate after "step: 'the learning rate' is 0.001 on rank 0, but 0.5 on rank [12]"
fault program before "compile: 'the batch' is 8 on rank 0, but 16 on rank 1|0 has 2 replicas, but rank 1 has 1"
fault seed before "compile: 'the seed' is 5 on rank 0, but 6 on rank [12]"
fault optimizer before "compile: 'the optimizer's .* is .* on rank 0, but .* on rank [12]"
fault schedule before "fit: 'the schedule's rate of step 0' is .* on rank 0, but .* on rank [12]"
fault epochs before "fit: 'epochs' is 5 on rank 0, but 6 on rank [12]"
fault shuffle before "fit: 'shuffle' is set on rank 0, but not set on rank [12]"
fault class-weight before "fit: 'the weight of class 1' is 1 on rank 0, but 2 on rank [12]"
for which in data "validation data"; do
    fault "${which/ */}-size" before "fit: 'samples of the $which' is 43 on rank 0, but 40 on rank [12]"
    for what in values labels nan; do
        fault "${which/ */}-$what" before "fit: 'digest of the $which' is .* on rank 0, but .* on rank [12]"
    done
done

# Runs a job of three processes; each may wait as many seconds as the first argument says.
job() {
    local -x CASTNET_TIMEOUT=$1
    shift
    timeout --kill-after=5 90 "${mpiexec[@]}" 3 "$program" "$1" "$2" "$replicas" > "$output" 2>&1
}
fail() {
    echo "FAILED: $fault $replicas: $*"
    cat "$output"
    failures=$((failures + 1))
}
uninterrupted() { # for all faults the same
    if [ -z "$expected" ]; then
        rm -f "$directory/fresh"
        job 60 none "$directory/fresh" || fail "running without a fault"
        expected=$(grep sum "$output")
    fi
}
check() {
    local checkpoint=$directory/$fault-$replicas seconds=40 limit=40 status
    [ "${when[$fault]}" != timeout ] || seconds=12 limit=24 # nobody waits for a second timeout
    local start=$SECONDS mpiexec=("${mpiexec[@]}") succeeds=false
    if [[ $fault = quit && $("${mpiexec[0]}" --version) = *HYDRA* ]]; then # MPICH's launcher
        mpiexec=("${mpiexec[0]}" -disable-auto-cleanup "${mpiexec[@]:1}") # else it ends all without a word
        succeeds=true # at times: the first process to end gives the status
    fi
    job $seconds "$fault" "$checkpoint"
    status=$?
    [ $status -ne 0 ] || $succeeds || fail "the job ended well"
    [ $((SECONDS - start)) -lt $limit ] || fail "the job took $((SECONDS - start)) s to end"
    [ -z "${said[$fault]}" ] || grep -Eq "${said[$fault]}" "$output" || fail "no message with: ${said[$fault]}"
    for _ in 1 2 3 4 5 6 7 8 9 10; do # they are ended one after the other
        pgrep -f "$checkpoint" > /dev/null || break
        sleep 0.3
    done
    ! pgrep -f "$checkpoint" > /dev/null || fail "processes are left behind: $(pgrep -af "$checkpoint")"
    if [ "${when[$fault]}" = before ]; then
        [ ! -e "$checkpoint" ] || fail "there is a checkpoint before the first step"
        return
    fi
    [ -e "$checkpoint" ] || fail "there is no checkpoint"
    job 60 none "$checkpoint" || fail "going on from the checkpoint"
    local resumed
    resumed=$(grep sum "$output")
    uninterrupted
    [ "$resumed" = "$expected" ] || fail "not '$resumed' without interruption, but '$expected'"
}

run() {
    case $fault in
    early-stop) # asked for by one process, done by all
        job 40 early-stop "$directory/early-stop-$replicas" || fail "the job failed"
        grep -q "after 3 epochs" "$output" || fail "the fit went on"
        ;;
    own-mpi) # initialized and finalized by the program
        job 40 own-mpi "$directory/own-mpi-$replicas" || fail "the job failed"
        ;;
    finalized) # before the first model
        job 40 finalized "$directory/finalized-$replicas" && fail "the job ended well"
        grep -q "castnet: MPI has been finalized" "$output" || fail "no message"
        ;;
    environment)
        for text in 5s nan -5 0; do
            job "$text" none "$directory/environment" && fail "a timeout of '$text' is accepted"
            grep -q "CASTNET_TIMEOUT is '$text', expected a number of seconds above 0" "$output" ||
                fail "no message about a timeout of '$text'"
        done
        ;;
    *)
        [ -n "${when[$fault]:-}" ] || { echo "no such fault: $fault"; exit 2; }
        check
        ;;
    esac
}

mpiexec=("$@")
[ "$faults" != all ] || faults="early-stop own-mpi finalized environment ${names[*]}"
for replicas in $kinds; do
    expected=""
    for fault in $faults; do
        run
    done
done
exit $((failures > 0))
