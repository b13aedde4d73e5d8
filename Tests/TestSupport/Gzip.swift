public import Foundation

/// What `gzip` makes of a file, with `-c` to unpack it or `-nc` to pack it.
public func gzip(_ flags: String, _ path: String) throws -> Data {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["gzip", flags, path]
  process.standardOutput = pipe
  try process.run()
  let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return bytes
}
