import ArbiterProtocol
import Broker
import Bus
import Glibc
import System

/// Records and arguments of messages.
extension FuzzTarget {
    /// A decoded record encodes as the same.
    static func frameRecord(_ bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: FrameRecord.encodedBytes) {
            let part = bytes[start..<min(bytes.count, start + FrameRecord.encodedBytes)]
            guard let record = FrameRecord(decoding: part) else { continue }
            precondition(
                FrameRecord(decoding: record.encode()) == record, "A frame record encodes as another one: \(record)")
        }
    }

    /// Capabilities that were taken describe a usable camera, and read back as the same. In a recorder core's signals, texts are lines
    /// of bounded length, and numbers are possible.
    static func recorderAnswer(_ bytes: [UInt8]) {
        var seed = WireSeed(bytes)
        let wire = seed.dictionary()
        if let capabilities = try? CameraCapabilities(wire: wire) {
            precondition(!capabilities.formats.isEmpty, "A camera without formats was taken.")
            checkReadsBack(capabilities, "A camera") { try CameraCapabilities(wire: capabilities.wire) }
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
        case .runtimeError(let code, let message, _, _):
            precondition(
                isLine(code, RecorderNews.textBytesMax) && isLine(message, RecorderNews.textBytesMax),
                "An error's sentence is none: \(code) \(message)")
        case .rampFinished(_, let zoom): precondition(zoom.isFinite && zoom >= 1, "A ramp arrived at \(zoom).")
        case .photoCaptured(let photo):
            precondition(
                photo.error.map { isLine($0, RecorderNews.textBytesMax) } != false,
                "A photo's sentence is none: \(photo)")
        case .cameraStateChanged(_, let state):
            for (key, value) in state.ordered {
                var isPossible = key.isCameraState
                if case .number(let number) = value { isPossible = isPossible && number.isFinite && number >= 0 }
                precondition(isPossible, "A camera is told to have the \(key.rawValue) \(value).")
            }
        case .recordingFinished, .starting, .leaving, .unknown: break
        }
    }

    /// Values of another program are read as the same, in either byte order; bytes under a wrong signature are refused or read within
    /// the bounds, wherever they are cut; and values that were read are written and read again as the same.
    static func body(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let isBig = first & 1 != 0
        let rest = Array(input.dropFirst())
        SecondReader.begin()
        let next = Hearer.nextDescriptor
        if first & 2 == 0 { written(rest, isBig) } else { raw(rest, isBig) }
        precondition(Hearer.nextDescriptor == next, "A message left a descriptor open.")
    }

    private static func written(_ input: [UInt8], _ isBig: Bool) {
        var seed = WireSeed(input)
        let values = seed.arguments().map(\.asSent)
        let signature = values.map(\.signature).joined()
        // The longest signature of D-Bus.
        guard signature.utf8.count <= 255 else { return }
        let read = heard(signature, marshalled(values, bigEndian: isBig), isBig, cuts: [])
        precondition(
            read.map { marshalled($0) } == marshalled(values), "\(values) was read as \(String(describing: read)).")
        checkReadBack(values)
    }

    private static func checkReadBack(_ values: [WireValue]) {
        let own = roundTrip(values)
        precondition(
            own.map { marshalled($0) } == marshalled(values), "\(values) reads back as \(String(describing: own)).")
    }

    private static func raw(_ input: [UInt8], _ isBig: Bool) {
        let length = Int(input.first ?? 0) % 32
        // Most texts of these letters are signatures.
        let letters = Array("ybnqiuxtdsoghav(){}as".utf8)
        let signature = String(
            decoding: input.dropFirst().prefix(length).map { letters[Int($0) % letters.count] }, as: UTF8.self)
        let cut = CutBytes(Array(input.dropFirst(1 + length)))
        let values = heard(signature, cut.bytes, isBig, cuts: [])
        let again = heard(signature, cut.bytes, isBig, cuts: cut.cuts)
        precondition(
            values.map { marshalled($0) } == again.map { marshalled($0) },
            "A body is read otherwise when it comes in pieces.")
        guard let values, !values.contains(where: { !$0.fileDescriptors.isEmpty }) else { return }
        checkReadBack(values)
    }

    static func marshalled(_ values: [WireValue], bigEndian: Bool = false) -> [UInt8] {
        var marshaller = Marshaller(bigEndian: bigEndian)
        for value in values { marshaller.append(value) }
        return marshaller.bytes
    }

    /// The arguments that a connection reads in a call with that body.
    private static func heard(_ signature: String, _ body: [UInt8], _ isBig: Bool, cuts: [Int]) -> [WireValue]? {
        let call = Marshaller.message(
            serial: 1, path: "/a", interface: "org.camarb.Test", member: "Take", signature: signature, body: body,
            bigEndian: isBig)
        SecondReader.compare(call)
        let begin = call.count - body.count
        let places = [0] + cuts.map { begin + $0 } + [call.count]
        let hearer = Hearer.hear([handshake] + zip(places, places.dropFirst()).map { Array(call[$0..<$1]) })
        precondition(hearer.messages.count <= 1, "One call was heard as \(hearer.messages.count).")
        return hearer.arguments.first ?? nil
    }

    /// The arguments after the way from one connection to another.
    private static func roundTrip(_ values: [WireValue]) -> [WireValue]? {
        do throws(SystemFault) {
            let loop = try EventLoop()
            let (one, other) = try UnixPair.make()
            let hearer = Hearer()
            let server = try BusConnection(adopting: one, as: .server, on: loop, delegate: hearer, anonymous: true)
            let client = try BusConnection(adopting: other, as: .client, on: loop, delegate: Hearer())
            client.call(path: "/a", interface: "org.camarb.Test", member: "Take", values) { _ in }
            Peer.settle(loop)
            server.close()
            client.close()
            Peer.settle(loop)
            return hearer.arguments.first ?? nil
        } catch { preconditionFailure("This target could not be set up: \(error)") }
    }
}

extension WireValue {
    /// With texts that D-Bus allows: without zeros and noncharacters.
    var asSent: WireValue {
        switch self {
        case .string(let text): .string(text.asSent)
        case .array(let type, let values): .array(type: type, values.map(\.asSent))
        case .structure(let values): .structure(values.map(\.asSent))
        case .dictionary(let dictionary): .dictionary(dictionary.asSent)
        default: self
        }
    }
}

extension WireDictionary {
    var asSent: WireDictionary {
        var sent = WireDictionary()
        for entry in entries { sent[entry.key.asSent] = entry.value.asSent }
        return sent
    }
}

extension String {
    var asSent: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    let isNone =
                        scalar.value == 0 || (0xfdd0...0xfdef).contains(scalar.value) || scalar.value & 0xfffe == 0xfffe
                    return isNone ? "?" : scalar
                }))
    }
}
