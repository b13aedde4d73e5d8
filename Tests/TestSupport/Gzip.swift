public import Foundation

/// What `gzip` makes of a file, with `-dc` to unpack it or `-nc` to pack it; fails
/// when gzip finds fault with it.
public func gzip(_ flags: String, _ path: String) throws -> Data {
  try output(of: ["gzip", flags, path])
}
