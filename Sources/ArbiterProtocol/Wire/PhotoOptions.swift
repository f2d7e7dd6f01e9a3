/// Options of `CapturePhoto`: there are none yet.
package enum PhotoOptions {
    /// - Throws: `.invalidValue`, naming the option.
    package static func check(_ wire: WireDictionary) throws(BrokerError) {
        guard let first = wire.entries.first else { return }
        throw BrokerError(.invalidValue, "\(first.key.quotedShort) is no option of a photo; there are none.")
    }
}
