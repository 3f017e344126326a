/* Runs a program file on numbers and prints what it took:

       mpicc -O2 gossamer.c main.c -o run
       mpiexec -n 16 ./run plan.program [elements of a message] [repetitions] */

#include "gossamer.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, status = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int count = argc > 2 ? atoi(argv[2]) : 1024, times = argc > 3 ? atoi(argv[3]) : 10;
    gossamer_plan *plan = NULL;
    int code = argc > 1 && count > 0 && times > 0 ? gossamer_load(argv[1], MPI_COMM_WORLD, &plan) : GOSSAMER_NO_FILE;
    if (code) {
        if (!rank) fprintf(stderr, "%s: %s\n", argc > 1 ? argv[1] : "usage: run FILE [ELEMENTS] [TIMES]", gossamer_error(code));
    } else {
        int64_t given, got;
        gossamer_messages(plan, &given, &got);
        int64_t *input = malloc(sizeof(int64_t) * (size_t)(given * count) + 1);
        int64_t *output = malloc(sizeof(int64_t) * (size_t)(got * count) + 1);
        for (int64_t i = 0; i < given * count; i++) input[i] = rank * 1000003 + i;
        double best = 1e30;
        for (int k = 0; k < times && !code; k++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double began = MPI_Wtime(), mine, all;
            code = gossamer_run(plan, input, output, count, MPI_INT64_T, MPI_SUM);
            mine = MPI_Wtime() - began;
            MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (all < best) best = all;
        }
        if (!rank && !code)
            printf("%lld bytes a message: %.1f microseconds\n", 8LL * count, best * 1e6);
        if (code) { /* the others wait for this rank */
            fprintf(stderr, "rank %d: %s\n", rank, gossamer_error(code));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        status = code != 0;
        free(input);
        free(output);
        gossamer_free(plan);
    }
    MPI_Finalize();
    return status;
}
