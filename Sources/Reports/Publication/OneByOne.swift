// The way that works on every filesystem: the checksums change last, so that a checker who comes
// in between sees that the set is being changed.
internal import Domain
internal import Glibc

/// Renames the staged files to their places, and removes files that are no longer made.
func moveOneByOne(
  _ sums: Checksums, vanished: [String], from staging: Staging
) throws(SubledgerError) {
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

private func move(_ path: String, from staging: Staging) throws(SubledgerError) {
  let staged = "\(staging.path)/\(path)"
  let target = "\(staging.out)/\(path)"
  try makeFolders(parent(of: target))
  // Renaming a file to another name of itself would leave both names.
  if try isSameFile(staged, target) { return }
  if rename(staged, target) == 0 { return }
  guard errno == EXDEV else { throw .system("rename a report to", target, .cannotCreate) }
  // A folder mounted over the place: only a copy gets there.
  let copy = "\(parent(of: target))/.\(lastPart(of: target)).new"
  try copyFile(staged, to: copy)
  try sync(copy)
  guard rename(copy, target) == 0 else { throw .system("rename", copy, .cannotCreate) }
}

private func syncFolders(of paths: [String], in out: String) throws(SubledgerError) {
  for folder in Set(paths.map { parent(of: "\(out)/\($0)") }) { try sync(folder) }
}
