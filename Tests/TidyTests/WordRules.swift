/// The words and patterns that sources must not contain.
///
/// An exception must have its reason here, next to the rule.
extension WordRule {
  static let all: [WordRule] = [access, safety, facts, words, language].flatMap(\.self)

  private static let access: [WordRule] = [
    WordRule(
      sentence: "Access is `private`, default or `public`.",
      // There is no other way to write a public name that only its module may set.
      pattern: #"\b(?:(?:package|open|fileprivate)(?:\(set\))?|internal)\s+"#
        + #"(?:static|final|class|struct|enum|func|var|let|init|protocol|extension|actor"#
        + #"|typealias|subscript|mutating|indirect|override|lazy|weak|nonisolated)\b"#
        + #"|^[ \t]*(?:package|fileprivate)\s+import\b|@usableFromInline\b"#,
      exceptions: ["Sources/Domain/Heap.swift": "other modules inline it, whose rows it orders"],
      example: "  fileprivate static let width = 24"),
    WordRule(
      sentence: "Public generics are many times slower across modules.",
      pattern: #"\bpublic\s+(?:static\s+|mutating\s+|final\s+)*(?:func\s+\w+|init|subscript)\s*<"#,
      within: ["Sources/"],
      example: "public func sorted<Element>(_ list: [Element]) {}"),
  ]

  private static let safety: [WordRule] = [
    WordRule(
      sentence: "An error is thrown or reported, never a crash.",
      pattern: #"\btry!|\bfatalError\b"#,
      example: "let tree = try! read()"),
    WordRule(
      sentence: "The compiler checks what threads share.",
      pattern: #"@unchecked\b|\bnonisolated\(unsafe\)|@preconcurrency\b"#,
      example: "final class Box: @unchecked Sendable {}"),
    WordRule(
      sentence: "Only these files may use threads and locks.",
      pattern: #"\b(?:Mutex|Atomic|DispatchQueue|DispatchGroup|DispatchSemaphore|NSLock|Thread"#
        + #"|Task|withTaskGroup|withThrowingTaskGroup)\b(?=\s*[(<.{])"#,
      within: ["Sources/"],
      exceptions: [
        "Sources/Pipeline/Workers.swift": "the only concurrency of a run",
        "Sources/Pipeline/Spark/SparkEngine.swift": "reports that ask Spark run in threads",
        "Sources/subledger/": "signals arrive on a queue",
      ],
      example: "let count = Mutex(0)"),
    WordRule(
      sentence: "Money is whole millionths; binary fractions round unnoticed.",
      pattern: #"\b(?:Double|Float|Float16|Float32|Float64|Float80|CGFloat)\b"#,
      within: [
        "Sources/Domain/", "Sources/Formats/JSON/", "Sources/Providers/", "Sources/EventStore/",
        "Sources/Subscriptions/", "Sources/Reconciliation/",
      ],
      exceptions: ["Sources/Reconciliation/Findings/FeedGaps.swift": "a probability, not money"],
      example: "let price: Double = 0"),
    WordRule(
      sentence: "Only the command reads the clock; below it, time is an argument.",
      pattern: #"\bDate\(\)|\bDate\.now\b|\bDate\(timeIntervalSinceNow\b|\btime\(nil\)"#
        + #"|\b(?:clock_gettime|gettimeofday)\(|\b(?:Continuous|Suspending)Clock\b"#
        + #"|\bDispatch(?:Wall)?Time\.now\b"#,
      exceptions: [
        "Sources/subledger/": "the default of as-of is now",
        "Tests/SubledgerTests/Ledger/EraseTests.swift": "how long a command takes",
      ],
      example: "let today = Date()"),
    WordRule(
      sentence: "Only the command prints; below it, results are values.",
      pattern: #"(?<![.\w])(?:print|debugPrint|dump)\("#,
      within: ["Sources/"],
      exceptions: ["Sources/subledger/": "the command line prints for people"],
      example: "  print(total)"),
    WordRule(
      sentence: "The binary carries its resources; Bundle.module breaks once it is moved.",
      pattern: #"\bBundle\.module\b|\bunsafeFlags\b"#,
      example: "let schema = Bundle.module.url"),
  ]

  private static let facts: [WordRule] = [
    WordRule(
      sentence: "Code asks `ProviderCapabilities`, and does not compare provider names.",
      pattern: #"\b[pP]rovider\s*[!=]=\s*\.|[!=]=\s*(?:Provider)?\."#
        + #"(?:qonversion|flobuk|iaptic|purple)\b"#,
      within: ["Sources/"],
      exceptions: [
        "Sources/Providers/": "a provider's names and shapes are read there",
        "Sources/Simulation/":
          "what each provider sends is made up there, apart from what reads it",
      ],
      example: "guard event.provider != .qonversion else { return }")
  ]

  private static let words: [WordRule] = [
    WordRule(
      sentence: "The code contains no to-do notes.",
      pattern: #"\b(?:TODO|FIXME|XXX|HACK)\b"#, part: .comments,
      example: "// TODO: later"),
    WordRule(
      sentence: "The linter has no exceptions.",
      pattern: #"swift-format-ignore"#, part: .comments,
      example: "// swift-format-ignore"),
    WordRule(
      sentence: "Code that is not needed is deleted; the history keeps it.",
      pattern: #"//\s*(?:(?:let|var)\s+\w+\s*[:=]|(?:return|guard|func|import)\b.*[{;=(]$|\}\s*$)"#,
      part: .comments,
      example: "// let total = 0"),
    WordRule(
      sentence: "A type name says what the type is.",
      pattern: #"\b(?:struct|class|enum|protocol|actor)\s+"#
        + #"\w*(?:Manager|Helpers?|Utils?|Service|Handler|Processor|Common|Impl)\b"#,
      example: "struct LedgerManager {}"),
  ]

  /// Words that the field does not use, with their replacements (docs/glossary.md).
  private static let language: [WordRule] = [
    ("[Nn]ights?", "run"), ("[Rr]etold", "reported again"), ("[Cc]ensus", "counts"),
    ("[Ss]tints?", "period"), ("[Oo]fferings?", "product key"), ("[Ff]orgotten", "erased"),
    ("[Tt]old", "reported"), ("[Tt]ells?", "reports"), ("[Tt]ally", "counts"),
    ("[Tt]wins?", "counterpart"), ("[Ww]aves?", "write batch"), ("[Nn]obody", "nothing, or a name"),
    ("[Dd]oors?", "API"), ("[Cc]omes? to", "equals"), ("[Kk]nows? of", "has"),
    ("[Ss]peaks? of", "is about"), ("[Ss]tands? for", "means"), ("[Tt]aken away", "revoked"),
    ("[Ss]ightings?", "state report"), ("[Tt]estimony", "evidence"), ("[Aa]new", "again"),
    ("[Ff]ormer", "previous"), ("[Ww]hoever", "a named subject"),
    ("[Ss]omebody", "a named subject"),
  ].flatMap { word, replacement in
    [WordRule.Part.code, .comments].map { part in
      WordRule(
        sentence: "The field's word is: \(replacement).", pattern: "\\b\(word)\\b", part: part,
        within: ["Sources/"],
        example: (part == .code ? "let x = " : "// ")
          + word.replacing(/\[.(.)\]/) { $0.1 }.replacing("s?", with: "s"),
        stem: String(word.drop { $0 != "]" }.dropFirst().prefix { $0 != "s" && $0 != "?" }))
    }
  }
}
