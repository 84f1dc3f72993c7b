#!/bin/bash
# slurm.sh: a fit on many machines under Slurm, with a checkpoint: a job that ran out of time or
# lost a node is queued again and goes on. Change the lines marked with <- and submit:
#
#   sbatch mpi/slurm.sh
#
# One rank per socket; its threads are the cores of the socket. DATA must be on a file system that
# all nodes see. Without Slurm, mpirun takes the place of srun (LAUNCH="mpirun -n 4").
# SPDX-License-Identifier: Apache-2.0
#SBATCH --job-name=mercer
#SBATCH --nodes=16                 # <-
#SBATCH --ntasks-per-node=2        # <- sockets of a node
#SBATCH --cpus-per-task=16         # <- cores of a socket
#SBATCH --mem=0                    # all of the node's memory
#SBATCH --time=02:00:00            # <-
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=mercer-%j.log
set -euo pipefail

DATA=${DATA:-'part-*.csv'}         # <- files, or a pattern: ranks follow it
LEARNER=${LEARNER:-ridge}          # <-
MODEL=${MODEL:-model.mercer}       # <-
OPTIONS=${OPTIONS:-"-k rbf(gamma=0.5) --lambda 0.01 --approx falkon --rank 2000"} # <-
MEMORY=${MEMORY:-8G}               # <- of each rank, for kernel values; data come on top
LAUNCH=${LAUNCH:-srun --mpi=pmix --kill-on-bad-exit=1}
PROGRAM=${PROGRAM:-mercer-mpi}

# One thread of BLAS: mercer's own threads use the cores.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

# shellcheck disable=SC2086 # several words
$LAUNCH "$PROGRAM" fit "$LEARNER" "$DATA" $OPTIONS --memory "$MEMORY" \
    --threads "${SLURM_CPUS_PER_TASK:-1}" --timeout 1800 \
    --checkpoint "$MODEL.checkpoint" -o "$MODEL"
rm -f "$MODEL.checkpoint"
