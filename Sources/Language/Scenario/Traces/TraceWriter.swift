public import Arbiter
public import ArbiterProtocol
import Explain
import PolicyFile

/// Makes the lines of one trace, in order. Each ends with a checksum of itself and of all lines before it.
///
///     {"trace":5,"program":"camarbd 0.1.0","origin":…,"steps":0,"policy":"…","policyHash":"…","sum":"…"}
///     {"step":1,"at":…,"event":"connected",…,"decision":1,"effects":[…],"sum":"…"}
///     {"end":"stopped","steps":1,"sum":"…"}
///
/// `docs/trace.md` is the whole format. The checksum shows changes by accident or by hand; it is no signature.
public struct TraceWriter: Sendable {
    /// The format's. It grows when an older reader could misread a line, and when an older core would decide otherwise
    /// than this one does by its contract; the members of a snapshot follow the core.
    public static let version: Int64 = 5

    private(set) var sum = Checksum()
    /// The number of the last step that was written, or before the first.
    public private(set) var steps: UInt64

    /// - Parameter steps: the number of earlier steps.
    public init(steps: UInt64 = 0) { self.steps = steps }

    /// Goes on behind a header that another writer has made.
    /// - Throws: the problem of the line.
    public init(goingOnBehind header: [UInt8], file: String) throws(TraceError) {
        guard let part = try TraceReader.read(header, file: file).first else {
            throw TraceError(file: file, line: 1, message: "there is no header")
        }
        sum = part.sum
        steps = part.lastNumber
    }

    /// A line before its checksum: a line for several traces is made once.
    public struct Body: Sendable {
        package var bytes: [UInt8]
        init(_ members: [JSON.Member]) {
            bytes = []
            JSON.object(members).write(to: &bytes)
            bytes.removeLast()
        }

        /// As it travels: without the checksum and the last brace.
        public init(text: String) { bytes = Array(text.utf8) }
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// The first line.
    /// - Parameters:
    /// - origin: where scenarios made of it count time from.
    /// - arbiter: as before the first step.
    /// - names: the journal's.
    /// - before: the trace that this one goes on with.
    public mutating func header(
        program: String, origin: Moment, arbiter: Arbiter, names: Names = Names(), following before: TraceWriter? = nil
    ) -> [UInt8] {
        var line: [JSON.Member] = []
        line.add("trace", .integer(Self.version))
        line.add("program", .string(program))
        line.add("origin", .integer(origin.nanoseconds))
        line.add("steps", .exact(steps))
        if let before { line.add("follows", .string(before.sum.text)) }
        line.add("policy", .string(arbiter.policy.traceText))
        line.add("policyHash", .string(arbiter.policy.hash))
        if steps > 0 {
            let status = arbiter.status()
            let clients = Set(status.sessions.map(\.client)).sorted()
            line.add("clients", .array(clients.map { .array([.exact($0.rawValue), .string(names.name(of: $0))]) }))
            line.add(
                "sessions",
                .array(status.sessions.map { .array([.exact($0.id.rawValue), .string(names.name(of: $0.id))]) }))
            // Synthesized members throughout, into a tree: nothing can fail.
            line.add("snapshot", (try? JSONEncoding.json(of: arbiter.snapshot())) ?? .null)
        }
        return seal(Body(line))
    }

    /// - Parameters:
    /// - number: counts from 1 in a broker's life, without gaps.
    /// - name: of the client or session that the event brings.
    public static func step(
        _ number: UInt64, _ event: Event, at moment: Moment, name: String? = nil, decision: DecisionID,
        _ effects: [Effect]
    ) -> Body {
        var line: [JSON.Member] = []
        line.add("step", .exact(number))
        line.add("at", .integer(moment.nanoseconds))
        line.add("event", .string(event.kind.rawValue))
        line += event.described.values(of: event).members
        if let name { line.add("name", .string(name)) }
        line.add("decision", .exact(decision))
        line.add("effects", .array(effects.map(\.described.traceJSON)))
        return Body(line)
    }

    public mutating func write(step body: Body) -> [UInt8] {
        steps += 1
        return seal(body)
    }

    public mutating func end(_ why: TraceEnd) -> [UInt8] {
        var line: [JSON.Member] = []
        line.add("end", .string(why.word))
        line.add("steps", .exact(steps))
        if case .lost(let count) = why { line.add("lost", .exact(count)) }
        return seal(Body(line))
    }

    mutating func seal(_ body: Body) -> [UInt8] {
        sum.add(body.bytes)
        return body.bytes + Checksum.key + sum.text.utf8 + Checksum.close
    }
}

/// Why a trace ends; a trace without an end was cut off: the broker was killed, or goes on.
public enum TraceEnd: Hashable, Sendable {
    /// The broker, or the recording of the trace, was ended.
    case stopped
    case rotated
    /// A reader was too slow: so many steps after it are missing.
    case lost(UInt64)

    var word: String {
        switch self {
        case .stopped: "stopped"
        case .rotated: "rotated"
        case .lost: "lost"
        }
    }
}

extension Status.SessionStatus {
    /// For pictures that begin in the middle. The number of an interruption, which only the next notice has, is 0 here.
    package var eventsThatLeadToIt: [SessionEvent] {
        switch state {
        case .stopped, .starting: return []
        case .interrupted:
            return [
                .wasInterrupted(
                    Interruption(id: 0, causes: causes, interrupter: waitsFor.map { .app($0.name) }, rule: rule ?? ""))
            ]
        case .running:
            var events: [SessionEvent] = [.didStartRunning(GrantID(0))]
            if access != .all { events.append(.accessChanged(AccessChange(access, causes: causes, rule: rule ?? ""))) }
            if let recording { events.append(.recordingStarted(recording)) }
            return events
        }
    }
}
