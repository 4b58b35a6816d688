#!/usr/bin/env bash
# Kills trainings at random moments, in steps, callbacks and writes, until each ends, and compares
# it with one that was not killed: weights, history and scores to the last bit, and the calls of
# on_epoch_end, each of which is made, and a second time only if it is told so. No temporary file
# may be left.
#
#   kill.sh PROGRAM KILLS [alone|mirrored|sharded|augmented…]
#
# CTest runs a short form; 100 kills of each are the long one: kill.sh build/tests/test_kill 100
set -u
program=$1 kills=$2
shift 2
[ $# -gt 0 ] || set -- alone mirrored sharded augmented

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
    echo "kill.sh: $*" >&2
    exit 1
}

for policy; do
    whole=$folder/$policy
    mkdir "$whole"
    "$program" "$policy" "$whole" || fail "$policy: the training that is not killed failed"
    from=$(date +%s%N)
    mkdir "$whole.time"
    "$program" "$policy" "$whole.time" || fail "$policy: the training failed"
    duration=$((($(date +%s%N) - from) / 1000)) # microseconds
    cmp -s "$whole/result" "$whole.time/result" || fail "$policy: two runs differ"

    killed=0 trainings=0
    while [ "$killed" -lt "$kills" ]; do
        trainings=$((trainings + 1))
        torn=$folder/$policy.$trainings
        mkdir "$torn"
        until [ -e "$torn/result" ]; do
            "$program" "$policy" "$torn" &
            process=$!
            # Anywhere in what a whole run takes, so that most are killed more than once.
            moment=$(((RANDOM * 32768 + RANDOM) % duration))
            sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
            if kill -KILL $process 2>/dev/null; then
                killed=$((killed + 1))
            fi
            wait $process 2>/dev/null
            status=$?
            [ $status -eq 0 ] || [ $status -eq 137 ] || fail "$policy: a restart ended with $status"
        done
        cmp -s "$whole/result" "$torn/result" || fail "$policy: the result differs"
        # Of each epoch the last call counts; only those that say so may come twice.
        awk '{ last[$3] = $0 } END { for (e = 1; e in last; ++e) print last[e] }' "$torn/calls" |
            cut -d' ' -f2- | cmp -s - <(cut -d' ' -f2- "$whole/calls") ||
            fail "$policy: the callbacks saw something else"
        [ -z "$(grep '^first' "$torn/calls" | cut -d' ' -f3 | sort | uniq -d)" ] ||
            fail "$policy: a call was repeated without a word"
        [ -z "$(find "$torn" -name '*.tmp-*')" ] || fail "$policy: temporary files are left"
        rm -rf "$torn"
    done
    echo "$policy: $killed kills in $trainings trainings"
done
