internal import Glibc

/// Renames the staged files to their places, and removes those that are no longer made.
///
/// Works on every filesystem. The checksums change last, so a check in between fails.
func moveOneByOne(
  _ sums: Checksums, vanished: [String], from staging: Staging
) throws(PublishError) {
  let paths = sums.paths.filter { $0 != manifestName } + [manifestName]
  for path in paths { try move(path, from: staging) }
  for path in vanished {
    try removeAll("\(staging.out)/\(path)")
    if path.contains("/") { rmdir(parent(of: "\(staging.out)/\(path)")) }
  }
  try syncFolders(of: paths, in: staging.out)
  try move(checksumsName, from: staging)
  try sync(staging.out)
}

private func move(_ path: String, from staging: Staging) throws(PublishError) {
  let staged = "\(staging.path)/\(path)"
  let target = "\(staging.out)/\(path)"
  try makeFolders(parent(of: target))
  // Renaming a file to another name of itself would leave both names.
  if try isSameFile(staged, target) { return }
  guard rename(staged, target) == 0 else {
    throw .system("rename a report to", target, .cannotCreate)
  }
}

private func syncFolders(of paths: [String], in out: String) throws(PublishError) {
  for folder in Set(paths.map { parent(of: "\(out)/\($0)") }) { try sync(folder) }
}
