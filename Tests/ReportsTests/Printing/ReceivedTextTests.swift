import Reports
import Testing

@Suite("The received text of a cell in the list of charges")
struct ReceivedTextTests {
  @Test(
    "Every text is restored as received",
    arguments: [
      "", "plain", "=1+1", "'=1+1", "''=x", "'quoted", "-5", "＝1", "a;=1", "a;\"b", "\u{1b}[2J",
      "tab\tand\nline", "back\\slash", "\\u{1b}", "\u{202e}abc", "'\\u{9}x", "\t=", "ü🙂",
    ])
  func text(received: String) {
    #expect(receivedText(cellText(received)) == received)
  }

  @Test("A name that was escaped when read keeps its escapes")
  func name() {
    #expect(receivedText("a\\u{1b}b", isName: true) == "a\\u{1b}b")
    #expect(receivedText("'=a", isName: true) == "=a")
  }
}
