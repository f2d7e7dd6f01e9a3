import ArbiterProtocol
import Broker
import RecorderCore

/// The metadata of a recording.
extension FuzzTarget {
    /// Options that were taken read back as the same. A group that was taken is one line of JSON with its items: places on the earth,
    /// finite numbers; groups are in order, and within their bound. A refused group changes nothing.
    static func metadata(_ input: [UInt8]) {
        var run = MetadataRun(input)
        run.run()
    }
}

private struct MetadataRun {
    private var seed: WireSeed
    private var tracks = [
        MetadataTrack(kind: MetadataTrack.location, type: .iso6709), MetadataTrack(kind: "place", type: .iso6709),
        MetadataTrack(kind: "speed", type: .number), MetadataTrack(kind: "words", type: .text),
        MetadataTrack(kind: MetadataTrack.objects, type: .objects),
    ]
    private var now: Int64 = 1_000_000_000_000
    private var arrivals: [Int64] = []
    private var lastTimes: [String: Int64] = [:]

    init(_ input: [UInt8]) { seed = WireSeed(input) }

    mutating func run() {
        declare()
        var groups = MetadataGroups(tracks)
        while !seed.isEmpty {
            now += Int64(seed.byte()) * 1_000_000
            let kind = kind()
            let time = now + Int64(Int8(bitPattern: seed.byte())) * 10_000_000
            let items = (0..<Int(seed.byte()) % 8).map { _ in item(of: kind) }
            guard let group = group(kind, time, items) else { continue }
            let before = groups
            do throws(BrokerError) {
                let text = try groups.take(kind: group.kind, time: group.time, items: group.items, arrivedAt: now)
                check(text, group)
            } catch {
                Self.check(error)
                precondition(groups == before, "A group that is refused changes what comes after it.")
            }
        }
    }

    private mutating func declare() {
        var wire = WireDictionary()
        let keys = RecordingOptions.keys
        for _ in 0..<Int(seed.byte()) % 8 {
            let choice = Int(seed.byte())
            let key = choice < 128 ? keys[choice % keys.count] : text()
            switch key {
            case "metadata":
                var kinds = WireDictionary()
                for _ in 0..<Int(seed.byte()) % 12 {
                    let types = MetadataType.allCases
                    let type = Int(seed.byte())
                    kinds[kind()] = .string(type < 200 ? types[type % types.count].rawValue : text())
                }
                wire[key] = .dictionary(kinds)
            case "maxBytes", "minFreeBytes", "bitRate": wire[key] = seed.values("t")[0]
            case "fileType":
                let types = RecordingFileType.allCases
                wire[key] = .string(types[Int(seed.byte()) % types.count].rawValue)
            case "codec":
                let codecs = VideoCodec.allCases
                wire[key] = .string(codecs[Int(seed.byte()) % codecs.count].rawValue)
            default: wire[key] = seed.arguments().first ?? .double(1)
            }
        }
        do throws(BrokerError) {
            let options = try RecordingOptions(wire: wire)
            if !options.metadata.isEmpty { tracks = options.metadata }
            FuzzTarget.checkReadsBack(options, "Options") { try RecordingOptions(wire: options.wire) }
        } catch { Self.check(error) }
    }

    private mutating func kind() -> String {
        let choice = Int(seed.byte())
        return choice < 200 ? tracks[choice % tracks.count].kind : text()
    }

    private mutating func text() -> String { String(decoding: seed.part(Int(seed.byte())), as: UTF8.self) }

    private mutating func item(of kind: String) -> String {
        guard seed.byte() < 32, tracks.first(where: { $0.kind == kind })?.type == .iso6709 else { return text() }
        // A valid place: degrees, with a height or without.
        let (latitude, longitude) = (Int(Int8(bitPattern: seed.byte())) % 91, Int(Int8(bitPattern: seed.byte())))
        func signed(_ number: Int, _ digits: Int) -> String {
            let text = String(number.magnitude)
            return (number < 0 ? "-" : "+") + String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let place = signed(latitude, 2) + signed(longitude, 3)
        return seed.byte() & 1 == 0 ? place + "/" : place + ".25+151CRSWGS_84/"
    }

    private func group(_ kind: String, _ time: Int64, _ items: [String]) -> MetadataGroup? {
        var reader = WireReader("AppendMetadata", [.string(kind), .int64(time), .strings(items)])
        do throws(BrokerError) {
            let group = try MetadataGroup(reading: &reader)
            let bytes = FuzzTarget.marshalled([.strings(group.items)]).count
            precondition(
                bytes <= group.messageBytes + 4, "A group of \(bytes) bytes is counted as \(group.messageBytes).")
            return group
        } catch {
            Self.check(error)
            return nil
        }
    }

    private mutating func check(_ text: String, _ group: MetadataGroup) {
        precondition(!text.utf8.contains(10), "A sample has several lines: \(text)")
        guard let json = try? JSONReader.read(text), let items = json["items"]?.array else {
            preconditionFailure("A sample does not read back: \(text)")
        }
        precondition(items.count == group.items.count, "\(group.items.count) items became \(items.count).")
        let type = tracks.first { $0.kind == group.kind }?.type
        for (item, sent) in zip(items, group.items) {
            switch type {
            case .number:
                let number = Double(sent)
                precondition(
                    number?.isFinite == true && item.number == number, "The number \(sent) became \(item.text).")
            default:
                precondition(
                    item.string.map { Array($0.utf8) } == Array(sent.utf8), "The item \(sent) became \(item.text).")
            }
            if type == .iso6709 { Self.checkPlace(sent) }
        }
        precondition(lastTimes[group.kind].map { $0 <= group.time } != false, "Groups of a kind run back.")
        lastTimes[group.kind] = group.time
        arrivals = arrivals.filter { now - $0 < 1_000_000_000 } + [now]
        precondition(
            arrivals.count <= MetadataGroups.perSecondMax, "\(arrivals.count) groups were taken within a second.")
    }

    /// Whether a place is on the earth, by the parts between the signs.
    private static func checkPlace(_ text: String) {
        let bytes = Array(text.utf8)
        var parts: [[UInt8]] = []
        for byte in bytes.dropLast() {
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { parts.append([]) }
            // The reference of a height has no sign.
            if byte == UInt8(ascii: "C") { parts.append([]) }
            guard !parts.isEmpty else { preconditionFailure("A place does not begin with a sign: \(text)") }
            parts[parts.count - 1].append(byte)
        }
        precondition(bytes.last == UInt8(ascii: "/") && parts.count >= 2, "A place has no two angles: \(text)")
        for (part, (digits, most)) in zip(parts, [(2, 90.0), (3, 180.0)]) {
            let whole = part.dropFirst().prefix { $0 != UInt8(ascii: ".") }
            var value = 0.0
            var unit = 1.0
            var rest = Array(part.dropFirst())
            for count in [digits] + [Int](repeating: 2, count: (whole.count - digits) / 2) {
                let isLast = rest.count <= count || rest[count] == UInt8(ascii: ".")
                let number = Double(String(decoding: isLast ? rest[...] : rest.prefix(count), as: UTF8.self))
                guard let number, number >= 0, unit == 1 || number < 60 else {
                    preconditionFailure("A place has an angle that is none: \(text)")
                }
                value += number * unit
                unit /= 60
                rest.removeFirst(isLast ? rest.count : count)
            }
            precondition(rest.isEmpty && value <= most + 1e-9, "A place is not on the earth: \(text)")
        }
    }

    private static func check(_ error: BrokerError) {
        precondition(
            !error.message.isEmpty && error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 },
            "A refusal is no line: \(error.message)")
    }
}
