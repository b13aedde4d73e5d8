/// The targets of Package.swift in order.
struct TargetOrder {
  struct Target {
    let name: String
    let line: Int
    /// The quoted names of its dependencies, without package products.
    let dependencies: [String]
  }

  let targets: [Target]

  init(manifest: String) throws {
    let opening = #"\.(?:systemLibrary|target|executableTarget|testTarget)\(\s*name:\s*"(\w+)""#
    let found = try matches(of: opening, in: manifest)
    let lines = manifest.split(separator: "\n", omittingEmptySubsequences: false)
    targets = try found.enumerated().map { index, match in
      let end = index + 1 < found.count ? found[index + 1].line - 1 : lines.count
      let body = lines[(match.line - 1)..<max(end, match.line)].joined(separator: "\n")
      return Target(
        name: match.group, line: match.line, dependencies: try Self.dependencies(in: body))
    }
  }

  private static func dependencies(in body: String) throws -> [String] {
    guard let list = try matches(of: #"dependencies:\s*\[((?:[^\[\]])*)\]"#, in: body).first else {
      return []
    }
    return try matches(of: #"\.product\([^)]*\)|"(\w+)""#, in: list.group).map(\.group)
      .filter { !$0.isEmpty }
  }

  /// Dependencies on later targets, or on the target itself.
  var violations: [Violation] {
    var above: Set<String> = []
    var found: [Violation] = []
    let names = Set(targets.map(\.name))
    for target in targets {
      for name in target.dependencies where names.contains(name) && !above.contains(name) {
        found.append(
          Violation(
            path: "Package.swift", line: target.line,
            problem: "\(target.name) uses \(name), which does not stand above it"))
      }
      above.insert(target.name)
    }
    return found
  }
}
