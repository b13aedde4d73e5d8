// A change of files as trace.c writes it and powercut.c reads it.
#include <stdint.h>

struct record {
  char what;        // write, truncate, sync, create, folder (d), unlink, rename, link, exchange (x)
  int32_t one;      // length of the path, below the folder that is watched
  int32_t other;    // length of the second path
  int64_t offset;   // of a write; the new size of a truncation
  int64_t count;    // bytes written
};
