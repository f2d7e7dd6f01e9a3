import Arbiter
package import ArbiterProtocol
import PolicyFile
import TomlFile

/// What a line of a trace says wrongly.
package struct LineFault: Error {
    package var message: String
    package init(_ message: String) { self.message = message }
}

/// The members of one object, each taken once; what nobody takes is wrong, so that nothing is passed over.
package struct TraceFields {
    private let what: String
    private var members: [JSON.Member]

    /// - Parameter what: what errors call the object, such as `startRunning`.
    package init(_ what: String, _ json: JSON) throws(LineFault) {
        guard let members = json.members else { throw LineFault("\(what) is no object") }
        self.what = what
        self.members = members
    }

    package init(_ what: String, members: [JSON.Member]) {
        self.what = what
        self.members = members
    }

    package mutating func optional(_ key: String) -> JSON? {
        guard let place = members.firstIndex(where: { $0.key == key }) else { return nil }
        return members.remove(at: place).value
    }

    package mutating func json(_ key: String) throws(LineFault) -> JSON {
        guard let value = optional(key) else { throw LineFault("\(what): “\(key)” is missing") }
        return value
    }

    package func end() throws(LineFault) {
        if let member = members.first { throw LineFault("\(what): “\(member.key)” is unknown, or there twice") }
    }

    private func wrong(_ key: String, _ allowed: String) -> LineFault {
        LineFault("\(what): “\(key)” is no \(allowed)")
    }

    package func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    // MARK: Values

    private mutating func take<Value>(
        _ key: String, _ allowed: @autoclosure () -> String, _ read: (JSON) -> Value?
    ) throws(LineFault) -> Value {
        guard let value = read(try json(key)) else { throw wrong(key, allowed()) }
        return value
    }

    package mutating func text(_ key: String) throws(LineFault) -> String { try take(key, "text") { $0.string } }
    package mutating func flag(_ key: String) throws(LineFault) -> Bool { try take(key, "true or false") { $0.bool } }
    package mutating func number(_ key: String) throws(LineFault) -> Double { try take(key, "number") { $0.number } }

    package mutating func count(_ key: String) throws(LineFault) -> UInt64 {
        try take(key, "whole number from 0") { $0.count }
    }

    package mutating func nanoseconds(_ key: String) throws(LineFault) -> Int64 {
        try take(key, "whole number of nanoseconds") { $0.integer }
    }

    package mutating func integer<Number: FixedWidthInteger>(_ key: String) throws(LineFault) -> Number {
        try take(key, "whole number from \(Number.min) to \(Number.max)") { json in
            json.integer.flatMap { Number(exactly: $0) }
        }
    }

    /// A list of numbers, of at most so many.
    package mutating func integers<Number: FixedWidthInteger>(_ key: String, countMax: Int) throws(LineFault)
        -> [Number]
    {
        let allowed = "list of at most \(countMax) whole numbers from \(Number.min) to \(Number.max)"
        guard let values = try json(key).array, values.count <= countMax else { throw wrong(key, allowed) }
        return try values.map { (value) throws(LineFault) in
            guard let number = value.integer.flatMap({ Number(exactly: $0) }) else { throw wrong(key, allowed) }
            return number
        }
    }

    /// `null` is nil.
    package mutating func nullable<Value>(
        _ key: String, _ read: (inout TraceFields) throws(LineFault) -> Value
    ) throws(LineFault) -> Value? {
        guard let place = members.firstIndex(where: { $0.key == key }) else {
            throw LineFault("\(what): “\(key)” is missing")
        }
        if members[place].value == .null {
            members.remove(at: place)
            return nil
        }
        return try read(&self)
    }

    package mutating func word<Value>(
        _ key: String, _ allowed: [String], _ read: (String) -> Value?
    ) throws(LineFault) -> Value {
        guard let word = read(try text(key)) else { throw wrong(key, "\(allowed.joined(separator: ", "))") }
        return word
    }

    package mutating func word<Value: RawRepresentable & CaseIterable>(_ key: String) throws(LineFault) -> Value
    where Value.RawValue == String { try word(key, Value.allCases.map(\.rawValue)) { Value(rawValue: $0) } }

    package mutating func objects(_ key: String) throws(LineFault) -> [TraceFields] {
        guard let values = try json(key).array else { throw wrong(key, "list") }
        var objects: [TraceFields] = []
        for value in values { objects.append(try TraceFields("\(what): an element of “\(key)”", value)) }
        return objects
    }

    package mutating func object(_ key: String) throws(LineFault) -> TraceFields {
        try TraceFields("\(what): “\(key)”", try json(key))
    }

    /// A value as it travels: JSON has it in the form of its type.
    package mutating func read<Value: WireType>(_ key: String) throws(LineFault) -> Value {
        let wire: WireValue =
            switch Value.wireType {
            case "b": .boolean(try flag(key))
            case "u": .uint32(try integer(key))
            case "t": .uint64(try count(key))
            case "x": .int64(try nanoseconds(key))
            case "d": .double(try number(key))
            case "s": .string(try text(key))
            default: preconditionFailure("\(Value.self) is read in its own way")
            }
        do throws(BrokerError) {
            if let value = try Value.read(wire, WirePlace(message: what, name: key)) { return value }
        } catch { throw LineFault(error.message) }
        throw wrong(key, Value.allowed)
    }

    /// Takes the members where they are `null`, all of them.
    mutating func takeNull(_ members: [EventMember]) throws(LineFault) -> Bool {
        guard let first = members.first, self.members.first(where: { $0.key == first.key })?.value == .null else {
            return false
        }
        for member in members { if try json(member.key) != .null { throw wrong(member.key, "null") } }
        return true
    }

    // MARK: The vocabulary

    package mutating func optionalText(_ key: String) throws(LineFault) -> String? {
        guard let json = optional(key) else { return nil }
        guard let text = json.string else { throw LineFault("“\(key)” is no text") }
        return text
    }

    /// A text that must be there, or `null`.
    package mutating func nullableText(_ key: String) throws(LineFault) -> String? {
        try nullable(key) { (fields) throws(LineFault) in try fields.text(key) }
    }

    package mutating func configuration(_ key: String) throws(LineFault) -> Configuration {
        guard let members = try json(key).members else { throw wrong(key, "object") }
        var configuration = Configuration()
        for member in members {
            guard let name = ConfigurationKey(rawValue: member.key), configuration[name] == nil else {
                throw wrong(key, "configuration: it has “\(member.key)”, which is no key or there twice")
            }
            switch member.value {
            case .bool(let flag): configuration[name] = .flag(flag)
            case .integer(let number): configuration[name] = .number(Double(number))
            case .number(let number): configuration[name] = .number(number)
            case .string(let text): configuration[name] = .text(text)
            case .array(let parts):
                guard let value = ConfigurationValue(numbers: parts.compactMap(\.number), of: name.kind) else {
                    throw wrong(key, "configuration: “\(member.key)” is no value")
                }
                configuration[name] = value
            case .null, .object: throw wrong(key, "configuration: “\(member.key)” is no value")
            }
        }
        return configuration
    }

    /// Traces of before photos had any have none.
    package mutating func photoMetadata(_ key: String) throws(LineFault) -> PhotoMetadata? {
        guard members.contains(where: { $0.key == key }) else { return nil }
        return try nullable(key) { (fields) throws(LineFault) in
            guard let members = try fields.json(key).members else { throw fields.wrong(key, "object") }
            var wire = WireDictionary()
            for member in members {
                guard PhotoMetadata.keys.contains(member.key), wire[member.key] == nil else {
                    throw fields.wrong(key, "photo's: it has “\(member.key)”, which is no key or there twice")
                }
                wire[member.key] = member.value.bool.map { .boolean($0) } ?? .double(member.value.number ?? .nan)
            }
            do throws(BrokerError) { return try PhotoMetadata(wire: wire) } catch {
                throw LineFault("\(fields.what): \(error.message)")
            }
        }
    }

    package mutating func capabilities() throws(LineFault) -> CameraCapabilities {
        var fields = try object("capabilities")
        var formats: [CameraFormat] = []
        for var format in try fields.objects("formats") {
            formats.append(
                CameraFormat(
                    pixelFormat: try format.text("pixelFormat"), width: try format.integer("width"),
                    height: try format.integer("height"), minFrameRate: try format.number("minFrameRate"),
                    maxFrameRate: try format.number("maxFrameRate"),
                    videoMaxZoomFactor: try format.number("videoMaxZoomFactor"),
                    videoZoomFactorUpscaleThreshold: try format.number("videoZoomFactorUpscaleThreshold"),
                    isBinned: try format.flag("isBinned"), fieldOfView: try format.optionalNumber("fieldOfView") ?? 0,
                    optics: try format.optics(),
                    assumed: (format.optional("assumed")?.array ?? []).compactMap {
                        $0.string.flatMap(CameraFormat.FieldName.init(rawValue:))
                    }))
            try format.end()
        }
        var controls: [CameraControl] = []
        if let given = fields.optional("controls")?.array {
            for json in given {
                var control = try TraceFields("\(what): an element of “controls”", json)
                controls.append(try control.control())
            }
        }
        let capabilities = CameraCapabilities(
            name: try fields.text("name"), position: try fields.word("position"),
            sensorWidth: try fields.integer("sensorWidth"), sensorHeight: try fields.integer("sensorHeight"),
            formats: formats, controls: controls,
            defaultFormatIndex: try fields.optionalInteger("defaultFormatIndex", in: 0...max(0, formats.count - 1))
                ?? 0,
            availableMetadataObjectTypes: fields.optional("availableMetadataObjectTypes")?.array?.compactMap(\.string)
                ?? [])
        try fields.end()
        return capabilities
    }

    /// Traces of 0.1 have none of it.
    private mutating func optics() throws(LineFault) -> CameraFormat.Optics {
        var optics = CameraFormat.Optics.usual
        // As wide as `Recorder1.Describe` takes.
        if let width = try optionalInteger("highResolutionStillWidth", in: 1...65_536),
            let height = try optionalInteger("highResolutionStillHeight", in: 1...65_536)
        {
            optics.highResolutionStill = CameraFormat.Optics.Size(width: width, height: height)
        }
        if let word = try optionalText("autoFocusSystem") {
            guard let system = CameraFormat.AutoFocusSystem(rawValue: word) else {
                throw wrong("autoFocusSystem", "focus system")
            }
            optics.autoFocusSystem = system
        }
        optics.iso = try optionalRange("minISO", "maxISO")
        optics.exposureDuration = try optionalRange("minExposureDuration", "maxExposureDuration")
        optics.videoStabilizationModes = (optional("videoStabilizationModes")?.array ?? []).compactMap {
            $0.string.flatMap(CameraFormat.VideoStabilizationMode.init(rawValue:))
        }
        optics.isVideoHDRSupported = optional("videoHDRSupported") == .bool(true)
        return optics
    }

    private mutating func optionalInteger(_ key: String, in range: ClosedRange<Int>) throws(LineFault) -> Int? {
        guard let json = optional(key) else { return nil }
        guard let number = json.integer.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw wrong(key, "whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private mutating func optionalNumber(_ key: String) throws(LineFault) -> Double? {
        switch optional(key) {
        case nil: return nil
        case .integer(let number): return Double(number)
        case .number(let number): return number
        default: throw wrong(key, "number")
        }
    }

    private mutating func optionalRange(
        _ least: String, _ most: String
    ) throws(LineFault) -> CameraFormat.Optics.Range? {
        guard let first = try optionalNumber(least), let last = try optionalNumber(most) else { return nil }
        guard first <= last else { throw wrong(most, "number from \(least)") }
        return CameraFormat.Optics.Range(least: first, most: last)
    }

    private mutating func numbers(_ name: String, of key: ConfigurationKey) throws(LineFault) -> ConfigurationValue {
        let parts = try json(name).array?.compactMap(\.number) ?? []
        guard let value = ConfigurationValue(numbers: parts, of: key.kind) else { throw wrong(name, "list of numbers") }
        return value
    }

    private mutating func control() throws(LineFault) -> CameraControl {
        let key: ConfigurationKey = try word("key")
        let takes: CameraControl.Takes
        switch key.kind {
        case .flag: takes = .flag
        case .text: takes = .words(try json("words").array?.compactMap(\.string) ?? [])
        case .number, .level, .count:
            takes = .range(least: try number("least"), most: try number("most"), step: try number("step"))
        case .point: takes = .point
        case .gains: takes = .gains(most: try number("most"))
        }
        let usual: ConfigurationValue =
            switch key.kind {
            case .flag: .flag(try flag("usual"))
            case .text: .text(try text("usual"))
            case .number, .level, .count: .number(try number("usual"))
            case .point, .gains: try numbers("usual", of: key)
            }
        try end()
        return CameraControl(key, takes, usual: usual)
    }
}

/// Rights to cameras came later than the first traces of this version. Lines without them are read as things were then:
/// every connected client had a right, and every login session and camera was at the one seat.
extension TraceFields {
    mutating func identity() throws(LineFault) -> ClientIdentity {
        let verified = try flag("verified")
        let login = try nullableText("loginSession").map { LoginSessionID($0) }
        guard has("atSeat") else {
            return ClientIdentity(verified: verified, login: login.map { .session($0) } ?? .outside, own: true)
        }
        let atSeat = try flag("atSeat")
        guard login == nil || !atSeat else { throw LineFault("a client with a “loginSession” is not “atSeat” besides") }
        let (weak, own) = (try flag("weak"), try flag("own"))
        let groups: [UInt32] = try integers("groups", countMax: ClientIdentity.groupsMax)
        return ClientIdentity(
            verified: verified, weak: weak, groups: groups,
            login: login.map { .session($0) } ?? (atSeat ? .seat : .outside), own: own)
    }

    mutating func loginSessionFacts() throws(LineFault) -> LoginSessionFacts {
        let (active, locked) = (try flag("active"), try flag("locked"))
        return LoginSessionFacts(
            active: active, locked: locked, seat: try seat(),
            user: has("user") ? try integer("user") : LoginSessionFacts.userUnknown)
    }

    /// Recorder cores outlive their broker since later than the first traces of this version.
    mutating func survivor() throws(LineFault) -> Survivor? {
        guard has("grant") else { return nil }
        let grant = try nullable("grant") { (fields) throws(LineFault) in GrantID(try fields.count("grant")) }
        let recording = try nullable("recording") { (fields) throws(LineFault) in try fields.count("recording") }
        guard let grant else {
            if recording != nil { throw LineFault("a “recording” is under way only for a “grant”") }
            return nil
        }
        return Survivor(grant: grant, recording: recording)
    }

    /// `null` is none; a line that does not speak of it means the usual one.
    mutating func seat() throws(LineFault) -> SeatID? {
        guard has("seat") else { return .usual }
        return try nullableText("seat").map { SeatID($0) }
    }

    /// A policy as TOML text; the line's column is no use to anybody, so the text's own places are named.
    package mutating func policy(_ key: String) throws(LineFault) -> Policy {
        let text = try text(key)
        if text == builtInPolicy { return .firstCome }
        do throws(FileProblems) {
            return try PolicyFile.parse(text, file: "its policy")
        } catch { throw LineFault("the policy in it is not valid:\n\(error)") }
    }
}

/// What stands for the policy that needs no file: its text could not say that nothing else was to be had.
package let builtInPolicy = "built-in"

extension Policy {
    package var traceText: String { self == .firstCome ? builtInPolicy : PolicyWriter.text(self, numbersOnly: true) }
}
