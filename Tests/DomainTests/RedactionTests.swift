import Testing
import Domain

@Suite("Redaction replaces an id and nothing else")
struct RedactionTests {
  @Test(
    "Only a whole word is replaced, because a longer one can be another person's id",
    arguments: [
      ("QON_user_1", "QON_user_10 asked", "QON_user_10 asked"),
      ("QON_user_1", "QON_user_1 asked, QON_user_1.", "NAME asked, NAME."),
      ("QON_user_1", "for aQON_user_1", "for aQON_user_1"), ("u", "", ""),
      ("u-1", "u-1,u-1 u-1", "NAME,NAME NAME"), ("aa", "aaa aa", "aaa NAME"),
      ("ü-1", "ü-1|ü-12", "NAME|ü-12"), ("12345678", "user:12345678", "user:NAME"),
    ])
  func words(id: String, text: String, redacted: String) {
    #expect(Redaction(id: id, name: "NAME").applied(to: text) == redacted)
  }
}
