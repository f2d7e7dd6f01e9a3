import ArbiterProtocol

extension RecordingOptions {
    /// Options as one writes them: `maxDuration=10`, `codec=mjpeg`, `metadata.location=iso6709`.
    init(settings: [String]) throws(Failure) {
        var wire = WireDictionary()
        var kinds = WireDictionary()
        for setting in settings {
            guard let equals = setting.firstIndex(of: "=") else {
                throw Failure(.usage, "“\(setting)” is not an option of a recording; it takes KEY=VALUE.")
            }
            let (key, text) = (String(setting[..<equals]), String(setting[setting.index(after: equals)...]))
            if key.hasPrefix(Self.metadataPrefix) {
                kinds[String(key.dropFirst(Self.metadataPrefix.count))] = .string(text)
            } else if let count = UInt64(text) {
                wire[key] = .uint64(count)
            } else {
                wire[key] = Double(text).map { .double($0) } ?? .string(text)
            }
        }
        if !kinds.entries.isEmpty { wire["metadata"] = .dictionary(kinds) }
        do throws(BrokerError) { self = try RecordingOptions(wire: wire) } catch {
            throw Failure(.usage, error.message)
        }
    }

    private static let metadataPrefix = "metadata."
}
