// glibc hides pipe2 from callers that do not ask for GNU extensions, as Swift's module of it.
extern int pipe2(int ends[2], int flags);

// A pipe of which other programs, started meanwhile by other threads, inherit no end.
static inline int open_pipe(int ends[2]) { return pipe2(ends, 02000000 /* O_CLOEXEC */); }
