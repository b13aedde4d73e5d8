// Makes the Nth operation of a process fail, or does something to the process or its files then.
//
// Preloaded (LD_PRELOAD) by the scripts beside it. Operations are counted in the order in which
// the process does them; those of three sorts:
//
//   changes  a write (plain, at an offset, gathered), a sync, a truncation, a rename, an exchange,
//            an unlink, a new folder, an open that may create
//   reads    below the folder FAULT_UNDER: an open, a read, a look at a file or folder, a lock
//   threads  a new thread
//
//   FAULT_OF=SORT   which sort is counted; absent: changes
//   FAULT_AT=N      which operation, from 1; absent: none fails
//   FAULT_KIND      kill (SIGKILL before it), torn (half of a write, then SIGKILL; other operations
//                   are done first), short (half of a read), TERM or INT (the signal, then the
//                   operation), run (the shell command FAULT_RUN, then the operation), or the name
//                   of an error
//   FAULT_LASTS=1   every later operation of the same sort fails too, as on a full disk
//   FAULT_TIMES=N   so many in a row fail; absent: one
//   FAULT_COUNT=F   at exit, the number of operations is written to file F
//   FAULT_NO_EXCHANGE=1  the filesystem cannot exchange two names
//   FAULT_CLOCK=N   from its Nth reading on, the clock is a day slow

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum sort { changes, reads, threads };

static atomic_long operations, clock_readings;
static enum sort sort;
static long fault_at, fault_times, clock_slow_at;
static int fault_error, fault_signal;  // 0: none
static int is_kill, is_torn, is_short, is_run, lasts, has_no_exchange;
static const char *under;
static atomic_char is_under[4096];  // by descriptor, whether its file is below FAULT_UNDER

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void read_plan(void) {
  const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND"), *of = getenv("FAULT_OF");
  const char *slow_at = getenv("FAULT_CLOCK");
  fault_at = at ? atol(at) : 0;
  clock_slow_at = slow_at ? atol(slow_at) : 0;
  sort = !of || strcmp(of, "changes") == 0 ? changes : strcmp(of, "reads") == 0 ? reads : threads;
  under = getenv("FAULT_UNDER");
  lasts = getenv("FAULT_LASTS") != NULL;
  fault_times = getenv("FAULT_TIMES") ? atol(getenv("FAULT_TIMES")) : 1;
  has_no_exchange = getenv("FAULT_NO_EXCHANGE") != NULL;
  if (!kind) return;
  static const struct { const char *name; int number; } errors[] = {
      {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EACCES", EACCES}, {"EMFILE", EMFILE},
      {"EROFS", EROFS},   {"ENOENT", ENOENT}, {"EINTR", EINTR},   {"EAGAIN", EAGAIN},
      {"ENOMEM", ENOMEM}, {"ESTALE", ESTALE}, {"EDQUOT", EDQUOT}};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (strcmp(kind, errors[i].name) == 0) fault_error = errors[i].number;
  fault_signal = strcmp(kind, "TERM") == 0 ? SIGTERM : strcmp(kind, "INT") == 0 ? SIGINT : 0;
  is_kill = strcmp(kind, "kill") == 0;
  is_torn = strcmp(kind, "torn") == 0;
  is_short = strcmp(kind, "short") == 0;
  is_run = strcmp(kind, "run") == 0;
  if (fault_error || fault_signal || is_kill || is_torn || is_short || is_run) return;
  fprintf(stderr, "faults.c: there is no FAULT_KIND %s\n", kind);
  _exit(99);
}

__attribute__((destructor)) static void write_count(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&operations));
  fclose(file);
}

// Does FAULT_RUN in a shell that is not disturbed itself.
static void run_command(void) {
  pid_t child = fork();
  if (child == 0) {
    char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    execle("/bin/sh", "sh", "-c", getenv("FAULT_RUN"), NULL, environment);
    _exit(127);
  }
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

// Whether the operation that begins now is to fail; with errno set.
static int fails(enum sort its_sort) {
  if (its_sort != sort) return 0;
  long number = atomic_fetch_add(&operations, 1) + 1;
  if (fault_at == 0 || number < fault_at) return 0;
  if (number >= fault_at + fault_times && !lasts) return 0;
  if (is_kill) kill(getpid(), SIGKILL);
  if (fault_signal) kill(getpid(), fault_signal);
  if (is_run) run_command();
  if (fault_error) errno = fault_error;
  return fault_error != 0;
}

// Ends the process when this operation was the one to be torn.
static void tear(void) {
  if (is_torn && fault_at != 0 && atomic_load(&operations) >= fault_at) kill(getpid(), SIGKILL);
}

static size_t part(int is_parted, size_t count) {
  return is_parted && atomic_load(&operations) == fault_at && count > 1 ? count / 2 : count;
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (file <= 2) return REAL(write)(file, bytes, count);
  if (fails(changes)) return -1;
  ssize_t done = REAL(write)(file, bytes, part(is_torn, count));
  tear();
  return done;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  if (fails(changes)) return -1;
  ssize_t done = REAL(pwrite)(file, bytes, part(is_torn, count), offset);
  tear();
  return done;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  if (fails(changes)) return -1;
  ssize_t done = REAL(pwrite64)(file, bytes, part(is_torn, count), offset);
  tear();
  return done;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  if (file <= 2) return REAL(writev)(file, parts, count);
  if (fails(changes)) return -1;
  ssize_t done = REAL(writev)(file, parts, count);
  tear();
  return done;
}

#define CHANGE(name, parameters, arguments) \
  int name parameters {                     \
    if (fails(changes)) return -1;          \
    int done = REAL(name) arguments;        \
    tear();                                 \
    return done;                            \
  }

CHANGE(fsync, (int file), (file))
CHANGE(fdatasync, (int file), (file))
CHANGE(ftruncate, (int file, off_t size), (file, size))
CHANGE(ftruncate64, (int file, off64_t size), (file, size))
CHANGE(rename, (const char *from, const char *to), (from, to))
CHANGE(renameat, (int f, const char *from, int t, const char *to), (f, from, t, to))
CHANGE(unlink, (const char *path), (path))
CHANGE(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CHANGE(rmdir, (const char *path), (path))
CHANGE(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGE(link, (const char *from, const char *to), (from, to))
CHANGE(linkat, (int f, const char *from, int t, const char *to, int flags), (f, from, t, to, flags))

int renameat2(int f, const char *from, int t, const char *to, unsigned flags) {
  if (fails(changes)) return -1;
  if (has_no_exchange && flags & RENAME_EXCHANGE) {
    errno = EINVAL;
    return -1;
  }
  int done = REAL(renameat2)(f, from, t, to, flags);
  tear();
  return done;
}

static int is_path_under(const char *path) {
  return under && path && strncmp(path, under, strlen(under)) == 0;
}

static int is_file_under(int file) {
  return file >= 0 && file < 4096 && atomic_load(&is_under[file]);
}

static int opened(int file, const char *path) {
  if (file >= 0 && file < 4096) atomic_store(&is_under[file], is_path_under(path));
  return file;
}

#define OPEN(name, parameters, arguments)                           \
  int name parameters {                                             \
    mode_t mode = 0;                                                \
    int creates = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE; \
    if (creates) {                                                  \
      va_list rest;                                                 \
      va_start(rest, flags);                                        \
      mode = va_arg(rest, mode_t);                                  \
      va_end(rest);                                                 \
      if (fails(changes)) return -1;                                \
    }                                                               \
    if (is_path_under(path) && fails(reads)) return -1;             \
    int file = opened(REAL(name) arguments, path);                  \
    if (creates) tear();                                            \
    return file;                                                    \
  }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

#define READ(name, parameters, arguments)                      \
  ssize_t name parameters {                                    \
    if (is_file_under(file)) {                                 \
      if (fails(reads)) return -1;                             \
      if (sort == reads) count = part(is_short, count);        \
    }                                                          \
    return REAL(name) arguments;                               \
  }

READ(read, (int file, void *bytes, size_t count), (file, bytes, count))
READ(pread, (int file, void *bytes, size_t count, off_t offset), (file, bytes, count, offset))
READ(pread64, (int file, void *bytes, size_t count, off64_t offset), (file, bytes, count, offset))

#define LOOK(type, failure, name, parameters, arguments, is_watched) \
  type name parameters {                                             \
    if (is_watched && fails(reads)) return failure;                  \
    return REAL(name) arguments;                                     \
  }

#define LOOK_AT_PATH(name, last_type)                                             \
  LOOK(int, -1, name, (const char *path, last_type last), (path, last), is_path_under(path))

LOOK_AT_PATH(stat, struct stat *)
LOOK_AT_PATH(stat64, struct stat64 *)
LOOK_AT_PATH(lstat, struct stat *)
LOOK_AT_PATH(lstat64, struct stat64 *)
LOOK_AT_PATH(access, int)
LOOK(int, -1, fstat, (int file, struct stat *status), (file, status), is_file_under(file))
LOOK(int, -1, fstat64, (int file, struct stat64 *status), (file, status), is_file_under(file))
LOOK(int, -1, flock, (int file, int how), (file, how), is_file_under(file))
LOOK(DIR *, NULL, opendir, (const char *path), (path), is_path_under(path))
LOOK(char *, NULL, realpath, (const char *path, char *to), (path, to), is_path_under(path))
LOOK(void *, MAP_FAILED, mmap,
     (void *at, size_t size, int rights, int flags, int file, off_t offset),
     (at, size, rights, flags, file, offset), is_file_under(file))
LOOK(void *, MAP_FAILED, mmap64,
     (void *at, size_t size, int rights, int flags, int file, off64_t offset),
     (at, size, rights, flags, file, offset), is_file_under(file))

// Locks of parts of a file, which SQLite takes.
#define FCNTL(name)                                                            \
  int name(int file, int command, ...) {                                       \
    va_list rest;                                                              \
    va_start(rest, command);                                                   \
    void *argument = va_arg(rest, void *);                                     \
    va_end(rest);                                                              \
    if (command == F_SETLK && is_file_under(file) && fails(reads)) return -1;  \
    return REAL(name)(file, command, argument);                                \
  }

FCNTL(fcntl)
FCNTL(fcntl64)

// A folder's stream hides its descriptor, and is read for the archives and the published set only.
struct dirent *readdir(DIR *folder) {
  if (under && fails(reads)) return NULL;
  return REAL(readdir)(folder);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
  if (fails(threads)) return fault_error;
  return REAL(pthread_create)(thread, attributes, start, argument);
}

static time_t slowness(void) {
  if (clock_slow_at == 0) return 0;
  return atomic_fetch_add(&clock_readings, 1) + 1 >= clock_slow_at ? 86400 : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int done = REAL(clock_gettime)(clock, now);
  if (done == 0 && clock == CLOCK_REALTIME) now->tv_sec -= slowness();
  return done;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int done = REAL(gettimeofday)(now, zone);
  if (done == 0) now->tv_sec -= slowness();
  return done;
}

time_t time(time_t *out) {
  time_t now = REAL(time)(NULL) - slowness();
  if (out) *out = now;
  return now;
}
