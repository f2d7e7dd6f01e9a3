import Arbiter
package import ArbiterProtocol
import PolicyFile
import Scenario

/// A scenario without notices, in parts that can be removed.
package struct FuzzCase: Hashable, Sendable {
    package var policy: Policy
    package var cameras: [Camera]
    package var lines: [Line]

    package struct Camera: Hashable, Sendable {
        package var name: String
        package var words: String
    }

    package struct Line: Hashable, Sendable {
        package var at: Moment
        /// Empty where only time passes.
        package var text: String
        /// The policy of a reload, a block after the line.
        package var policy: Policy?
    }

    package func text(_ title: String) -> String {
        var text = ["# \(title)", "", "policy \"\"\""] + ShortPolicyText.lines(policy) + ["\"\"\""]
        text += cameras.map { "camera \($0.name)\($0.words.isEmpty ? "" : " " + $0.words)" }
        text.append("")
        var last: Moment?
        for line in lines {
            // A line without an input has its time.
            let time = line.at == last && !line.text.isEmpty ? "" : TimeText.write(line.at)
            last = line.at
            let indent = String(repeating: " ", count: max(time.isEmpty ? 5 : 1, 5 - time.utf8.count))
            let input = line.text.isEmpty ? "" : indent + line.text
            guard let policy = line.policy else {
                text.append(time + input)
                continue
            }
            text += [time + input + " \"\"\""] + ShortPolicyText.lines(policy) + ["\"\"\""]
        }
        return text.joined(separator: "\n") + "\n"
    }
}

extension FuzzCase.Line {
    /// Split where no quotation mark is open.
    var words: [String] {
        var words: [String] = []
        var isQuoted = false
        var word = ""
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == " ", !isQuoted {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    var gives: Name? {
        let words = words
        guard words.count > 1 else { return nil }
        switch words[0] {
        case "connect": return .client(words[1])
        case "session": return .session(words[1])
        default: return nil
        }
    }

    /// The client or session that an earlier line gives.
    var needs: Name? {
        let words = words
        guard words.count > 1 else { return nil }
        switch words[0] {
        case "session": return words.count > 3 ? .client(words[3]) : nil
        case "declare", "declare-presence", "lower", "disconnect": return .client(words[1])
        case "start", "stop", "begin", "commit", "configure", "stream", "photo", "bracket", "record", "stop-record",
            "ready", "continue", "close":
            return .session(words[1])
        case "recorder": return words.count > 3 && words[2] == "closed-streams" ? .session(words[words.count - 1]) : nil
        default: return nil
        }
    }

    mutating func rename(client name: String, to other: String) {
        guard needs == .client(name) else { return }
        text = words.map { $0 == name ? other : $0 }.joined(separator: " ")
    }

    enum Name: Hashable {
        case client(String)
        case session(String)
    }
}

extension [FuzzCase.Line] {
    /// Without lines whose client or session no earlier line gives.
    var withoutOrphans: [FuzzCase.Line] {
        var there: Set<FuzzCase.Line.Name> = []
        return filter { line in
            if let needed = line.needs, !there.contains(needed) { return false }
            if let given = line.gives { there.insert(given) }
            return true
        }
    }
}

/// A policy without its defaults.
enum ShortPolicyText {
    static func lines(_ policy: Policy) -> [String] {
        PolicySection.all(of: policy).flatMap { section in
            let pairs = section.pairs.filter { !$0.isUsual || isRequired($0.key, section, policy) }
            if pairs.isEmpty { return [String]() }
            return (section.header.isEmpty ? [] : [section.header]) + pairs.map(\.line)
        }
    }

    /// Whether a file needs the key. Rules need ranks.
    private static func isRequired(_ key: String, _ section: PolicySection, _ policy: Policy) -> Bool {
        section.name == nil
            ? key == "ranks" && !policy.rankRules.isEmpty
            : ["name", "id", "values", "when", "cause", "rank"].contains(key)
    }
}
