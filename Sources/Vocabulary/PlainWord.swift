/// What a camera may be called, and what a shell is offered when somebody presses Tab: a word of an alphabet that no shell
/// expands, splits or quotes, and that no program takes for an option.
///
/// Identities from udev's words are of the same alphabet, so that every camera of the machine has such a name.
package enum PlainWord {
    package static let alphabet = "letters (A to Z, a to z), digits, “.”, “_”, “:” and “-”, which is not the first"

    package static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    package static func isOne(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.first != UInt8(ascii: "-") && text.utf8.allSatisfy(contains)
    }
}
