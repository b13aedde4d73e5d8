public import Foundation

/// The output of `gzip` for a file, with `-dc` to unpack or `-nc` to pack; fails when gzip reports
/// an error.
public func gzip(_ flags: String, _ path: String) throws -> Data {
  try output(of: ["gzip", flags, path])
}
