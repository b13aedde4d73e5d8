public import Foundation

/// A command failed that had to succeed.
public struct CommandFailed: Error {
  let command: [String]
  let status: Int32
}

/// Runs a system command, found by PATH, in `folder`, and waits for its end.
///
/// A command ended by a signal gives 128 plus its number, as in a shell.
public func execute(
  _ command: [String], in folder: String? = nil
) throws -> (status: Int32, output: Data) {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = command
  if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = pipe
  try process.run()
  let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  let status = process.terminationStatus
  return (process.terminationReason == .exit ? status : 128 + status, output)
}

/// The standard output of a command that must succeed.
///
/// - Throws: `CommandFailed` when its exit code is not 0.
@discardableResult
public func output(of command: [String], in folder: String? = nil) throws -> Data {
  let (status, output) = try execute(command, in: folder)
  guard status == 0 else { throw CommandFailed(command: command, status: status) }
  return output
}
