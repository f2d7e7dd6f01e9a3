/// On the wire a bracket is the options of `CapturePhotoBracket`.
extension PhotoBracket {
    package enum Key: String, CaseIterable {
        case exposureTargetBiases
        case exposureDurations
        case isos

        package var allowed: String {
            switch self {
            case .exposureTargetBiases: "exposure values, as many as files"
            case .exposureDurations: "seconds above 0, as many as files"
            case .isos: "ISO sensitivities above 0, as many as files"
            }
        }

        package var summary: String {
            switch self {
            case .exposureTargetBiases:
                "Each photo is so much brighter than what the automatic exposure finds; alone, without the other two."
            case .exposureDurations: "Each photo is exposed for so long; together with `isos`."
            case .isos: "Each photo has this sensitivity; together with `exposureDurations`."
            }
        }
    }

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary, files: Int) throws(BrokerError) {
        guard (1...Self.shotsMax).contains(files) else {
            throw BrokerError(.invalidValue, "There are \(files) files; a bracket takes 1 to \(Self.shotsMax).")
        }
        var lists: [Key: [Double]] = [:]
        for entry in wire.entries {
            guard let key = Key(rawValue: entry.key) else {
                let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
                throw BrokerError(
                    .invalidValue,
                    "\(entry.key.quotedShort) is \(entry.value.sentence), but no option of a bracket; there are \(known)."
                )
            }
            guard let numbers = entry.value.numbers, numbers.count == files,
                numbers.allSatisfy({ $0.isFinite && (key == .exposureTargetBiases || $0 > 0) })
            else {
                let all = files == 1 ? "1 file" : "\(files) files"
                throw BrokerError(
                    .invalidValue,
                    "\(key.rawValue) \(Self.said(entry.value, files)) for \(all); it takes \(key.allowed).")
            }
            lists[key] = numbers
        }
        switch (lists[.exposureTargetBiases], lists[.exposureDurations], lists[.isos]) {
        case (let biases?, nil, nil): try self.init(exposureTargetBiases: biases)
        case (nil, let durations?, let isos?): try self.init(exposureDurations: durations, isos: isos)
        default:
            let given = lists.keys.map(\.rawValue).sorted().joined(separator: ", ")
            throw BrokerError(
                .invalidValue,
                "A bracket has \(given.isEmpty ? "no exposures" : given); it takes exposureTargetBiases, or exposureDurations with isos."
            )
        }
    }

    private static func said(_ value: WireValue, _ files: Int) -> String {
        guard let numbers = value.numbers else { return "is \(value.sentence)" }
        if numbers.count == files { return "has \(numbers.map(\.shortDescription).joined(separator: ", "))" }
        return "has \(numbers.count == 1 ? "1 number" : "\(numbers.count) numbers")"
    }

    public var wire: WireDictionary {
        func list(_ numbers: [Double]) -> WireValue { .array(type: "d", numbers.map { .double($0) }) }
        var biases: [Double] = []
        var durations: [Double] = []
        var isos: [Double] = []
        for shot in shots {
            switch shot {
            case .exposureTargetBias(let bias): biases.append(bias)
            case .exposure(let duration, let iso):
                durations.append(duration)
                isos.append(iso)
            }
        }
        if !biases.isEmpty { return [Key.exposureTargetBiases.rawValue: list(biases)] }
        return [Key.exposureDurations.rawValue: list(durations), Key.isos.rawValue: list(isos)]
    }
}

/// `CapturePhoto` has no options: `flashMode`, `highResolutionStillImageOutputEnabled` and the like are a session's
/// keys.
package enum PhotoOptions {
    package static func check(_ wire: WireDictionary) throws(BrokerError) {
        guard let first = wire.entries.first else { return }
        let hint =
            ConfigurationKey(rawValue: first.key) == nil
            ? "it takes none: what it is like is the session's configuration"
            : "this is a session's key, which Configure sets"
        throw BrokerError(
            .invalidValue, "A photo has no option \(first.key.quotedShort), which is \(first.value.sentence); \(hint).")
    }
}
