/// Which signals a peer wants, by the match rules that it has added: those alone. A peer that has added none gets all.
///
/// The form of a rule is that of the D-Bus specification, "Match Rules". What a rule says of arguments and senders is not
/// looked at: there is one sender, and one signal too many harms nobody.
package struct SignalRules: Hashable, Sendable {
    /// One rule, as far as it tells our signals apart.
    struct Rule: Hashable, Sendable {
        var path: String?
        /// Also everything below it.
        var pathNamespace: String?
        var interface: String?
        var member: String?

        /// Of its texts.
        var bytes: Int { [path, pathNamespace, interface, member].reduce(0) { $0 + ($1?.utf8.count ?? 0) } }

        func matches(path: String, interface: String, member: String) -> Bool {
            if let wanted = self.interface, wanted != interface { return false }
            if let wanted = self.member, wanted != member { return false }
            if let wanted = self.path, wanted != path { return false }
            guard let above = pathNamespace, above != "/" else { return true }
            return path == above || path.hasPrefix(above + "/")
        }
    }

    private var rules: [Rule] = []
    private var bytes = 0

    /// Far more than a library adds for all objects of a client, and their texts: 512 peers together have 8 MiB of these. A
    /// peer with more gets everything.
    package static let rulesMax = 256
    package static let bytesMax = 16 * 1024

    package init() {}

    /// A monitor's rules. `nil` where it wants everything: there are none, or too many.
    package init?(all texts: [String]) {
        self.init()
        if texts.isEmpty { return nil }
        for text in texts where !add(text) { return nil }
    }

    /// - Returns: false: there are too many, and nothing is left out any more.
    package mutating func add(_ text: String) -> Bool {
        guard let rule = Self.rule(text) else { return true }
        guard rules.count < Self.rulesMax, bytes + rule.bytes <= Self.bytesMax else { return false }
        bytes += rule.bytes
        rules.append(rule)
        return true
    }

    /// A rule that was removed as often as it was added is gone.
    package mutating func remove(_ text: String) {
        guard let rule = Self.rule(text), let place = rules.firstIndex(of: rule) else { return }
        rules.remove(at: place)
        bytes -= rule.bytes
    }

    package var isEmpty: Bool { rules.isEmpty }

    package func want(path: String, interface: String, member: String) -> Bool {
        rules.contains { $0.matches(path: path, interface: interface, member: member) }
    }

    /// `nil` where no signal of camarbd's can match: the rule is about the bus, which is not there, or about calls.
    private static func rule(_ text: String) -> Rule? {
        var rule = Rule()
        for (key, value) in pairs(of: text) {
            switch key {
            case "type" where value != "signal": return nil
            case "sender" where value == busName: return nil
            case "interface" where value == busName: return nil
            case "path": rule.path = value
            case "path_namespace": rule.pathNamespace = value
            case "interface": rule.interface = value
            case "member": rule.member = value
            default: break
            }
        }
        return rule
    }

    private static let busName = "org.freedesktop.DBus"

    /// `key='value',…`: a value ends at a comma outside of apostrophes, and outside of them `\'` is one.
    private static func pairs(of text: String) -> [(key: String, value: String)] {
        var pairs: [(key: String, value: String)] = []
        var (key, value) = ("", "")
        var (isInValue, isQuoted, isEscaped) = (false, false, false)
        func end() { if isInValue { pairs.append((key.filter { $0 != " " }, value)) } }
        for character in text {
            if isEscaped {
                isEscaped = false
                if character == "'" {
                    value.append(character)
                    continue
                }
                value.append("\\")
            }
            switch character {
            case "'" where isInValue: isQuoted.toggle()
            case "\\" where isInValue && !isQuoted: isEscaped = true
            case "," where !isQuoted:
                end()
                (key, value, isInValue) = ("", "", false)
            case "=" where !isInValue: isInValue = true
            default: if isInValue { value.append(character) } else { key.append(character) }
            }
        }
        end()
        return pairs
    }
}
