// libcurl is loaded when it is first used: linked, it and the 27 libraries that it needs would add
// 4 ms to the start of every command. Names, values and signatures are those of its ABI, which has
// not changed since 2006; the newest function is curl_multi_poll, of 7.66.
//
// No header of glibc is included: its types would be this module's in some files and Glibc's in
// others.
#pragma clang assume_nonnull begin
extern void *_Nullable dlopen(const char *, int);
extern void *_Nullable dlsym(void *, const char *);

// A finished transfer.
struct curl_message {
  int kind;
  void *transfer;
  union {
    void *other;
    int result;
  } data;
};

struct __attribute__((swift_attr("@Sendable"))) curl_library {
  // 0 when the library is not installed; then nothing else is set.
  int is_loaded;
  int (*global_init)(long);
  void *_Nullable (*_Nonnull easy_init)(void);
  void (*easy_cleanup)(void *);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_getinfo)(void *, int, ...);
  const char *_Nonnull (*easy_strerror)(int);
  void *_Nullable (*_Nonnull slist_append)(void *_Nullable, const char *);
  void (*slist_free_all)(void *_Nullable);
  void *_Nullable (*_Nonnull multi_init)(void);
  int (*multi_cleanup)(void *);
  int (*multi_add_handle)(void *, void *);
  int (*multi_remove_handle)(void *, void *);
  int (*multi_perform)(void *, int *);
  int (*multi_poll)(void *, void *_Nullable, unsigned, int, int *_Nullable);
  struct curl_message *_Nullable (*_Nonnull multi_info_read)(void *, int *);
};

static inline struct curl_library curl_load(void) {
  struct curl_library curl = {0};
  const int now = 2;  // RTLD_NOW
  // Debian has it with OpenSSL under the first name, with GnuTLS under the second.
  void *library = dlopen("libcurl.so.4", now);
  if (!library) library = dlopen("libcurl-gnutls.so.4", now);
  if (!library) return curl;
#define FIND(name) (curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name))
  const long everything = 3;
  curl.is_loaded = FIND(global_init) && FIND(easy_init) && FIND(easy_cleanup) &&
                   FIND(easy_setopt) && FIND(easy_getinfo) && FIND(easy_strerror) &&
                   FIND(slist_append) && FIND(slist_free_all) && FIND(multi_init) &&
                   FIND(multi_cleanup) && FIND(multi_add_handle) && FIND(multi_remove_handle) &&
                   FIND(multi_perform) && FIND(multi_poll) && FIND(multi_info_read) &&
                   curl.global_init(everything) == 0;
#undef FIND
  return curl;
}

enum {
  CURLOPT_WRITEDATA = 10001,
  CURLOPT_URL = 10002,
  CURLOPT_WRITEFUNCTION = 20011,
  CURLOPT_HTTPHEADER = 10023,
  CURLOPT_CUSTOMREQUEST = 10036,
  CURLOPT_POSTFIELDSIZE = 60,
  CURLOPT_CAINFO = 10065,
  CURLOPT_NOSIGNAL = 99,
  CURLOPT_ACCEPT_ENCODING = 10102,
  CURLOPT_TIMEOUT_MS = 155,
  CURLOPT_CONNECTTIMEOUT_MS = 156,
  CURLOPT_COPYPOSTFIELDS = 10165,
  CURLOPT_PROTOCOLS = 181,
  CURLOPT_PATH_AS_IS = 234,
  CURLINFO_RESPONSE_CODE = 0x200002,
  CURLINFO_HTTP_CONNECTCODE = 0x200016,
  CURLINFO_RETRY_AFTER = 0x600039,
};

// Swift calls no functions with variable arguments.

static inline int curl_set_number(struct curl_library curl, void *transfer, int option, long value) {
  return curl.easy_setopt(transfer, option, value);
}

static inline int curl_set_pointer(struct curl_library curl, void *transfer, int option,
                                   const void *_Nullable value) {
  return curl.easy_setopt(transfer, option, value);
}

typedef unsigned long (*curl_write)(const unsigned char *, unsigned long, unsigned long, void *);

static inline int curl_set_write(struct curl_library curl, void *transfer, curl_write function) {
  return curl.easy_setopt(transfer, CURLOPT_WRITEFUNCTION, function);
}

// 0 when it is not known; both that are asked for have eight bytes.
static inline long curl_number(struct curl_library curl, void *transfer, int info) {
  long value = 0;
  return curl.easy_getinfo(transfer, info, &value) == 0 ? value : 0;
}
#pragma clang assume_nonnull end
