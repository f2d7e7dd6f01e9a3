/// Options of `CapturePhoto`: there are none. What a photo is like is configured: `flashMode`,
/// `highResolutionStillImageOutputEnabled` and the like are a session's keys.
package enum PhotoOptions {
    /// - Throws: `.invalidValue`, naming the option, its value and what is allowed.
    package static func check(_ wire: WireDictionary) throws(BrokerError) {
        guard let first = wire.entries.first else { return }
        let hint =
            ConfigurationKey(rawValue: first.key) == nil
            ? "there are none" : "it is a session's key, which Configure sets"
        throw BrokerError(
            .invalidValue, "\(first.key.quotedShort) is \(first.value.sentence), but no option of a photo; \(hint).")
    }
}
