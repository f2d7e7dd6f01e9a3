/// The bounds of a file that people write: a policy, a camera. Each keeps what a message shows, or what reading costs, in
/// proportion.
package enum FileBounds {
    /// A hundred times a long policy; what is larger is another file given by mistake. Counts for all files of
    /// a policy together, too.
    package static let bytesMax = 1 << 20
    /// The parser and the destructors of its tree recurse once a dotted key, and a line bounds those: one that is longer is
    /// refused before anything is parsed.
    package static let lineBytesMax = 1024
    /// A folder's files, or those that one includes: more than a person can keep in mind.
    package static let filesMax = 64
    /// A name is part of every verdict, log line and notice.
    package static let nameBytesMax = 120

    /// What is wrong with a text for people, as the end of a sentence; nil when it is fine.
    package static func complaint(_ text: String, emptyAllowed: Bool = false, bytesMax: Int = nameBytesMax) -> String? {
        if text.isEmpty { return emptyAllowed ? nil : "is empty" }
        if text.utf8.count > bytesMax {
            return "has \(text.utf8.count) bytes; it takes at most \(bytesMax)"
        }
        if !text.unicodeScalars.allSatisfy(\.isPrintable) {
            return "is \(Wording.quoted(text)); it takes one line without control characters"
        }
        return nil
    }
}
