// Makes the Nth file operation of a process fail, or kills the process just before or after it.
//
// Preloaded (LD_PRELOAD) by crash.sh and disk.sh. Operations are those that change files: a write
// (plain, at an offset, gathered), a sync, a truncation, a rename, an exchange, an unlink, a new
// folder, an open that may create. They are counted in the order in which the process does them.
//
//   FAULT_AT=N      which operation, from 1; absent: none fails
//   FAULT_KIND      kill (SIGKILL before it), torn (half of a write, then SIGKILL; other operations
//                   are done first), or the name of an error: ENOSPC EIO EACCES EMFILE EROFS
//   FAULT_LASTS=1   every later operation of the same sort fails too, as on a full disk
//   FAULT_COUNT=F   at exit, the number of operations is written to file F

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long operations;
static long fault_at;
static int fault_error;  // 0: kill
static int is_torn;
static int lasts;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void read_plan(void) {
  const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
  fault_at = at ? atol(at) : 0;
  lasts = getenv("FAULT_LASTS") != NULL;
  if (!kind) return;
  static const struct { const char *name; int number; } errors[] = {
      {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"EROFS", EROFS}};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (strcmp(kind, errors[i].name) == 0) fault_error = errors[i].number;
  is_torn = strcmp(kind, "torn") == 0;
}

__attribute__((destructor)) static void write_count(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&operations));
  fclose(file);
}

// Whether the operation that begins now is to fail; with errno set.
static int fails(void) {
  long number = atomic_fetch_add(&operations, 1) + 1;
  if (fault_at == 0 || number < fault_at) return 0;
  if (fault_error == 0) {
    if (number == fault_at && !is_torn) kill(getpid(), SIGKILL);
    return 0;
  }
  if (number > fault_at && !lasts) return 0;
  errno = fault_error;
  return 1;
}

// Ends the process when this operation was the one to be torn.
static void tear(void) {
  if (is_torn && fault_at != 0 && atomic_load(&operations) >= fault_at) kill(getpid(), SIGKILL);
}

static size_t part(size_t count) {
  return is_torn && atomic_load(&operations) == fault_at ? count / 2 : count;
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (file <= 2) return REAL(write)(file, bytes, count);
  if (fails()) return -1;
  ssize_t done = REAL(write)(file, bytes, part(count));
  tear();
  return done;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  if (fails()) return -1;
  ssize_t done = REAL(pwrite)(file, bytes, part(count), offset);
  tear();
  return done;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  if (fails()) return -1;
  ssize_t done = REAL(pwrite64)(file, bytes, part(count), offset);
  tear();
  return done;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  if (file <= 2) return REAL(writev)(file, parts, count);
  if (fails()) return -1;
  ssize_t done = REAL(writev)(file, parts, count);
  tear();
  return done;
}

#define WRAP(name, parameters, arguments) \
  int name parameters {                   \
    if (fails()) return -1;               \
    int done = REAL(name) arguments;      \
    tear();                               \
    return done;                          \
  }

WRAP(fsync, (int file), (file))
WRAP(fdatasync, (int file), (file))
WRAP(ftruncate, (int file, off_t size), (file, size))
WRAP(ftruncate64, (int file, off64_t size), (file, size))
WRAP(rename, (const char *from, const char *to), (from, to))
WRAP(renameat, (int f, const char *from, int t, const char *to), (f, from, t, to))
WRAP(renameat2, (int f, const char *from, int t, const char *to, unsigned flags),
     (f, from, t, to, flags))
WRAP(unlink, (const char *path), (path))
WRAP(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
WRAP(rmdir, (const char *path), (path))
WRAP(mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(link, (const char *from, const char *to), (from, to))
WRAP(linkat, (int f, const char *from, int t, const char *to, int flags), (f, from, t, to, flags))

#define WRAP_OPEN(name, first, given)                     \
  int name first {                                        \
    mode_t mode = 0;                                      \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { \
      va_list rest;                                       \
      va_start(rest, flags);                              \
      mode = va_arg(rest, mode_t);                        \
      va_end(rest);                                       \
      if (fails()) return -1;                             \
    }                                                     \
    int done = REAL(name) given;                          \
    if (flags & O_CREAT) tear();                          \
    return done;                                          \
  }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
WRAP_OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
