// Makes the folder that a power cut would have left, from the folder before a run and the trace
// of the run (trace.c).
//
// usage: powercut TRACE BEFORE AFTER CUT MODE SEED
//   CUT   how many changes of the trace were made before the cut; 0 prints how many there are
//   MODE  what a disk keeps of those that were not synced:
//         synced  none of them
//         prefix  the first so many, by chance
//         subset  of names the first so many, of bytes any of their pages of 4 KiB, by chance
//
// Names are kept when their folder was synced, bytes when their file was. A journaling filesystem
// keeps more (what was named before something kept is named, too); the modes are stricter.
// Memory shared by SQLite's connections (-shm) is no file of the disk and never kept.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace.h"

struct node {
  int is_folder;
  char *bytes;  // of a file
  size_t size;
  struct entry {
    char *name;
    struct node *node;  // as the process saw it
    struct node *kept;  // as the disk has it
  } *entries;           // of a folder
  size_t count;
};

struct change {
  size_t record;        // of the trace, which is kept as a whole
  struct node *folder;  // NULL: of the bytes of node
  char *name;
  struct node *node;
  char what;
  int64_t offset, count;
  char *bytes;
  int is_synced;
};

static struct change *changes;
static size_t change_count;
static struct node *root;

static void *need(void *memory) {
  if (memory) return memory;
  perror("powercut");
  exit(2);
}

static struct entry *entry(struct node *folder, const char *name) {
  for (size_t i = 0; i < folder->count; i++)
    if (strcmp(folder->entries[i].name, name) == 0) return &folder->entries[i];
  folder->entries = need(realloc(folder->entries, (folder->count + 1) * sizeof(struct entry)));
  folder->entries[folder->count] = (struct entry){need(strdup(name)), NULL, NULL};
  return &folder->entries[folder->count++];
}

static struct node *seen(struct node *folder, const char *name) {
  return folder && folder->is_folder ? entry(folder, name)->node : NULL;
}

static struct node *load(const char *path) {
  struct node *node = need(calloc(1, sizeof *node));
  DIR *folder = opendir(path);
  if (folder) {
    node->is_folder = 1;
    for (struct dirent *next; (next = readdir(folder));) {
      if (strcmp(next->d_name, ".") == 0 || strcmp(next->d_name, "..") == 0) continue;
      char child[4096];
      snprintf(child, sizeof child, "%s/%s", path, next->d_name);
      struct node *loaded = load(child);
      struct entry *place = entry(node, next->d_name);
      place->node = place->kept = loaded;
    }
    closedir(folder);
    return node;
  }
  FILE *file = need(fopen(path, "rb"));
  fseek(file, 0, SEEK_END);
  node->size = (size_t)ftell(file);
  rewind(file);
  node->bytes = need(malloc(node->size + 1));
  if (fread(node->bytes, 1, node->size, file) != node->size) exit(2);
  fclose(file);
  return node;
}

// The folder that holds the last name of a path, and that name; as the process saw them.
static struct node *walk(char *path, char **last) {
  struct node *node = root;
  char *slash;
  while ((slash = strchr(path, '/'))) {
    *slash = 0;
    node = seen(node, path);
    *slash = '/';
    path = slash + 1;
  }
  *last = path;
  return node;
}

static void add(struct change change) {
  if (change_count % 1024 == 0)
    changes = need(realloc(changes, (change_count + 1024) * sizeof change));
  changes[change_count++] = change;
}

static void rename_entry(size_t record, struct node *folder, char *name, struct node *node) {
  if (!folder) return;
  name = need(strdup(name));
  add((struct change){.record = record, .folder = folder, .name = name, .node = node});
  entry(folder, name)->node = node;
}

static void sync_node(const struct node *node) {
  for (size_t i = 0; i < change_count; i++) {
    struct change *change = &changes[i];
    if (change->folder ? change->folder != node : change->node != node) continue;
    // A rename is kept in both folders or in none.
    for (size_t j = 0; j < change_count; j++)
      if (changes[j].record == change->record) changes[j].is_synced = 1;
  }
}

static void replay(size_t number, struct record record, char *one, char *other, char *bytes) {
  char *name, *new_name;
  struct node *folder = walk(one, &name), *new_folder = walk(other, &new_name);
  struct node *node = seen(folder, name);
  switch (record.what) {
    case 'c':
    case 'd':
      node = need(calloc(1, sizeof *node));
      node->is_folder = record.what == 'd';
      rename_entry(number, folder, name, node);
      break;
    case 'u': rename_entry(number, folder, name, NULL); break;
    case 'l': rename_entry(number, new_folder, new_name, node); break;
    case 'r':
    case 'x':
      rename_entry(number, folder, name, record.what == 'x' ? seen(new_folder, new_name) : NULL);
      rename_entry(number, new_folder, new_name, node);
      break;
    case 's': sync_node(*one ? node : root); break;
    case 'w':
    case 't':
      if (!node) break;
      add((struct change){.record = number, .node = node, .what = record.what,
                          .offset = record.offset, .count = record.count, .bytes = bytes});
      break;
  }
}

static void resize(struct node *node, size_t size) {
  node->bytes = need(realloc(node->bytes, size + 1));
  if (size > node->size) memset(node->bytes + node->size, 0, size - node->size);
  node->size = size;
}

// Does on the disk what is kept of a change.
static void keep(const struct change *change, int pages_by_chance) {
  if (change->folder) {
    entry(change->folder, change->name)->kept = change->node;
    return;
  }
  if (change->what == 't') {
    if (!pages_by_chance || random() % 2) resize(change->node, (size_t)change->offset);
    return;
  }
  for (int64_t start = 0; start < change->count;) {
    int64_t at = change->offset + start, length = 4096 - at % 4096;
    if (length > change->count - start) length = change->count - start;
    if (!pages_by_chance || random() % 2) {
      if (change->node->size < (size_t)(at + length)) resize(change->node, (size_t)(at + length));
      memcpy(change->node->bytes + at, change->bytes + start, (size_t)length);
    }
    start += length;
  }
}

static void store(const struct node *node, const char *path) {
  if (node->is_folder) {
    mkdir(path, 0755);
    for (size_t i = 0; i < node->count; i++) {
      const char *name = node->entries[i].name;
      size_t length = strlen(name);
      if (!node->entries[i].kept) continue;
      if (length > 4 && strcmp(name + length - 4, "-shm") == 0) continue;
      char child[4096];
      snprintf(child, sizeof child, "%s/%s", path, name);
      store(node->entries[i].kept, child);
    }
    return;
  }
  FILE *file = need(fopen(path, "wb"));
  if (fwrite(node->bytes, 1, node->size, file) != node->size || fclose(file) != 0) exit(2);
}

int main(int count, char **words) {
  if (count != 7) return 2;
  size_t cut = strtoul(words[4], NULL, 10), records = 0;
  srandom((unsigned)atoi(words[6]));
  root = load(words[2]);
  FILE *trace = need(fopen(words[1], "rb"));
  struct record record;
  while ((cut == 0 || records < cut) && fread(&record, sizeof record, 1, trace) == 1) {
    char *one = need(calloc(1, (size_t)record.one + 1));
    char *other = need(calloc(1, (size_t)record.other + 1));
    char *bytes = need(malloc((size_t)record.count + 1));
    if (fread(one, 1, (size_t)record.one, trace) != (size_t)record.one ||
        fread(other, 1, (size_t)record.other, trace) != (size_t)record.other ||
        fread(bytes, 1, (size_t)record.count, trace) != (size_t)record.count)
      break;
    if (cut) replay(records, record, one, other, bytes);
    records++;
  }
  if (cut == 0) return printf("%zu\n", records) < 0;
  int is_subset = strcmp(words[5], "subset") == 0;
  size_t first = strcmp(words[5], "synced") == 0 ? 0 : (size_t)random() % (cut + 1);
  for (size_t i = 0; i < change_count; i++) {
    int is_name = changes[i].folder != NULL, is_early = changes[i].record < first;
    if (changes[i].is_synced || (is_early && (is_name || !is_subset)))
      keep(&changes[i], 0);
    else if (!is_name && is_subset)
      keep(&changes[i], 1);
  }
  store(root, words[3]);
  return 0;
}
