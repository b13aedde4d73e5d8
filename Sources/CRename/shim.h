// glibc hides renameat2 from callers that do not ask for GNU extensions, as Swift's module of it.
// No header of glibc is included: its types would be this module's in some files and Glibc's in
// others.
extern int renameat2(int, const char *, int, const char *, unsigned int);

// Gives each of two paths the other's name, in one system call.
static inline int exchange_paths(const char *one, const char *other) {
  const int working_folder = -100;  // AT_FDCWD
  return renameat2(working_folder, one, working_folder, other, 1 << 1 /* RENAME_EXCHANGE */);
}
