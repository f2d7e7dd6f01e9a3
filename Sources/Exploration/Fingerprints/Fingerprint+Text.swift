extension Fingerprint {
    /// Of bytes, in their order: what is kept beside a walk's results, to tell whether they are still of the same.
    public init(of bytes: UnsafeRawBufferPointer) {
        var writer = FingerprintWriter()
        writer.combine(bytes.count)
        var rest = bytes
        while rest.count >= 8 {
            writer.combine(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
            rest = UnsafeRawBufferPointer(rebasing: rest[8...])
        }
        for byte in rest { writer.combine(UInt64(byte)) }
        self = writer.finished()
    }

    public init(of text: String) {
        var text = text
        self = text.withUTF8 { Fingerprint(of: UnsafeRawBufferPointer($0)) }
    }

    /// 32 digits.
    public var text: String {
        [first, second].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
