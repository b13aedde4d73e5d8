import Glibc

/// The kernel's core files: the memory of a crashed process, with bodies and secrets.
enum CoreFiles {
  /// Disables core files for the rest of the process.
  ///
  /// Must be called before anything is read. A program that the system pipes core files to still
  /// receives the memory, unless it respects the limit, as those of systemd and Ubuntu do
  /// (core(5)).
  static func forbid() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}

/// The file handles that the process can open.
enum FileHandles {
  /// Raises the soft limit to the hard limit.
  static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
