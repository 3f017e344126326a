/* Runs programs by the executor in C and compares with MPI's own collectives: check KIND FILE KIND FILE ... */

#include "gossamer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 7 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, n, wrong = 0, done = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *kind = argv[i];
        gossamer_plan *plan;
        int code = gossamer_load(argv[i + 1], MPI_COMM_WORLD, &plan);
        if (code) {
            if (!rank) printf("%s: %s\n", kind, gossamer_error(code));
            continue;
        }
        int64_t given, got;
        gossamer_messages(plan, &given, &got);
        const size_t size = sizeof(int64_t) * COUNT * (size_t)(n + 1);
        int64_t *in = malloc(size), *out = calloc(1, size), *want = calloc(1, size);
        for (int k = 0; k < COUNT * n; k++) in[k] = rank * 1009 + k * k;
        for (int again = 0; again < 2 && !code; again++) code = gossamer_run(plan, in, out, COUNT, MPI_INT64_T, MPI_SUM);
        if (!strcmp(kind, "allgather"))
            MPI_Allgather(in, COUNT, MPI_INT64_T, want, COUNT, MPI_INT64_T, MPI_COMM_WORLD);
        else if (!strcmp(kind, "alltoall"))
            MPI_Alltoall(in, COUNT, MPI_INT64_T, want, COUNT, MPI_INT64_T, MPI_COMM_WORLD);
        else if (!strcmp(kind, "reduce-scatter"))
            MPI_Reduce_scatter_block(in, want, COUNT, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Allreduce(in, want, COUNT * n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        int different = code || memcmp(out, want, sizeof(int64_t) * COUNT * (size_t)got), all;
        MPI_Allreduce(&different, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        wrong += all;
        done += !all;
        free(in);
        free(out);
        free(want);
        gossamer_free(plan);
    }
    if (!rank) printf("%d equal, %d different\n", done, wrong);
    MPI_Finalize();
    return wrong;
}
