/// Options of `CapturePhoto`: there are none. What a photo is like is configured: `flashMode`,
/// `highResolutionStillImageOutputEnabled` and the like are a session's keys.
package enum PhotoOptions {
    /// - Throws: `.invalidValue`, naming the option, its value and what is allowed.
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
