import Foundation

/// The path that a link at `path` leads to, whether or not something stands there; `path` itself
/// when there is no link.
///
/// The ledger's lock, its log and its copies belong to the file, whatever name it is given by.
func linksFollowed(_ path: String) -> String {
  var path = path
  // More than the system follows: a link that leads in a circle is left to it.
  for _ in 0..<64 {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
      return path
    }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    path = target.hasPrefix("/") ? target : folder + target
  }
  return path
}
