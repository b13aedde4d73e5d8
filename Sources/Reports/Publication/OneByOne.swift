// The route that works on every filesystem. The checksums change last, so that a check in between
// detects that the set is incomplete.
internal import Domain
internal import Formats
internal import Glibc

/// Renames the staged files to their final paths, and removes files that are no longer produced.
func moveOneByOne(
  _ sums: Checksums, vanished: [String], from staging: Staging
) throws(SubledgerError) {
  let out = try OpenFolder(staging.out)
  let paths = sums.paths.filter { $0 != manifestName } + [manifestName]
  for path in paths { try move(path, from: staging, to: out) }
  for path in vanished.map({ RawPath($0) }) {
    try out.removeAll(path)
    if !path.parent.bytes.isEmpty { out.removeFolder(path.parent) }
  }
  for folder in Set(paths.map { RawPath($0).parent }) { try out.sync(folder) }
  try move(checksumsName, from: staging, to: out)
  try out.sync()
}

private func move(
  _ path: String, from staging: Staging, to out: OpenFolder
) throws(SubledgerError) {
  let raw = RawPath(path)
  let target = out.shown(raw)
  if !raw.parent.bytes.isEmpty, !out.makeFolder(raw.parent, 0o755), errno != EEXIST {
    throw .system("make the folder of", target, .cannotCreate)
  }
  // Renaming a file to a second name of itself would leave both names.
  if let staged = try staging.folder.status(of: raw), let there = try out.status(of: raw),
    staged.isSame(as: there)
  {
    return
  }
  if staging.folder.move(raw, into: out) { return }
  guard errno == EXDEV else { throw .system("rename a report to", target, .cannotCreate) }
  // A folder may be mounted over the path, where only a copy can be written.
  let copy = "\(parent(of: target))/.\(lastPart(of: target)).new"
  unlink(copy)
  try copyFile("\(staging.path)/\(path)", to: copy)
  try sync(copy)
  guard rename(copy, target) == 0 else { throw .system("rename", copy, .cannotCreate) }
}
