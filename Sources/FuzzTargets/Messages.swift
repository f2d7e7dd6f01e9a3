import ArbiterProtocol
import Broker

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

    /// Capabilities that were taken describe a camera that can be used, and read back as the same. Of what a recorder core
    /// says by itself, texts are lines of bounded length, and numbers are such as there are.
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
        let signals = Interface.recorder.signals
        let signal = signals[Int(seed.byte()) % signals.count]
        if let news = try? RecorderNews(signal.name, seed.values(signal.signature)) { check(news) }
    }

    private static func check(_ news: RecorderNews) {
        func isLine(_ text: String, _ bytesMax: Int) -> Bool {
            text.utf8.count <= bytesMax && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
        }
        switch news {
        case .deviceChanged(_, let message):
            precondition(isLine(message, RecorderNews.textBytesMax), "A device's sentence is none: \(message)")
        case .runtimeError(let code, let message):
            precondition(
                isLine(code, RecorderNews.textBytesMax) && isLine(message, RecorderNews.textBytesMax),
                "An error's sentence is none: \(code) \(message)")
        case .rampFinished(_, let zoom): precondition(zoom.isFinite && zoom >= 1, "A ramp arrived at \(zoom).")
        case .photoCaptured(let photo):
            precondition(
                photo.error.map { isLine($0, RecorderNews.textBytesMax) } != false,
                "A photo's sentence is none: \(photo)"
            )
        case .cameraStateChanged(_, let state):
            for (key, value) in state.ordered {
                var isPossible = key.isCameraState
                if case .number(let number) = value { isPossible = isPossible && number.isFinite && number >= 0 }
                precondition(isPossible, "A camera is told to have the \(key.rawValue) \(value).")
            }
        case .recordingFinished, .starting, .leaving, .unknown: break
        }
    }
}
