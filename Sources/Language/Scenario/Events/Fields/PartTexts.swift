import Arbiter
package import ArbiterProtocol

// Values of several words in a scenario.

extension ClientAttributes {
    var scenarioWords: String {
        [
            kind == .app ? nil : "kind=\(kind.rawValue)", multitasking ? "multitasking" : nil,
            requiresFullScreen ? "full-screen" : nil, claimedApp.map { "claimed=\($0.scenarioWord)" },
        ].compactMap(\.self).joined(separator: " ")
    }

    package mutating func take(_ word: Word) throws(LineProblem) {
        switch (word.key, word.text) {
        case ("claimed", let text): claimedApp = text
        case (nil, "multitasking"): multitasking = true
        case (nil, "full-screen"): requiresFullScreen = true
        case ("kind", _): kind = try word.oneOf()
        default:
            throw LineProblem(
                word,
                notOne(
                    word.key ?? word.text,
                    of: [
                        "app", "user", "login", "groups", "weak", "own-broker", "presence", "kind", "claimed",
                        "unverified", "multitasking", "full-screen", "focused",
                    ]))
        }
    }
}

extension LoginSessionFacts {
    /// All of it, because a reader takes what is not said from an earlier line.
    var scenarioWords: String {
        let state = isActive ? (isLocked ? "locked" : "active") : (isLocked ? "inactive-locked" : "inactive")
        return "\(state) user=\(user) \(seat.map { "seat=\($0.name.scenarioWord)" } ?? "remote")"
    }
}

extension PhotoCaptured {
    var scenarioWords: String {
        if let error { return "\(photo) failed \(error.scenarioQuoted)" }
        let taken = metadata.map { " " + $0.scenarioWords } ?? ""
        return "\(photo) \(width)x\(height) bytes=\(bytes)\(taken)"
    }
}

extension PhotoMetadata {
    fileprivate var scenarioWords: String {
        wire.entries.map { "\($0.key)=\($0.value.number.map(\.shortDescription) ?? $0.value.sentence)" }
            .joined(separator: " ")
    }
}

extension SentenceReader {
    mutating func photo() throws(LineProblem) -> PhotoCaptured {
        let id = try number(of: "a photo")
        if words.take("failed") {
            return PhotoCaptured(photo: id, width: 0, height: 0, bytes: 0, error: try words.word("why").text)
        }
        let size = try words.word("its size")
        let sides = size.text.split(separator: "x").compactMap { UInt32($0) }
        guard sides.count == 2 else { throw LineProblem(size, "a size is written 1920x1080") }
        var photo = PhotoCaptured(photo: id, width: sides[0], height: sides[1], bytes: 0)
        var taken = WireDictionary()
        while let word = words.anything() {
            if word.key == "bytes" {
                photo.bytes = try word.wholeNumber()
                continue
            }
            guard let key = word.key, PhotoMetadata.keys.contains(key) else {
                throw LineProblem(word, notOne(word.key ?? word.text, of: ["bytes"] + PhotoMetadata.keys))
            }
            taken[key] = Bool(word.text).map { .boolean($0) } ?? Double(word.text).map { .double($0) } ?? .string("")
            do throws(BrokerError) { photo.metadata = try PhotoMetadata(wire: taken) } catch {
                throw LineProblem(word, error.message)
            }
        }
        return photo
    }

    mutating func survivor() throws(LineProblem) -> Survivor? {
        guard let grant = try grant() else { return nil }
        let recording = try setting("recording").map { (word) throws(LineProblem) in
            try word.read("a recording is a whole number") { UInt64($0) }
        }
        return Survivor(grant: grant, recording: recording)
    }
}
