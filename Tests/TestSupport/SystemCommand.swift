public import Foundation

/// A command that had to succeed and did not.
public struct CommandFailed: Error {
  let command: [String]
  let status: Int32
}

/// Runs a command of the system, found by PATH, in `folder`, and waits for its end.
///
/// A signal that ended it counts as 128 and its number, as to a shell.
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

/// What a command that has to succeed writes to standard output.
///
/// - Throws: `CommandFailed` when it ends with another code than 0.
@discardableResult
public func output(of command: [String], in folder: String? = nil) throws -> Data {
  let (status, output) = try execute(command, in: folder)
  guard status == 0 else { throw CommandFailed(command: command, status: status) }
  return output
}
