import Domain
import Testing

@testable import Pipeline

@Suite("A small YAML file cannot exceed memory or the library's limits")
struct YAMLBoundsTests {
  private let file = YAMLFile(name: "a.yaml", hint: "do")

  private func problem(_ text: String) -> String? {
    do throws(SubledgerError) {
      _ = try file.root(of: Array(text.utf8))
      return nil
    } catch {
      return error.message
    }
  }

  @Test("Aliases are refused before they are expanded; anchors alone are allowed")
  func aliases() {
    let refusal = "a.yaml, line 2: aliases (*name) are not allowed"
    #expect(problem("a: &a [x, x]\nb: *a\n") == refusal)
    #expect(problem("a: &a {b: 1}\n<<: *a\n") == refusal)
    #expect(problem("a: &a {b: 1}\n*a : 1\n") == refusal)
    #expect(problem("a: &a [x, x]\nb: 1\n") == nil)
  }

  @Test("Thirty-two levels of nesting are allowed, and no more")
  func depth() {
    func nested(_ count: Int) -> String {
      String(repeating: "[", count: count) + String(repeating: "]", count: count)
    }
    let refusal = "a.yaml, line 1: more than 32 lists and mappings are nested"
    #expect(problem(nested(32)) == nil)
    #expect(problem(nested(33)) == refusal)
    #expect(problem(nested(900)) == refusal)
    #expect(problem(nested(200_000)) != nil)
  }

  @Test(
    "A list or mapping is refused as a key, wherever and however it is written",
    arguments: [
      "a: 1\n? period: P1Y\n", "a: 1\n? [b]\n: 1\n", "a: 1\n{b: 1}: 2\n",
      "a:\n  - {b: [{c: {[]: 1}}]}\n", "a: 1\n? {=: b}\n: 1\n", "a: 1\n? !!str [b]\n",
      "a: 1\n? !!map {}\n", "a:\n  !!set {{}}\n", "a:\n  !!omap [{[]: 1}]\n",
      "a: 1\n<<: [{? []}]\n", "a: 1\n? - b\n",
      "a: 1\n--- {{}: 1}\n",
    ])
  func keys(_ text: String) throws {
    #expect(problem(text) == "a.yaml, line 2: a key must be a text, not a list or mapping")
    for read in [configurationProblem, decisionsProblem] {
      let error = try #require(read(Array(text.utf8)))
      #expect(error.message.contains("a.yaml, line 2: "))
    }
  }

  @Test("Keys that YAML reads as other types are ordinary names")
  func oddKeys() throws {
    for key in [
      "null", "~", "1.5", "2026-03-01", "true", "0x1F", "!!binary aGk=", "=", "'<<'", "''",
    ] {
      let error = try #require(
        configurationProblem(Array("products: {\(key): [a]}\n\(key): 1\n".utf8)))
      #expect(error.message.contains("unknown key"), "\(key): \(error)")
    }
  }

  @Test("A value in base 60 or 8 is kept as written, however long")
  func numbers() throws {
    let long = "1" + String(repeating: ":00", count: 40)
    let text = """
      products: {a: 0123, b: [1:30, \(long)], c: 9223372036854775807:59, d: 12, e: -1:30}
      """
    let products = try Configuration.read(Array(text.utf8), named: "a.yaml").products
    #expect(
      products == [
        "a": ["0123"], "b": ["1:30", long], "c": ["9223372036854775807:59"], "d": ["12"],
        "e": ["-1:30"],
      ])
    let error = try #require(configurationProblem(Array("jobs: 1:30\n".utf8)))
    #expect(error.message.contains("`jobs`: \"1:30\" is not a whole number"))
    #expect(configurationProblem(Array("jobs: !!int \(long)\n".utf8)) != nil)
    for tag in ["!!set {a}", "!!timestamp 2026-03-01", "!!binary aGk=", "!!omap [a]"] {
      #expect(configurationProblem(Array("jobs: \(tag)\n".utf8)) != nil)
    }
  }

  private func configurationProblem(_ bytes: [UInt8]) -> SubledgerError? {
    do throws(SubledgerError) {
      _ = try Configuration.read(bytes, named: "a.yaml")
      return nil
    } catch {
      return error
    }
  }

  private func decisionsProblem(_ bytes: [UInt8]) -> SubledgerError? {
    do throws(SubledgerError) {
      _ = try DecisionsFile(bytes, named: "a.yaml")
      return nil
    } catch {
      return error
    }
  }
}

@Suite("A text file written by a person is UTF-8")
struct YAMLTextTests {
  @Test("A byte order mark is ignored")
  func byteOrderMark() throws {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    #expect(try YAMLFile(name: "a", hint: "").root(of: mark) == nil)
    #expect(try Configuration.read(mark + "out: größe\n".utf8, named: "c").job.out == "größe")
    let decision = "- {break_id: b-00000000000000ab, decision: explained, reason: r, who: w}\n"
    #expect(try DecisionsFile(mark + decision.utf8, named: "d").decisions.count == 1)
  }

  @Test("Other bytes are refused, and their line is reported")
  func otherBytes() throws {
    for damage in [[0x8d], [0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80]] as [[UInt8]] {
      let error = try #require(throws: SubledgerError.self) {
        try YAMLFile(name: "a.yaml", hint: "").root(of: "a: 1\n# ".utf8 + damage + "\nb: 1\n".utf8)
      }
      #expect(error.message == "a.yaml, line 2: the line is not UTF-8; save the file as UTF-8")
    }
  }
}
