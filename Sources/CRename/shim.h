// glibc hides renameat2 from callers that do not ask for GNU extensions, as Swift's module of it.
#include <fcntl.h>

extern int renameat2(int, const char *, int, const char *, unsigned int);

// Gives each of two paths the other's name, in one system call.
static inline int exchange_paths(const char *one, const char *other) {
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, 1 << 1 /* RENAME_EXCHANGE */);
}
