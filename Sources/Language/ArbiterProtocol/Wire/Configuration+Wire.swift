extension ConfigurationValue {
    /// Identities and names of formats are shorter.
    public static let textBytesMax = 256

    public var wire: WireValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .double(number)
        case .flag(let flag): .boolean(flag)
        case .point, .gains: .structure(of: numbers)
        }
    }

    /// With a count as a whole number, as in answers.
    func wire(for key: ConfigurationKey) -> WireValue {
        if key.kind == .count, case .number(let number) = self, let count = UInt32(exactly: number) {
            return .uint32(count)
        }
        return wire
    }

    /// Reads a value for `key`, asked for or in force. `ConfigurationCheck` refuses a batch with read-only keys.
    /// - Throws: `.unsupportedConfiguration`, naming the key, the value and what the key takes.
    public init(wire: WireValue, for key: ConfigurationKey) throws(BrokerError) {
        func refusal(_ allowed: String) -> BrokerError {
            BrokerError(
                .unsupportedConfiguration, "\(key.rawValue) is \(wire.sentence); it takes \(allowed). Nothing changed.")
        }
        switch key.kind {
        case .text:
            guard let text = wire.string else { throw refusal(key.kind.sentence) }
            guard text.utf8.count <= Self.textBytesMax else { throw refusal("at most \(Self.textBytesMax) bytes") }
            if let words = key.allowedWords, !words.contains(text) { throw refusal(words.joined(separator: " or ")) }
            self = .text(text)
        case .number, .level:
            guard let number = wire.number, number.isFinite, number > 0 || key.kind == .level else {
                throw refusal(key.kind.sentence)
            }
            self = .number(number)
        case .count:
            guard let number = wire.number, let count = UInt32(exactly: number) else {
                throw refusal(key.kind.sentence)
            }
            self = .number(Double(count))
        case .flag:
            guard let flag = wire.boolean else { throw refusal(key.kind.sentence) }
            self = .flag(flag)
        case .point, .gains:
            guard let numbers = wire.numbers, let value = ConfigurationValue(numbers: numbers, of: key.kind),
                numbers.allSatisfy({ $0.isFinite && (key.kind == .point ? $0 >= 0 && $0 <= 1 : $0 >= 1) })
            else { throw refusal(key.kind.sentence) }
            self = value
        }
    }

    /// Reads a value as a person writes it: `30`, `1/30`, `true`, `0.5,0.5`, `420v 1280x720@30`.
    /// - Throws: `.unsupportedConfiguration`, naming the key, the value and what the key takes.
    public init(text: String, for key: ConfigurationKey) throws(BrokerError) {
        let wire: WireValue =
            switch key.kind {
            case .text: .string(text)
            case .number, .level, .count: Double(asPeopleWrite: text).map { .double($0) } ?? .string(text)
            case .point, .gains: Self.numbers(text).map { .structure(of: $0) } ?? .string(text)
            case .flag: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : .string(text)
            }
        try self.init(wire: wire, for: key)
    }

    /// Numbers with commas between them; `nil` where a part is no number.
    private static func numbers(_ text: String) -> [Double]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Double($0) }
        return numbers.count == parts.count ? numbers : nil
    }
}

extension Configuration {
    /// `a{sv}`, ordered by key.
    public var wire: WireDictionary {
        var dictionary = WireDictionary()
        for (key, value) in ordered { dictionary[key.rawValue] = value.wire(for: key) }
        return dictionary
    }

    /// Reads a batch as a whole.
    /// - Throws: `.unsupportedConfiguration` for the first key that is unknown, there twice, or has a value that no
    ///   camera could
    /// take: the sentence names key, value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        self.init()
        for entry in wire.entries {
            guard let key = ConfigurationKey(rawValue: entry.key) else { throw Configuration.unknownKey(entry.key) }
            guard self[key] == nil else {
                throw BrokerError(
                    .unsupportedConfiguration, "\(key.rawValue) is there twice; give each key once. Nothing changed.")
            }
            self[key] = try ConfigurationValue(wire: entry.value, for: key)
        }
    }

    /// Reads `key=value` as a person writes it, and sets it.
    /// - Throws: `.unsupportedConfiguration`, as above.
    public mutating func set(_ assignment: String) throws(BrokerError) {
        guard let equals = assignment.firstIndex(of: "=") else {
            throw BrokerError(
                .unsupportedConfiguration,
                "\(assignment.quotedShort) is not a setting; write key=value, such as frameRate=30.")
        }
        let name = String(assignment[..<equals])
        guard let key = ConfigurationKey(rawValue: name) else { throw Configuration.unknownKey(name) }
        self[key] = try ConfigurationValue(text: String(assignment[assignment.index(after: equals)...]), for: key)
    }

    private static func unknownKey(_ name: String) -> BrokerError {
        let known = ConfigurationKey.allCases.filter { !$0.isReadOnly }.map(\.rawValue)
        let instead = NearestWord.insteadOf(name, known, lists: "camclient configure --help")
        return BrokerError(
            .unsupportedConfiguration, "\(name.quotedShort) is not a configuration key; \(instead) Nothing changed.")
    }
}
