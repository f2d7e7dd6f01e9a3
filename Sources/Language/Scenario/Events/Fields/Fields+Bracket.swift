import ArbiterProtocol

extension EventField where Value == PhotoBracket {
    /// `exposureTargetBiases=-2,0,2`, or `exposureDurations=1/60,1/30 isos=100,200`: the keys of the wire.
    static var bracket: EventField {
        EventField(
            PhotoBracket.Key.allCases.map { EventMember(key: $0.rawValue, type: "ad") },
            Phrase({ value, _ in value.scenarioWords }, hear: { (reader) throws(LineProblem) in try reader.bracket() }),
            write: { bracket, values in bracket.write(to: &values) },
            read: { (line) throws(LineFault) in try line.bracket() })
    }
}

extension PhotoBracket {
    /// Numbers in a list have no spaces between them: they are one word.
    fileprivate var scenarioWords: String {
        wire.entries.map { entry in
            let numbers = (entry.value.numbers ?? []).map(\.shortDescription)
            return "\(entry.key)=\(numbers.joined(separator: ","))"
        }.joined(separator: " ")
    }

    /// Every key, those that are not given without a value.
    fileprivate func write(to values: inout EventValues) {
        let wire = wire
        for key in Key.allCases { values.add(key.rawValue, wire[key.rawValue]) }
    }

    /// - Parameter lists: by key; as many numbers in each as there are photos.
    fileprivate init(lists: WireDictionary) throws(BrokerError) {
        try self.init(wire: lists, files: lists.entries.first?.value.elements?.count ?? 0)
    }
}

extension SentenceReader {
    fileprivate mutating func bracket() throws(LineProblem) -> PhotoBracket {
        var lists = WireDictionary()
        let start = words.problemHere("a bracket needs its exposures")
        while let word = words.anything() {
            let numbers = word.text.split(separator: ",").map { Double(asPeopleWrite: String($0)) }
            guard let name = word.key, PhotoBracket.Key(rawValue: name) != nil, !numbers.contains(nil) else {
                throw LineProblem(word, notOne(word.key ?? word.text, of: PhotoBracket.Key.allCases.map(\.rawValue)))
            }
            lists[name] = .array(type: "d", numbers.compactMap { $0.map { .double($0) } })
        }
        do throws(BrokerError) { return try PhotoBracket(lists: lists) } catch { throw start.saying(error.message) }
    }
}

extension TraceFields {
    fileprivate mutating func bracket() throws(LineFault) -> PhotoBracket {
        var lists = WireDictionary()
        for key in PhotoBracket.Key.allCases {
            let json = try json(key.rawValue)
            if json == .null { continue }
            let numbers = (json.array ?? []).map(\.number)
            lists[key.rawValue] = .array(type: "d", numbers.map { .double($0 ?? .nan) })
        }
        do throws(BrokerError) { return try PhotoBracket(lists: lists) } catch {
            throw LineFault("capturePhotoBracket: \(error.message)")
        }
    }
}
