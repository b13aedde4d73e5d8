// Files for SQLite that compare each page of a database with a hash when it is read.
//
// The hash is in the last 8 bytes of the page, which SQLite reserves, and covers the rest and the
// place of the page. In memory and in the write-ahead log, which has checksums of its own, it is 0.
// So a program without these files, such as sqlite3, can copy the log into the database: pages with
// a hash of 0 are not compared.
#include <stdint.h>
#include <string.h>

enum { subledger_reserved = 8 };

typedef struct {
  sqlite3_file file;
  // The system's file, which lies behind this structure.
  sqlite3_file *below;
  // Whether the pages have hashes; -1 until the header of the database has been seen.
  int is_checked;
} subledger_file;

static sqlite3_vfs *subledger_system = 0;
static sqlite3_vfs subledger_checked = {0};
static sqlite3_io_methods subledger_methods = {0};

static sqlite3_file *subledger_below(sqlite3_file *file) { return ((subledger_file *)file)->below; }

// Each word is mixed in by a step that can be undone: a change within one word changes the hash.
static uint64_t subledger_hash(const unsigned char *bytes, int count, sqlite3_int64 offset) {
  uint64_t hash = (uint64_t)offset ^ 0x9E3779B97F4A7C15;
  for (int at = 0; at < count; at += 8) {
    uint64_t word;
    memcpy(&word, bytes + at, 8);
    hash = ((hash << 29 | hash >> 35) ^ word) * 0xBF58476D1CE4E5B9;
  }
  return hash == 0 ? 1 : hash;
}

static void subledger_see_header(subledger_file *own, const unsigned char *bytes) {
  if (memcmp(bytes, "SQLite format 3", 16)) return;
  own->is_checked = bytes[20] == subledger_reserved;
}

// Whether these bytes are a page with a hash.
static int subledger_is_page(subledger_file *own, int count, sqlite3_int64 offset) {
  unsigned char header[100];
  if (count < 512 || count & (count - 1) || offset % count) return 0;
  if (own->is_checked < 0 && !own->below->pMethods->xRead(own->below, header, 100, 0))
    subledger_see_header(own, header);
  return own->is_checked > 0;
}

static int subledger_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  subledger_file *own = (subledger_file *)file;
  int code = own->below->pMethods->xRead(own->below, bytes, count, offset);
  if (code) return code;
  if (offset == 0 && count >= 100) subledger_see_header(own, bytes);
  if (!subledger_is_page(own, count, offset)) return SQLITE_OK;
  unsigned char *end = (unsigned char *)bytes + count - subledger_reserved;
  uint64_t hash;
  memcpy(&hash, end, sizeof hash);
  if (hash && hash != subledger_hash(bytes, count - subledger_reserved, offset))
    return SQLITE_CORRUPT;
  memset(end, 0, sizeof hash);
  return SQLITE_OK;
}

static int subledger_write(
    sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  subledger_file *own = (subledger_file *)file;
  if (offset == 0 && count >= 100) subledger_see_header(own, bytes);
  if (!subledger_is_page(own, count, offset))
    return own->below->pMethods->xWrite(own->below, bytes, count, offset);
  // SQLite's own memory, of which it never reads the reserved bytes.
  unsigned char *end = (unsigned char *)bytes + count - subledger_reserved;
  uint64_t hash = subledger_hash(bytes, count - subledger_reserved, offset);
  memcpy(end, &hash, sizeof hash);
  int code = own->below->pMethods->xWrite(own->below, bytes, count, offset);
  memset(end, 0, sizeof hash);
  return code;
}

// What the system's file does as it is.
#define SUBLEDGER_PASS(name, method, parameters, ...)                   \
  static int subledger_##name parameters {                              \
    return subledger_below(f)->pMethods->method(subledger_below(f) __VA_ARGS__); \
  }
SUBLEDGER_PASS(close, xClose, (sqlite3_file * f))
SUBLEDGER_PASS(truncate, xTruncate, (sqlite3_file * f, sqlite3_int64 size), , size)
SUBLEDGER_PASS(sync, xSync, (sqlite3_file * f, int flags), , flags)
SUBLEDGER_PASS(size, xFileSize, (sqlite3_file * f, sqlite3_int64 *size), , size)
SUBLEDGER_PASS(lock, xLock, (sqlite3_file * f, int level), , level)
SUBLEDGER_PASS(unlock, xUnlock, (sqlite3_file * f, int level), , level)
SUBLEDGER_PASS(reserved_lock, xCheckReservedLock, (sqlite3_file * f, int *is_held), , is_held)
SUBLEDGER_PASS(control, xFileControl, (sqlite3_file * f, int what, void *value), , what, value)
SUBLEDGER_PASS(sector, xSectorSize, (sqlite3_file * f))
SUBLEDGER_PASS(
    map, xShmMap, (sqlite3_file * f, int part, int size, int extend, void volatile **at), , part,
    size, extend, at)
SUBLEDGER_PASS(shm_lock, xShmLock, (sqlite3_file * f, int at, int count, int how), , at, count, how)
SUBLEDGER_PASS(unmap, xShmUnmap, (sqlite3_file * f, int remove), , remove)
#undef SUBLEDGER_PASS

static void subledger_barrier(sqlite3_file *f) {
  subledger_below(f)->pMethods->xShmBarrier(subledger_below(f));
}

// Without the right to read parts of a page past these files.
static int subledger_traits(sqlite3_file *f) {
  const int subpage_read = 0x8000;  // SQLITE_IOCAP_SUBPAGE_READ of newer versions
  return subledger_below(f)->pMethods->xDeviceCharacteristics(subledger_below(f)) & ~subpage_read;
}

static int subledger_open(
    sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  if (!(flags & SQLITE_OPEN_MAIN_DB))
    return subledger_system->xOpen(subledger_system, name, file, flags, out);
  subledger_file *own = (subledger_file *)file;
  memset(own, 0, sizeof *own);
  own->below = (sqlite3_file *)(own + 1);
  own->is_checked = -1;
  int code = subledger_system->xOpen(subledger_system, name, own->below, flags, out);
  if (!code) own->file.pMethods = &subledger_methods;
  return code;
}

// Makes these files those that `sqlite3_open_v2` opens by the name "subledger"; called once.
static inline int subledger_register_files(void) {
  // Else every piece of memory is counted behind one lock, and nothing asks how much there is.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  subledger_system = sqlite3_vfs_find(0);
  if (!subledger_system) return SQLITE_ERROR;
  subledger_methods = (sqlite3_io_methods){
      2, subledger_close, subledger_read, subledger_write, subledger_truncate, subledger_sync,
      subledger_size, subledger_lock, subledger_unlock, subledger_reserved_lock,
      subledger_control, subledger_sector, subledger_traits, subledger_map, subledger_shm_lock,
      subledger_barrier, subledger_unmap, 0, 0};
  subledger_checked = *subledger_system;
  subledger_checked.zName = "subledger";
  subledger_checked.pNext = 0;
  subledger_checked.szOsFile += (int)sizeof(subledger_file);
  subledger_checked.xOpen = subledger_open;
  return sqlite3_vfs_register(&subledger_checked, 0);
}
