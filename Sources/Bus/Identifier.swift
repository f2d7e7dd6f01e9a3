package import CSystemd

extension String {
    /// A machine's or a bus's id as 32 hexadecimal digits.
    package init(_ id: sd_id128_t) {
        var text = [CChar](repeating: 0, count: 33)
        _ = sd_id128_to_string(id, &text)
        self.init(decoding: text.prefix(32).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
