/// One value of a notice to a session: what it is called on the wire, which type it has there, and how it is written and
/// read. A value may have several arguments: that of a finished recording has ten.
package struct NoticeField<Value: Sendable>: Sendable {
    package let carries: [Interface.Argument]
    /// Says every argument once, in their order, with its name.
    let write: @Sendable (Value, (String, WireValue) -> Void) -> Void
    let read: @Sendable (inout WireReader) throws(BrokerError) -> Value

    /// A field of one argument.
    init(
        _ name: String, _ type: String, wire: @escaping @Sendable (Value) -> WireValue,
        read: @escaping @Sendable (inout WireReader, String) throws(BrokerError) -> Value
    ) {
        carries = [Interface.Argument(name, type)]
        write = { value, say in say(name, wire(value)) }
        self.read = { (reader) throws(BrokerError) in try read(&reader, name) }
    }

    /// A value that is made of others.
    /// - Parameter take: its parts; nil: it is not made of these.
    init<each Part: Sendable>(
        _ make: @escaping @Sendable (repeat each Part) -> Value, _ parts: repeat NoticeField<each Part>,
        take: @escaping @Sendable (Value) -> (repeat each Part)?
    ) {
        var carries: [Interface.Argument] = []
        for part in repeat each parts { carries += part.carries }
        self.carries = carries
        write = { value, say in
            guard let taken = take(value) else {
                preconditionFailure("\(value) is not described by another notice's fields")
            }
            for (part, value) in repeat (each parts, each taken) { part.write(value, say) }
        }
        read = { (reader) throws(BrokerError) in make(repeat try (each parts).read(&reader)) }
    }
}

extension NoticeField {
    private init(_ field: NoticeField, read: @escaping @Sendable (inout WireReader) throws(BrokerError) -> Value) {
        (carries, write) = (field.carries, field.write)
        self.read = read
    }

    /// The same at a notice's end, where an earlier broker says nothing.
    func orAbsent(_ usual: Value) -> NoticeField {
        NoticeField(self) { (reader) throws(BrokerError) in reader.isAtEnd ? usual : try read(&reader) }
    }
}

/// What stands on the wire for a figure that nobody knows.
package enum UnknownFigure {
    package static let count = UInt64.max
    package static let nanoseconds: Int64 = -1
}

// MARK: Numbers and words

extension NoticeField {
    static func number(_ name: String) -> NoticeField where Value == UInt64 {
        NoticeField(name, "t", wire: WireValue.uint64) { (reader, name) throws(BrokerError) in try reader.uint64(name) }
    }

    /// `UnknownFigure.count` on the wire: nobody knows.
    static func knownNumber(_ name: String) -> NoticeField where Value == UInt64? {
        NoticeField(
            name, "t", wire: { .uint64($0 ?? UnknownFigure.count) },
            read: { (reader, name) throws(BrokerError) in
                let number = try reader.uint64(name)
                return number == UnknownFigure.count ? nil : number
            })
    }

    /// 0 on the wire: there is none.
    static func anyNumber(_ name: String) -> NoticeField where Value == UInt64? {
        NoticeField(
            name, "t", wire: { .uint64($0 ?? 0) },
            read: { (reader, name) throws(BrokerError) in
                let number = try reader.uint64(name)
                return number == 0 ? nil : number
            })
    }

    static func pixels(_ name: String) -> NoticeField where Value == UInt32 {
        NoticeField(name, "u", wire: WireValue.uint32) { (reader, name) throws(BrokerError) in try reader.uint32(name) }
    }

    static func factor(_ name: String) -> NoticeField where Value == Double {
        NoticeField(name, "d", wire: WireValue.double) { (reader, name) throws(BrokerError) in try reader.number(name) }
    }

    static func flag(_ name: String) -> NoticeField where Value == Bool {
        NoticeField(
            name, "b", wire: { .boolean($0) }, read: { (reader, name) throws(BrokerError) in try reader.boolean(name) })
    }

    static func text(_ name: String) -> NoticeField where Value == String {
        NoticeField(name, "s", wire: WireValue.string) { (reader, name) throws(BrokerError) in try reader.string(name) }
    }

    /// `""` on the wire: there is none.
    static func anyText(_ name: String) -> NoticeField where Value == String? {
        NoticeField(
            name, "s", wire: { .string($0 ?? "") },
            read: { (reader, name) throws(BrokerError) in try reader.anyString(name) })
    }

    static func word(_ name: String) -> NoticeField
    where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
        NoticeField(
            name, "s", wire: { .string($0.rawValue) },
            read: { (reader, name) throws(BrokerError) in try reader.word(name) })
    }
}

// MARK: Times

extension NoticeField where Value == Moment {
    static var deadline: NoticeField {
        NoticeField(
            "deadline", "x", wire: { .int64($0.nanoseconds) },
            read: { (reader, name) throws(BrokerError) in Moment(nanoseconds: try reader.int64(name)) })
    }
}

extension NoticeField {
    /// 0 on the wire: there is none.
    static func anyMoment(_ name: String) -> NoticeField where Value == Moment? {
        NoticeField(
            name, "x", wire: { .int64($0?.nanoseconds ?? 0) },
            read: { (reader, name) throws(BrokerError) in
                let nanoseconds = try reader.int64(name)
                return nanoseconds == 0 ? nil : Moment(nanoseconds: nanoseconds)
            })
    }
}

extension NoticeField where Value == Duration? {
    /// `UnknownFigure.nanoseconds` on the wire: nobody knows.
    static var knownDuration: NoticeField {
        NoticeField(
            "duration", "x", wire: { .int64($0?.wholeNanoseconds ?? UnknownFigure.nanoseconds) },
            read: { (reader, name) throws(BrokerError) in
                let nanoseconds = try reader.int64(name)
                return nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
            })
    }
}

extension NoticeField where Value == Duration {
    static var duration: NoticeField {
        NoticeField(
            "duration", "x", wire: { .int64($0.wholeNanoseconds) },
            read: { (reader, name) throws(BrokerError) in .nanoseconds(try reader.int64(name)) })
    }
}

// MARK: Who, why and what

extension NoticeField where Value == GrantID {
    static var grant: NoticeField { NoticeField(GrantID.init(_:), .number("grant")) { $0.rawValue } }
}

extension NoticeField where Value == CameraID {
    static var camera: NoticeField { NoticeField(CameraID.init(_:), .text("camera")) { $0.name } }
}

extension NoticeField where Value == [SessionOutput] {
    /// Outputs that a later broker may know of are passed over.
    static var outputs: NoticeField {
        NoticeField(
            "reopen", "as", wire: { .strings($0.map(\.rawValue)) },
            read: { (reader, name) throws(BrokerError) in
                try reader.strings(name).compactMap(SessionOutput.init(rawValue:))
            })
    }
}

extension NoticeField where Value == Cause {
    static var cause: NoticeField {
        NoticeField(
            "cause", "s", wire: { .string($0.wireName) },
            read: { (reader, name) throws(BrokerError) in try reader.cause(name) })
    }
}

extension NoticeField where Value == Cause? {
    /// `""` on the wire: there is none.
    static var anyCause: NoticeField {
        NoticeField(
            "cause", "s", wire: { .string($0?.wireName ?? "") },
            read: { (reader, name) throws(BrokerError) in
                guard let word = try reader.anyString(name) else { return nil }
                guard let cause = Cause(wireName: word) else {
                    throw BrokerError(.invalidArguments, "\(name) is \(word.quotedShort), which is no cause.")
                }
                return cause
            })
    }
}

extension NoticeField where Value == CauseSet {
    /// The reason first.
    static var causes: NoticeField {
        NoticeField(
            "causes", "as", wire: \.wire, read: { (reader, name) throws(BrokerError) in try reader.causes(name) })
    }

    static var causesAndReason: NoticeField {
        // The set says it already: the reason is its first.
        let reason = NoticeField<String>.text("reason")
        let make: @Sendable (CauseSet, String) -> CauseSet = { causes, _ in causes }
        return NoticeField(make, .causes, reason) { ($0, $0.reason?.wireName ?? "") }
    }
}

extension NoticeField where Value == Access {
    static var access: NoticeField {
        NoticeField(
            "access", "as", wire: { .strings($0.names) },
            read: { (reader, name) throws(BrokerError) in try reader.access(name) })
    }
}

extension NoticeField where Value == Interrupter? {
    static var interrupter: NoticeField {
        NoticeField(
            "interrupter", "s", wire: { .string($0?.wireName ?? "") },
            read: { (reader, name) throws(BrokerError) in Interrupter(wireName: try reader.string(name)) })
    }
}

extension NoticeField where Value == [Interrupter] {
    static var sharers: NoticeField {
        NoticeField(
            "sharers", "as", wire: { .strings($0.map(\.wireName)) },
            read: { (reader, name) throws(BrokerError) in
                try reader.strings(name).compactMap(Interrupter.init(wireName:))
            })
    }
}

extension NoticeField {
    static func configuration(_ name: String) -> NoticeField where Value == Configuration {
        NoticeField(
            name, "a{sv}", wire: { .dictionary($0.wire) },
            read: { (reader, name) throws(BrokerError) in try Configuration(wire: reader.dictionary(name)) })
    }
}

extension NoticeField where Value == RecordingFinished {
    static var finishedRecording: NoticeField {
        NoticeField(
            RecordingFinished.init(_:_:_:_:_:_:_:_:_:_:), .number("recording"), .word("why"), .knownNumber("frames"),
            .knownDuration, .knownNumber("bytes"), .word("nextChance"),
            .number("framesLeftOut").orAbsent(0) as NoticeField<UInt64>, .anyMoment("lastCapture").orAbsent(nil),
            .anyCause.orAbsent(nil), .interrupter.orAbsent(nil)
        ) {
            (
                $0.recording, $0.why, $0.frames, $0.duration, $0.bytes, $0.nextChance, $0.framesLeftOut, $0.lastCapture,
                $0.cause, $0.interrupter
            )
        }
    }
}

extension RecordingFinished {
    fileprivate init(
        _ recording: RecordingID, _ why: RecordingEnd, _ frames: UInt64?, _ duration: Duration?, _ bytes: UInt64?,
        _ nextChance: NextChance, _ framesLeftOut: UInt64, _ lastCapture: Moment?, _ cause: Cause?,
        _ interrupter: Interrupter?
    ) {
        self.init(
            recording: recording, why: why, frames: frames, duration: duration, bytes: bytes, nextChance: nextChance)
        (self.framesLeftOut, self.lastCapture) = (framesLeftOut, lastCapture)
        (self.cause, self.interrupter) = (cause, interrupter)
    }
}

extension NoticeField where Value == PhotoCaptured {
    /// As the recorder core's signal and the session's both end.
    static var photo: NoticeField {
        NoticeField(
            PhotoCaptured.init(photo:width:height:bytes:error:metadata:), .number("photo"), .pixels("width"),
            .pixels("height"), .number("bytes"), .anyText("error"), .photoMetadata
        ) { ($0.photo, $0.width, $0.height, $0.bytes, $0.error, $0.metadata) }
    }
}
