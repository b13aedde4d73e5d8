import Glibc

/// Core files, which hold the memory of a crashed process with the bodies and secrets in it.
enum CoreFiles {
  /// Has the kernel write none, and lets nothing take that back.
  ///
  /// To be called before anything is read. A program that receives the system's core files can read
  /// the memory all the same, unless it respects the limit, as those of systemd and Ubuntu do
  /// (core(5)).
  static func forbid() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}
