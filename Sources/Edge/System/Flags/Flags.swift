import Glibc

/// A daemon's command line.
public enum Asked<Options: Sendable>: Sendable {
    case run(Options)
    /// Text for standard output, and nothing else to do.
    case show(String)
    /// The mistake, for standard error.
    case mistake(String)

    /// Carries it out and ends the process: with the status of `run`, 1 where that throws, 2 for a mistake.
    public func carryOut(as program: String, _ run: (Options) throws(SystemFault) -> Int32) -> Never {
        switch self {
        case .run(let options):
            do throws(SystemFault) { exit(try run(options)) } catch { end(1, "\(program): \(error)\n", to: 2) }
        case .show(let text): end(0, text, to: 1)
        case .mistake(let sentence): end(2, "\(program): \(sentence)\n", to: 2)
        }
    }

    private func end(_ status: Int32, _ text: String, to descriptor: Int32) -> Never {
        var text = text
        text.withUTF8 { bytes in _ = write(descriptor, bytes.baseAddress, bytes.count) }
        exit(status)
    }
}

/// The words of a daemon's command line, one flag after the other: `--flag`, `--flag VALUE` and `--flag=VALUE`.
public struct Flags {
    /// A mistake, as a sentence for standard error.
    public struct Mistake: Error {
        public var sentence: String
        public init(_ sentence: String) { self.sentence = sentence }
    }

    private var rest: ArraySlice<String>
    /// The present one, without a value that is attached to it.
    public private(set) var flag = ""
    private var argument = ""
    private var attached: String?

    /// - Parameter arguments: without the program's name.
    public init(_ arguments: [String]) { rest = arguments[...] }

    /// Goes to the next flag; `nil` after the last.
    public mutating func next() -> String? {
        guard let next = rest.popFirst() else { return nil }
        argument = next
        flag = next
        attached = nil
        if next.hasPrefix("--"), let equals = next.firstIndex(of: "=") {
            flag = String(next[..<equals])
            attached = String(next[next.index(after: equals)...])
        }
        return flag
    }

    /// The present flag's value.
    /// - Parameter what: the kind of value, such as "a path".
    public mutating func value(_ what: String, mayBeEmpty: Bool = false) throws(Mistake) -> String {
        guard let value = attached ?? rest.popFirst(), mayBeEmpty || !value.isEmpty else {
            throw Mistake("\(flag) takes \(what), and nothing follows it.")
        }
        return value
    }

    /// The present flag's value, one of a few words.
    public mutating func word<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) throws(Mistake) -> Word
    where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        let text = try value("one of \(words)")
        guard let word = Word(rawValue: text) else { throw Mistake("\(flag) is “\(text)”; it takes \(words).") }
        return word
    }

    /// The present flag counts by its presence alone: `--flag=no` would be taken for its opposite.
    /// - Returns: true.
    public func isThere() throws(Mistake) -> Bool {
        guard attached == nil else { throw Mistake("\(flag) takes no value.") }
        return true
    }

    public func unknown(to program: String) -> Mistake {
        Mistake("There is no “\(argument)”; \(program) --help lists what there is.")
    }
}
