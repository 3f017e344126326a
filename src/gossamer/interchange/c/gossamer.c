/* See gossamer.h. The file is read as written, little-endian. */

#include "gossamer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char magic[8];
    uint32_t version, ranks, parts, slots;
    uint64_t hops, description;
} head_t;

typedef struct {
    uint64_t position, operations, copies;
    int64_t input, output, scratch;
} rank_t;

typedef struct {
    int32_t slot;
    uint8_t kind, buffer; /* 0 send, 1 receive, 2 receive and reduce; 0 input, 1 output, 2 scratch */
    uint16_t zero;
    int32_t peer, after, offset, operand, length, part;
} operation_t;

typedef struct {
    int32_t input, output, length;
} copy_t;

struct gossamer_plan {
    MPI_Comm comm;
    uint32_t parts;
    rank_t mine;
    operation_t *operations;
    copy_t *copies;
    MPI_Request *requests; /* as many as the longest slot has operations */
    int64_t widest, most_reductions, most_staged;
    char *scratch, *staging;
    size_t room;              /* bytes of a block in scratch */
};

const char *gossamer_error(int code) {
    switch (code) {
    case MPI_SUCCESS: return "done";
    case GOSSAMER_NO_FILE: return "the program file cannot be read";
    case GOSSAMER_NO_PROGRAM: return "the file is not a gossamer program of version 1";
    case GOSSAMER_WRONG_SIZE: return "the program is for another number of ranks";
    case GOSSAMER_NO_MEMORY: return "not enough memory";
    case GOSSAMER_DAMAGED: return "the program file is damaged";
    case GOSSAMER_NO_RANK: return "the program file was written for other ranks";
    case GOSSAMER_NOT_COMMUTATIVE: return "the operator is not commutative";
    default: return "an error of MPI";
    }
}

/* Whether an operation of the slot from row a on receives into memory of its own first: what is added to something, and
   what comes to a place that is sent from in the same slot. */
static int staged_first(const struct gossamer_plan *plan, uint64_t a, uint64_t k) {
    const operation_t *o = &plan->operations[k];
    return o->kind == 2 || (o->kind == 1 && o->after >= 0 && (uint64_t)o->after >= a && (uint64_t)o->after < k &&
                            !plan->operations[o->after].kind);
}

static int fits(const struct gossamer_plan *plan, int ranks) {
    const int64_t sizes[3] = {plan->mine.input, plan->mine.output, plan->mine.scratch};
    for (uint64_t k = 0; k < plan->mine.operations; k++) {
        const operation_t *o = &plan->operations[k];
        if (o->kind > 2 || o->buffer > 2 || o->length < 1 || o->offset < 0 || o->peer < 0 || o->peer >= ranks ||
            o->length != 1 || o->part < 0 || (uint32_t)o->part >= plan->parts ||
            (int64_t)o->offset + o->length > sizes[o->buffer] || (o->kind && !o->buffer) ||
            (o->operand >= 0 && (int64_t)o->operand + o->length > sizes[0]) || (k && o->slot < o[-1].slot))
            return 0;
    }
    for (uint64_t k = 0; k < plan->mine.copies; k++) {
        const copy_t *c = &plan->copies[k];
        if (c->length < 1 || c->input < 0 || c->output < 0 || (int64_t)c->input + c->length > sizes[0] ||
            (int64_t)c->output + c->length > sizes[1])
            return 0;
    }
    return 1;
}

static int read_plan(const char *path, int rank, int ranks, struct gossamer_plan *plan) {
    head_t head;
    FILE *file = fopen(path, "rb");
    if (!file) return GOSSAMER_NO_FILE;
    int code = GOSSAMER_NO_PROGRAM;
    if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, "gossprog", 8) || head.version != 1) goto end;
    code = GOSSAMER_WRONG_SIZE;
    if (head.ranks != (uint32_t)ranks) goto end;
    code = GOSSAMER_DAMAGED;
    if (!head.parts) goto end;
    if (fseek(file, (long)(sizeof head + sizeof(rank_t) * (size_t)rank), SEEK_SET) ||
        fread(&plan->mine, sizeof(rank_t), 1, file) != 1)
        goto end;
    code = GOSSAMER_NO_RANK;
    if (!plan->mine.position) goto end;
    code = GOSSAMER_DAMAGED;
    plan->parts = head.parts;
    uint64_t rows = plan->mine.operations, copies = plan->mine.copies;
    if (rows >> 40 || copies >> 40 || plan->mine.position >> 62 || plan->mine.input < 0 || plan->mine.output < 0 ||
        plan->mine.scratch < 0)
        goto end;
    code = GOSSAMER_NO_MEMORY;
    plan->operations = malloc(rows * sizeof(operation_t) + 1);
    plan->copies = malloc(copies * sizeof(copy_t) + 1);
    if (!plan->operations || !plan->copies) goto end;
    code = GOSSAMER_DAMAGED;
    if (fseek(file, (long)plan->mine.position, SEEK_SET) ||
        fread(plan->operations, sizeof(operation_t), rows, file) != rows ||
        fread(plan->copies, sizeof(copy_t), copies, file) != copies || !fits(plan, ranks))
        goto end;
    for (uint64_t a = 0, b; a < rows; a = b) {
        int64_t reductions = 0, kept = 0;
        for (b = a; b < rows && plan->operations[b].slot == plan->operations[a].slot; b++) {
            reductions += plan->operations[b].kind == 2;
            kept += staged_first(plan, a, b);
        }
        if ((int64_t)(b - a) > plan->widest) plan->widest = (int64_t)(b - a);
        if (reductions > plan->most_reductions) plan->most_reductions = reductions;
        if (kept > plan->most_staged) plan->most_staged = kept;
    }
    code = GOSSAMER_NO_MEMORY;
    plan->requests = malloc((size_t)(plan->widest + 1) * sizeof(MPI_Request));
    if (plan->requests) code = MPI_SUCCESS;
end:
    fclose(file);
    return code;
}

int gossamer_load(const char *path, MPI_Comm comm, gossamer_plan **made) {
    int rank, ranks, worst;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    struct gossamer_plan *plan = calloc(1, sizeof *plan);
    int code = plan ? read_plan(path, rank, ranks, plan) : GOSSAMER_NO_MEMORY;
    MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MIN, comm); /* all ranks go on, or none */
    if (worst == MPI_SUCCESS) {
        worst = MPI_Comm_dup(comm, &plan->comm);
    } else if (plan) {
        plan->comm = MPI_COMM_NULL;
        gossamer_free(plan);
        plan = NULL;
    }
    *made = plan;
    return worst;
}

void gossamer_messages(const gossamer_plan *plan, int64_t *input, int64_t *output) {
    *input = plan->mine.input / plan->parts;
    *output = plan->mine.output / plan->parts;
}

typedef struct {
    size_t start; /* in bytes */
    int elements;
} span_t;

/* Where a block is: part p of `count` elements begins at p * count / parts; blocks in scratch have room for the longest. */
static span_t span(const struct gossamer_plan *plan, int buffer, int32_t offset, int32_t part, size_t size, int count) {
    const int64_t parts = plan->parts, p = buffer == 2 ? part : offset % parts;
    const int64_t first = p * count / parts, last = (p + 1) * count / parts;
    const size_t longest = ((size_t)count + (size_t)parts - 1) / (size_t)parts;
    const size_t start = buffer == 2 ? (size_t)offset * longest : (size_t)(offset / parts * count + first);
    return (span_t){start * size, (int)(last - first)};
}

int gossamer_run(gossamer_plan *plan, const void *input, void *output, int count, MPI_Datatype type, MPI_Op op) {
    int size, commutes = 1;
    int code = MPI_Type_size(type, &size);
    if (code) return code;
    const size_t block = (size_t)size * (((size_t)count + plan->parts - 1) / plan->parts); /* the longest */
    if (plan->most_reductions) {
        if ((code = MPI_Op_commutative(op, &commutes))) return code;
        if (!commutes) return GOSSAMER_NOT_COMMUTATIVE;
    }
    if (block > plan->room) {
        free(plan->scratch);
        free(plan->staging);
        plan->scratch = malloc(block * (size_t)plan->mine.scratch + 1);
        plan->staging = malloc(block * (size_t)plan->most_staged + 1);
        plan->room = plan->scratch && plan->staging ? block : 0;
        if (!plan->room && block) return GOSSAMER_NO_MEMORY;
    }
    char *const at[3] = {(char *)input, output, plan->scratch};
    for (uint64_t k = 0; k < plan->mine.copies; k++) {
        const copy_t *c = &plan->copies[k];
        for (int32_t i = 0; i < c->length; i++) {
            const span_t from = span(plan, 0, c->input + i, 0, (size_t)size, count);
            const span_t to = span(plan, 1, c->output + i, 0, (size_t)size, count);
            if (at[1] + to.start != at[0] + from.start)
                memcpy(at[1] + to.start, at[0] + from.start, (size_t)from.elements * (size_t)size);
        }
    }
    for (uint64_t a = 0, b; a < plan->mine.operations; a = b) {
        const int32_t slot = plan->operations[a].slot;
        int posted = 0, staged = 0;
        for (b = a; b < plan->mine.operations && plan->operations[b].slot == slot; b++) {
            const operation_t *o = &plan->operations[b]; /* receives before sends */
            if (!o->kind) continue;
            const span_t to = span(plan, o->buffer, o->offset, o->part, (size_t)size, count);
            char *place = staged_first(plan, a, b) ? plan->staging + block * (size_t)staged++ : at[o->buffer] + to.start;
            if ((code = MPI_Irecv(place, to.elements, type, o->peer, 0, plan->comm, &plan->requests[posted++]))) return code;
        }
        for (uint64_t k = a; k < b; k++) {
            const operation_t *o = &plan->operations[k];
            if (o->kind) continue;
            const span_t from = span(plan, o->buffer, o->offset, o->part, (size_t)size, count);
            if ((code = MPI_Isend(at[o->buffer] + from.start, from.elements, type, o->peer, 0, plan->comm,
                                  &plan->requests[posted++])))
                return code;
        }
        if ((code = MPI_Waitall(posted, plan->requests, MPI_STATUSES_IGNORE))) return code;
        staged = 0;
        for (uint64_t k = a; k < b; k++) {
            const operation_t *o = &plan->operations[k];
            if (!staged_first(plan, a, k)) continue;
            const span_t to = span(plan, o->buffer, o->offset, o->part, (size_t)size, count);
            const char *came = plan->staging + block * (size_t)staged++;
            if (o->kind == 1) {
                memcpy(at[o->buffer] + to.start, came, (size_t)size * (size_t)to.elements);
                continue;
            }
            if (o->operand >= 0) {
                const span_t own = span(plan, 0, o->operand, o->part, (size_t)size, count);
                if (at[0] + own.start != at[o->buffer] + to.start)
                    memcpy(at[o->buffer] + to.start, at[0] + own.start, (size_t)size * (size_t)own.elements);
            }
            code = MPI_Reduce_local(came, at[o->buffer] + to.start, to.elements, type, op);
            if (code) return code;
        }
    }
    return MPI_SUCCESS;
}

void gossamer_free(gossamer_plan *plan) {
    if (!plan) return;
    if (plan->comm != MPI_COMM_NULL) MPI_Comm_free(&plan->comm);
    free(plan->operations);
    free(plan->copies);
    free(plan->requests);
    free(plan->scratch);
    free(plan->staging);
    free(plan);
}
