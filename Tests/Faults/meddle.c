// Preloaded into the program: changes the file named `victim` right before it is opened.
//
// MEDDLE_AT says before which of its openings, from 1; MEDDLE_HOW what happens: deleted, shortened,
// lengthened, or replaced by the file `other`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int openings;

static void meddle(const char *path) {
  const char *name = strrchr(path, '/');
  const char *how = getenv("MEDDLE_HOW"), *at = getenv("MEDDLE_AT");
  if (!name || strcmp(name, "/victim") || !how || !at || ++openings != atoi(at)) return;
  int failed = 0;
  if (!strcmp(how, "deleted")) {
    failed = unlink(path);
  } else if (!strcmp(how, "shortened")) {
    struct stat status;
    failed = stat(path, &status) || truncate(path, status.st_size / 2);
  } else if (!strcmp(how, "lengthened")) {
    FILE *file = fopen(path, "a");
    failed = !file || fputs("\n", file) < 0 || fclose(file);
  } else {
    failed = rename("other", path);
  }
  if (failed) abort();
}

#define OPEN(name, parameters, ...)                                                 \
  int name parameters {                                                             \
    int(*real) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name);             \
    va_list list;                                                                   \
    va_start(list, flags);                                                          \
    mode_t mode = va_arg(list, mode_t);                                             \
    va_end(list);                                                                   \
    meddle(path);                                                                   \
    return real(__VA_ARGS__);                                                       \
  }

OPEN(open, (const char *path, int flags, ...), path, flags, mode)
OPEN(open64, (const char *path, int flags, ...), path, flags, mode)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, path, flags, mode)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path, flags, mode)
