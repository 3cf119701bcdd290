#!/bin/sh
# ranks_mpi.sh [program]: what ranks ask of each other, by 1, 2, 3 and 5 processes of mpirun.
[ -n "$1" ] || { echo "skipped: built without Open MPI"; exit 77; }
command -v mpirun >/dev/null || { echo "skipped: there is no mpirun"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=0 # of Open MPI's own
for n in 1 2 3 5; do
    said=$(mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n $n "$1") || exit 1
    [ "$said" = "all arrived" ] || { echo "$n ranks: $said"; exit 1; }
done
