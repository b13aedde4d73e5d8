/// Why a world could not be written.
public enum SimulateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The plan asks for something impossible.
  case plan(reason: String)
  /// The folder already holds a world, or a file that the world would replace.
  case occupied(path: String)
  /// A signal asked to stop, and the folder holds a part of a world.
  case stopped(signal: Int32)
  /// A folder or file could not be made or written.
  case output(path: String, reason: String)

  /// What was being done, on what, why it failed, and what to do.
  public var description: String {
    switch self {
    case .plan(let reason):
      "planning the simulation failed: \(reason); change that option and run again"
    case .occupied(let path):
      "writing a simulated world failed: \(path) exists already, and a world replaces nothing; "
        + "choose another folder"
    case .stopped(let signal):
      "writing a simulated world was stopped by signal \(signal); what there is of it is not "
        + "whole: remove the folder"
    case .output(let path, let reason):
      "writing \(path) failed: \(reason); check that the folder is writable and the disk has room"
    }
  }
}
