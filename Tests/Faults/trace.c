// Writes down every change that a process makes to files below a folder, and every sync.
//
// Preloaded (LD_PRELOAD) by power.sh; powercut.c reads what it writes.
//
//   TRACE_UNDER=FOLDER  whose files are watched; an absolute path
//   TRACE_TO=FILE       where the trace goes: for each change a struct record, then its two paths,
//                       then its bytes
//
// Every change is made and written down under one lock, so the trace is in the order in which the
// changes were made.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *under;
static size_t under_length;
static int out = -1;
static char *paths[4096];  // of open files below the folder, by descriptor

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  under = getenv("TRACE_UNDER");
  const char *to = getenv("TRACE_TO");
  if (!under || !to) return;
  under_length = strlen(under);
  out = REAL(open)(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

// The path below the folder, empty for the folder itself; NULL for one that is not.
static const char *inside(const char *path) {
  if (out < 0 || strncmp(path, under, under_length) != 0) return NULL;
  if (path[under_length] == 0) return path + under_length;
  return path[under_length] == '/' ? path + under_length + 1 : NULL;
}

// The path of what is called `path` in an open folder; `room` has 4096 bytes.
static const char *in_folder(int folder, const char *path, char *room) {
  if (folder == AT_FDCWD || path[0] == '/') return path;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, room, 4096);
  if (length < 0 || (size_t)length + strlen(path) + 2 > 4096) return path;
  room[length] = '/';
  strcpy(room + length + 1, path);
  return room;
}

static const char *path_of(int file) {
  return file >= 0 && file < 4096 ? paths[file] : NULL;
}

static void note(char what, const char *one, const char *other, int64_t offset, const void *bytes,
                 int64_t count) {
  if (!other) other = "";
  struct record record = {.what = what, .one = (int32_t)strlen(one), .offset = offset,
                          .other = (int32_t)strlen(other), .count = count};
  struct iovec parts[] = {{&record, sizeof record}, {(void *)one, (size_t)record.one},
                          {(void *)other, (size_t)record.other},
                          {(void *)bytes, bytes ? (size_t)count : 0}};
  if (REAL(writev)(out, parts, 4) < 0) abort();
}

#define LOCKED(type, call, noting)   \
  pthread_mutex_lock(&lock);         \
  type done = call;                  \
  int cause = errno;                 \
  if (done >= 0) noting;             \
  pthread_mutex_unlock(&lock);       \
  errno = cause;                     \
  return done

ssize_t write(int file, const void *bytes, size_t count) {
  const char *path = path_of(file);
  if (!path) return REAL(write)(file, bytes, count);
  LOCKED(ssize_t, REAL(write)(file, bytes, count),
         note('w', path, NULL, lseek(file, 0, SEEK_CUR) - done, bytes, done));
}

#define WRITE_AT(name, type)                                               \
  ssize_t name(int file, const void *bytes, size_t count, type offset) {   \
    const char *path = path_of(file);                                      \
    if (!path) return REAL(name)(file, bytes, count, offset);              \
    LOCKED(ssize_t, REAL(name)(file, bytes, count, offset),                \
           note('w', path, NULL, offset, bytes, done));                    \
  }

WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

#define ON_FILE(name, parameters, arguments, noting) \
  int name parameters {                              \
    const char *path = path_of(file);                \
    if (!path) return REAL(name) arguments;          \
    LOCKED(int, REAL(name) arguments, noting);       \
  }

ON_FILE(fsync, (int file), (file), note('s', path, NULL, 0, NULL, 0))
ON_FILE(fdatasync, (int file), (file), note('s', path, NULL, 0, NULL, 0))
ON_FILE(ftruncate, (int file, off_t size), (file, size), note('t', path, NULL, size, NULL, 0))
ON_FILE(ftruncate64, (int file, off64_t size), (file, size), note('t', path, NULL, size, NULL, 0))

#define ON_PATH(name, parameters, arguments, noting)       \
  int name parameters {                                    \
    const char *one = inside(path);                        \
    if (!one) return REAL(name) arguments;                 \
    LOCKED(int, REAL(name) arguments, noting);             \
  }

ON_PATH(unlink, (const char *path), (path), note('u', one, NULL, 0, NULL, 0))
ON_PATH(rmdir, (const char *path), (path), note('u', one, NULL, 0, NULL, 0))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode), note('d', one, NULL, 0, NULL, 0))
ON_PATH(rename, (const char *path, const char *to), (path, to),
        note('r', one, inside(to), 0, NULL, 0))
ON_PATH(link, (const char *path, const char *to), (path, to),
        note('l', one, inside(to), 0, NULL, 0))

#define IN_FOLDER(name, parameters, arguments, noting)     \
  int name parameters {                                    \
    char room[4096];                                       \
    const char *one = inside(in_folder(f, path, room));    \
    if (!one) return REAL(name) arguments;                 \
    LOCKED(int, REAL(name) arguments, noting);             \
  }

// Where `to` is below the folder.
#define OTHER inside(in_folder(t, to, (char[4096]){0}))

IN_FOLDER(unlinkat, (int f, const char *path, int flags), (f, path, flags),
          note('u', one, NULL, 0, NULL, 0))
IN_FOLDER(mkdirat, (int f, const char *path, mode_t mode), (f, path, mode),
          note('d', one, NULL, 0, NULL, 0))
IN_FOLDER(renameat, (int f, const char *path, int t, const char *to), (f, path, t, to),
          note('r', one, OTHER, 0, NULL, 0))
IN_FOLDER(linkat, (int f, const char *path, int t, const char *to, int flags),
          (f, path, t, to, flags), note('l', one, OTHER, 0, NULL, 0))
IN_FOLDER(renameat2, (int f, const char *path, int t, const char *to, unsigned flags),
          (f, path, t, to, flags),
          note(flags & RENAME_EXCHANGE ? 'x' : 'r', one, OTHER, 0, NULL, 0))

// Remembers whose file a descriptor is; what was renamed or removed meanwhile keeps its old path.
static int opened(int file, const char *path, int flags, int was_there) {
  if (file < 0 || file >= 4096) return file;
  free(paths[file]);
  const char *one = inside(path);
  paths[file] = one ? strdup(one) : NULL;
  if (!one) return file;
  if (flags & O_CREAT && !was_there) note('c', one, NULL, 0, NULL, 0);
  if (flags & O_TRUNC && was_there) note('t', one, NULL, 0, NULL, 0);
  return file;
}

#define OPEN(name, folder, parameters, arguments)                \
  int name parameters {                                          \
    mode_t mode = 0;                                             \
    char room[4096];                                             \
    const char *full = in_folder(folder, path, room);            \
    if (flags & O_CREAT) {                                       \
      va_list rest;                                              \
      va_start(rest, flags);                                     \
      mode = va_arg(rest, mode_t);                               \
      va_end(rest);                                              \
    }                                                            \
    pthread_mutex_lock(&lock);                                   \
    int was_there = access(full, F_OK) == 0;                     \
    int file = opened(REAL(name) arguments, full, flags, was_there); \
    pthread_mutex_unlock(&lock);                                 \
    return file;                                                 \
  }

OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, folder, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, folder, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

int close(int file) {
  pthread_mutex_lock(&lock);
  if (file >= 0 && file < 4096) {
    free(paths[file]);
    paths[file] = NULL;
  }
  pthread_mutex_unlock(&lock);
  return REAL(close)(file);
}
