/* Preloaded into a process, lets the n-th write to a regular file, and all after it, fail with an error that is chosen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int left = -1, code = 0, seen = 0;

/* Let the write number `n` from now on fail with `error`, and those after it; -1 for none. Start counting anew. */
void fail_writes(int n, int error) { left = n; code = error; seen = 0; }

/* Return how many writes there were since then. */
int writes_seen(void) { return seen; }

static int fails(int fd) {
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
    seen++;
    if (left < 0 || seen <= left) return 0;
    errno = code;
    return 1;
}

ssize_t write(int fd, const void *data, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return fails(fd) ? -1 : real(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *data, int count) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = (ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    return fails(fd) ? -1 : real(fd, data, count);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return fails(fd) ? -1 : real(fd, data, size, at);
}

int fsync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return fails(fd) ? -1 : real(fd);
}
