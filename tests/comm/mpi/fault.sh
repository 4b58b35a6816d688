#!/usr/bin/env bash
# fault.sh FAULT REPLICAS PROGRAM MPIEXEC FLAGS…: the job ends within its deadline and some seconds for its
# start, says why, and leaves a checkpoint from which it goes on as if nothing had happened. Processes have
# one replica ("alone"), several ("threads"), or parts of the optimizer's state ("sharded").
set -uo pipefail
fault=$1 replicas=${2/alone/} program=$3
shift 3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
fail() {
    echo "FAILED: $*"
    cat "$directory/output"
    exit 1
}

export CASTNET_DEADLINE=4
start=$SECONDS
timeout --kill-after=5 60 "$@" 3 "$program" "$fault" "$directory/checkpoint" $replicas \
    > "$directory/output" 2>&1
status=$?
[ $status -ne 0 ] || fail "the job ended well"
[ $((SECONDS - start)) -lt 30 ] || fail "the job took $((SECONDS - start)) s to end"

case $fault in
exception) expected="a replica failed on purpose" ;;
exit) expected="rank [02] of 3, .*rank 1 has ended its program" ;;
kill) expected="rank 1|[Kk]illed|KILLED" ;;
stop) expected="rank [02] of 3, .*waited 4 s for rank 1" ;;
program) expected="do not run the same program: rank 0 has .*batches of 8.*rank 1 has .*batches of 16" ;;
data) expected="do not run the same fit: rank 0 has 43 samples.*rank 1 has 40 samples" ;;
esac
grep -Eq "$expected" "$directory/output" || fail "no message with: $expected"

export CASTNET_DEADLINE=60
case $fault in
program | data)
    [ ! -e "$directory/checkpoint" ] || fail "there is a checkpoint before the first step"
    ;;
*)
    [ -e "$directory/checkpoint" ] || fail "there is no checkpoint"
    ;;
esac
timeout 60 "$@" 3 "$program" none "$directory/checkpoint" $replicas > "$directory/output" 2>&1 ||
    fail "going on from the checkpoint"
resumed=$(grep sum "$directory/output")
timeout 60 "$@" 3 "$program" none "$directory/fresh" $replicas > "$directory/output" 2>&1 || fail "running"
[ "$resumed" = "$(grep sum "$directory/output")" ] || fail "not '$resumed' without interruption"
