import ArbiterProtocol

/// What comes as records and as arguments of messages.
extension FuzzTarget {
    /// What was decoded encodes as the same.
    static func frameRecord(_ bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: FrameRecord.encodedBytes) {
            let part = bytes[start..<min(bytes.count, start + FrameRecord.encodedBytes)]
            guard let record = FrameRecord(decoding: part) else { continue }
            precondition(
                FrameRecord(decoding: record.encode()) == record, "A frame record encodes as another one: \(record)")
        }
    }

    /// Capabilities that were taken describe a camera that can be used, and read back as the same.
    static func recorderAnswer(_ bytes: [UInt8]) {
        var seed = WireSeed(bytes)
        let wire = seed.dictionary()
        if let capabilities = try? CameraCapabilities(wire: wire) {
            precondition(!capabilities.formats.isEmpty, "A camera without formats was taken.")
            do throws(BrokerError) {
                let again = try CameraCapabilities(wire: capabilities.wire)
                precondition(again == capabilities, "A camera reads back as another one: \(capabilities)")
            } catch {
                preconditionFailure("A camera that was taken does not read back: \(error.message)")
            }
        }
        _ = try? Configuration(wire: wire)
        var reader = WireReader("PhotoCaptured", seed.arguments())
        _ = try? PhotoCaptured(reading: &reader)
    }
}
