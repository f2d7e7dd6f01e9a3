/// Which promise a message is about: the message without its numbers, names and times, so that two stories that break
/// the same one in the same way are seen as one.
public struct PromiseClass: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let description: String

    public init(_ message: String) {
        var rest = Substring(message)
        var text = ""
        // The number of the promise in semantics.md §8 stays: it is what the message is about.
        if let first = rest.first, first.isWholeNumber, rest.dropFirst().hasPrefix(": ") {
            text.append(first)
            rest = rest.dropFirst()
        }
        while let first = rest.first {
            if first.isWholeNumber {
                text += "N"
                rest = Self.dropNumber(rest)
            } else if let end = Self.closing[first], let close = rest.dropFirst().firstIndex(of: end) {
                text += "\(first)…\(end)"
                rest = rest[rest.index(after: close)...]
            } else if first.isLetter {
                let word = rest.prefix { $0.isLetter || $0 == "-" }
                text += FuzzNames.cameras.contains(String(word)) ? "CAMERA" : word
                rest = rest.dropFirst(word.count)
            } else {
                text.append(first)
                rest = rest.dropFirst()
            }
        }
        description = text
    }

    private static let closing: [Swift.Character: Swift.Character] = ["“": "”", "\"": "\"", "[": "]"]

    /// With its unit: `2s` and `250ms` are alike.
    private static func dropNumber(_ text: Substring) -> Substring {
        var rest = text.drop { $0.isWholeNumber }
        if rest.first == ".", rest.dropFirst().first?.isWholeNumber ?? false {
            rest = rest.dropFirst().drop { $0.isWholeNumber }
        }
        let unit = rest.prefix { $0.isLetter }
        return ["s", "ms", "us", "ns", "min"].contains(unit) ? rest.dropFirst(unit.count) : rest
    }

    public static func < (a: PromiseClass, b: PromiseClass) -> Bool { a.description < b.description }

    /// A name for its file.
    public var fileName: String {
        let words = description.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return words.joined(separator: "-")
    }
}
