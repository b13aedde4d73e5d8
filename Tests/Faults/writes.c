// Records what a process writes, wherever it goes, and with which rights it makes files.
//
// Preloaded (LD_PRELOAD) by tests. Files that are unlinked while they are open, as SQLite's temporary
// ones are, leave no other trace.
//
//   WRITES=F   every byte that is written to any file or stream is appended to F
//   MAKES=F    `file MODE PATH` or `folder MODE PATH` is appended to F for each that is made, with
//              the mode that was asked for, in octal

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int writes = -1, makes = -1;

static int log_file(const char *name) {
  const char *path = getenv(name);
  return path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
              : -1;
}

__attribute__((constructor)) static void begin(void) {
  writes = log_file("WRITES");
  makes = log_file("MAKES");
}

static void copy(const void *bytes, ssize_t count) {
  if (writes >= 0 && count > 0 && syscall(SYS_write, writes, bytes, count) != count) abort();
}

static void made(const char *what, mode_t mode, const char *path) {
  char line[4096];
  int length = snprintf(line, sizeof line, "%s %o %s\n", what, mode & 07777, path);
  if (makes >= 0 && syscall(SYS_write, makes, line, (size_t)length) != length) abort();
}

ssize_t write(int file, const void *bytes, size_t count) {
  ssize_t done = REAL(write)(file, bytes, count);
  copy(bytes, done);
  return done;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  ssize_t done = REAL(pwrite)(file, bytes, count, offset);
  copy(bytes, done);
  return done;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  ssize_t done = REAL(pwrite64)(file, bytes, count, offset);
  copy(bytes, done);
  return done;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  ssize_t done = REAL(writev)(file, parts, count);
  for (int i = 0; done > 0 && i < count; i++) copy(parts[i].iov_base, (ssize_t)parts[i].iov_len);
  return done;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
  size_t done = REAL(fwrite)(bytes, size, count, stream);
  copy(bytes, (ssize_t)(done * size));
  return done;
}

int mkdir(const char *path, mode_t mode) {
  int done = REAL(mkdir)(path, mode);
  if (done == 0) made("folder", mode, path);
  return done;
}

#define WRAP_OPEN(name, first, given)                              \
  int name first {                                                 \
    mode_t mode = 0;                                               \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {     \
      va_list rest;                                                \
      va_start(rest, flags);                                       \
      mode = va_arg(rest, mode_t);                                 \
      va_end(rest);                                                \
    }                                                              \
    int done = REAL(name) given;                                   \
    if (done >= 0 && flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) made("file", mode, path); \
    return done;                                                   \
  }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
WRAP_OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
