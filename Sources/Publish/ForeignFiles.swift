// What stands in the published folder and is not ours stays there: it is linked into the staged
// folder before the two are exchanged, so that no moment exists in which it is missing.
internal import Glibc

/// Links every foreign entry into the staged folder; false when that cannot be.
///
/// A folder that has content and was never published to may be anything, a home folder even; it
/// is left standing, and files are renamed into it one by one.
func linkForeignFiles(
  into staging: Staging, earlier: Checksums
) throws(PublishError) -> Bool {
  let top = try names(in: staging.out)
  if earlier.hashes.isEmpty { return top.isEmpty }
  return try link("", in: staging, earlier: earlier)
}

private func link(
  _ prefix: String, in staging: Staging, earlier: Checksums
) throws(PublishError) -> Bool {
  for name in try names(in: "\(staging.out)/\(prefix)") {
    let path = prefix + name
    if path == checksumsName || earlier.hashes[path] != nil { continue }
    let old = "\(staging.out)/\(path)"
    let new = "\(staging.path)/\(path)"
    if try entryType(old) == .folder {
      guard try linkFolder(path, in: staging, earlier: earlier) else { return false }
    } else if try entryType(new) == nil, Glibc.link(old, new) != 0 {
      return false
    }
  }
  return true
}

/// A folder that held only files of the earlier set vanishes with them.
private func linkFolder(
  _ path: String, in staging: Staging, earlier: Checksums
) throws(PublishError) -> Bool {
  let isOurs = earlier.hashes.keys.contains { $0.hasPrefix(path + "/") }
  let new = "\(staging.path)/\(path)"
  let isNew = try entryType(new) == nil
  if isNew, mkdir(new, 0o700) != 0 { return false }
  guard try entryType(new) == .folder,
    try link(path + "/", in: staging, earlier: earlier)
  else { return false }
  if isNew, isOurs, try names(in: new).isEmpty { return rmdir(new) == 0 }
  guard isNew else { return true }
  // It keeps the rights that somebody gave it.
  var status = stat()
  return stat("\(staging.out)/\(path)", &status) == 0 && chmod(new, status.st_mode & 0o7777) == 0
}
