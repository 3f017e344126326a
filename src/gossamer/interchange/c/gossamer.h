/* Carries out a gossamer program file over MPI, table by table: no code is generated.

   Every rank loads the plan, and runs it as often as it likes. Buffers hold messages one after the other, each of `count`
   elements of `type`; how many messages a rank's buffers have, gossamer_messages says. Functions return an MPI
   error code, or one of GOSSAMER_* below. */

#ifndef GOSSAMER_H
#define GOSSAMER_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GOSSAMER_NO_FILE = -1, GOSSAMER_NO_PROGRAM = -2, GOSSAMER_WRONG_SIZE = -3, GOSSAMER_NO_MEMORY = -4,
       GOSSAMER_DAMAGED = -5, GOSSAMER_NOT_COMMUTATIVE = -6, GOSSAMER_NO_RANK = -7 };

typedef struct gossamer_plan gossamer_plan;

/* Read what this rank of `comm` is to do; collective. Rank r runs node r of the network. */
int gossamer_load(const char *path, MPI_Comm comm, gossamer_plan **plan);

/* Messages in this rank's input and output. */
void gossamer_messages(const gossamer_plan *plan, int64_t *input, int64_t *output);

/* Carry it out. `op` combines blocks in reductions and must be commutative; it is ignored elsewhere. */
int gossamer_run(gossamer_plan *plan, const void *input, void *output, int count, MPI_Datatype type, MPI_Op op);

/* A text for what the functions return. */
const char *gossamer_error(int code);

void gossamer_free(gossamer_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
