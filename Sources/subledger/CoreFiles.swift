import Glibc

/// What the kernel writes of a process that dies: its memory, with the bodies and secrets in it.
enum CoreFiles {
  /// Has the kernel write none, and lets nothing take that back.
  ///
  /// To be called before anything is read. A program that the system hands core files to may see
  /// the memory all the same, unless it heeds the limit, as those of systemd and Ubuntu do
  /// (core(5)).
  static func forbid() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}
