public import ArbiterProtocol
import Glibc
public import System

/// systemd-logind over the system bus: login sessions, and the machine's sleep.
///
///     bus ready ──▶ does it run? ──no──▶ lost, until its name has an owner
///                        │ yes
///                        ▼
///               take the inhibitor, ask for all sessions ──▶ known ──▶ follow its signals
///
/// It is believed and nobody else: on a message bus anybody may send a signal that looks like one of its own, so the
/// sender is compared with the owner of its name. It is never started by asking.
public final class Logind {
    static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let sessionInterface = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// Sessions that are followed. logind itself allows 8192, and each costs a call at the start; a machine with more
    /// than this many people at it has no one camera for them.
    public static let sessionsMax = 512
    /// How long logind waits for inhibitors unless it says otherwise (`InhibitDelayMaxSec=`), in nanoseconds.
    static let usualSleepDelay: Int64 = 5_000_000_000

    private var bus: MessageBus?
    private var again: Timer?
    /// Before it is asked again after it would not say which sessions there are; twice as long each time.
    private var pause = MessageBus.Kind.system.pauseMin
    private weak var delegate: (any LogindDelegate)?
    private var owner = ""
    /// Grows with each logind: answers of an earlier one mean nothing.
    private var round = 0
    private var sessions: [String: LoginSessionStatus] = [:]
    /// By object path; a session is here from when it was first heard of, so that they can be counted.
    private var ids: [String: String] = [:]
    /// Questions about sessions under way, and those that wait for their turn, as object paths.
    private var asked = 0
    private var waiting: [String] = []
    /// A system bus lets each of its peers have 128 calls under way, and answers the others with an error.
    package static let askedMax = 32
    private var isKnown = false
    /// Sessions beyond the bound.
    public private(set) var leftOut = 0
    private var isAsleep = false
    /// Held while awake: logind waits for its end before the machine sleeps.
    private var inhibitor: Int32 = -1
    /// How long that is at most, in nanoseconds.
    public private(set) var sleepDelay = Logind.usualSleepDelay

    /// - Parameter address: the system bus's.
    /// - Parameter keepers: as those of `MessageBus`.
    public init(
        address: String, on loop: EventLoop, delegate: any LogindDelegate, keepers: DescriptorKeepers? = nil
    ) throws(SystemFault) {
        self.delegate = delegate
        again = try loop.addTimer { [unowned self] in findOwner() }
        bus = try MessageBus(.system, address: address, on: loop, delegate: self, keepers: keepers)
    }

    deinit { letSleep() }

    /// The machine may sleep now, as far as we are concerned. Idempotent.
    public func letSleep() {
        if inhibitor >= 0 { close(inhibitor) }
        inhibitor = -1
    }

    // MARK: Beginning

    private func findOwner() {
        bus?.askBus("GetNameOwner", [.string(Self.name)]) { [weak self] result in
            guard let self else { return }
            if let found = try? result.get().readString() {
                // Its signal may have come first.
                if owner != found { begin(found) }
            } else {
                lost("logind does not run")
            }
        }
    }

    private func begin(_ newOwner: String) {
        owner = newOwner
        round += 1
        let begun = round
        sessions = [:]
        ids = [:]
        isKnown = false
        leftOut = 0
        waiting = []
        asked = 1
        inhibit()
        ask(Self.path, Self.manager, "InhibitDelayMaxUSec") { [self] in
            if let microseconds = $0.uint64, microseconds < UInt64(Int64.max) / 1000 {
                sleepDelay = Int64(microseconds) * 1000
            }
        }
        // A signal may have been missed.
        ask(Self.path, Self.manager, "PreparingForSleep") { [self] in sleeps($0.boolean ?? false) }
        bus?.call(Self.name, path: Self.path, interface: Self.manager, member: "ListSessions") { [weak self] result in
            guard let self, round == begun else { return }
            switch result {
            case .success(let answer):
                for session in (try? Self.sessions(in: answer)) ?? [] { look(session.id, session.path) }
                answered()
            case .failure(let error):
                lost("logind does not say which sessions there are: \(error.message)")
                // Its name keeps its owner, so that no news of that would bring it back.
                again?.arm(at: EventLoop.now + pause)
                pause = min(pause * 2, MessageBus.Kind.system.pauseMax)
            }
        }
    }

    /// The answer of `ListSessions`, `a(susso)`.
    private static func sessions(in answer: BusMessage) throws(BrokerError) -> [(id: String, path: String)] {
        var found: [(id: String, path: String)] = []
        try answer.readEach("a", "(susso)", most: BusMessage.valuesMax) { () throws(BrokerError) in
            try answer.readEach("r", "susso", most: 1) { () throws(BrokerError) in
                let id = try answer.readString()
                try answer.skip("uss")
                found.append((id, try answer.readObjectPath()))
            }
        }
        return found
    }

    private func answered() {
        asked -= 1
        while asked < Self.askedMax, !waiting.isEmpty { askAll(waiting.removeFirst()) }
        guard asked == 0, !isKnown else { return }
        isKnown = true
        pause = MessageBus.Kind.system.pauseMin
        delegate?.logindKnows(sessions.values.sorted { $0.id < $1.id })
    }

    private func lost(_ why: String) {
        again?.arm(at: nil)
        owner = ""
        round += 1
        isKnown = false
        letSleep()
        // Whether it woke nobody says any more; it is not likely to sleep for ever.
        sleeps(false)
        delegate?.logindLost(why)
    }

    /// Asks all about a session; tells it when it is known by then.
    private func look(_ id: String, _ path: String) {
        guard ids[path] != nil || ids.count < Self.sessionsMax else {
            leftOut += 1
            return
        }
        ids[path] = id
        waiting.append(path)
        if asked < Self.askedMax { askAll(waiting.removeFirst()) }
    }

    private func askAll(_ path: String) {
        let begun = round
        asked += 1
        bus?.call(
            Self.name, path: path, interface: Self.properties, member: "GetAll", [.string(Self.sessionInterface)]
        ) { [weak self] result in
            guard let self, round == begun else { return }
            // It may have ended meanwhile: then there is an error, or its place is empty.
            if let id = ids[path], let found = try? result.get().readProperties(), !Self.isOfManager(found) {
                took(
                    LoginSessionStatus {
                        ($0.id, $0.user) = (id, UInt32(clamping: found["User"]?.uint64 ?? .max))
                        $0.seat = found["Seat"]?.string ?? ""
                        $0.isRemote = found["Remote"]?.boolean ?? false
                        $0.isActive = found["Active"]?.boolean ?? false
                        $0.isLocked = found["LockedHint"]?.boolean ?? false
                    })
            }
            answered()
        }
    }

    /// Since systemd 256 a user's manager has a session of its own, which is on no seat and active for as long as it runs: nobody has logged
    /// in by it, and of a user who lingers it is the only one.
    private static func isOfManager(_ session: WireDictionary) -> Bool {
        session["Class"]?.string?.hasPrefix("manager") ?? false
    }

    private func took(_ session: LoginSessionStatus) {
        guard sessions[session.id] != session else { return }
        sessions[session.id] = session
        if isKnown { delegate?.loginSessionChanged(session) }
    }

    private func ask(_ path: String, _ interface: String, _ property: String, _ took: @escaping (WireValue) -> Void) {
        let begun = round
        bus?.call(
            Self.name, path: path, interface: Self.properties, member: "Get", [.string(interface), .string(property)]
        ) { [weak self] result in
            guard let self, round == begun, let value = try? result.get().readVariant() else { return }
            took(value)
        }
    }

    // MARK: Sleep

    private func inhibit() {
        guard inhibitor < 0 else { return }
        let begun = round
        bus?.call(
            Self.name, path: Self.path, interface: Self.manager, member: "Inhibit",
            [
                .string("sleep"), .string("camarb"), .string("Recordings are finished before the machine sleeps."),
                .string("delay"),
            ]
        ) { [weak self] result in
            do throws(BrokerError) {
                let taken = try result.get().firstDescriptor()
                guard let self, round == begun, inhibitor < 0 else {
                    close(taken)
                    return
                }
                inhibitor = taken
            } catch {
                guard let self, round == begun else { return }
                delegate?.logindRefusedInhibitor(error.message)
            }
        }
    }

    private func sleeps(_ asleep: Bool) {
        guard asleep != isAsleep else { return }
        isAsleep = asleep
        if !asleep && !owner.isEmpty { inhibit() }
        delegate?.machineSleeps(asleep)
    }

    // MARK: Signals

    private func take(_ signal: BusMessage) throws(BrokerError) {
        if signal.sender == MessageBus.name {
            guard let (name, newOwner) = MessageBus.ownerChange(signal), name == Self.name else { return }
            if newOwner.isEmpty { lost("logind has ended") } else { begin(newOwner) }
            return
        }
        guard !owner.isEmpty, signal.sender == owner else { return }
        switch (signal.interface, signal.member) {
        case (Self.manager, "PrepareForSleep") where signal.isSignature("b"): sleeps(try signal.readBool())
        case (Self.manager, "SessionNew") where signal.isSignature("so"):
            let id = try signal.readString()
            look(id, try signal.readObjectPath())
        case (Self.manager, "SessionRemoved") where signal.isSignature("so"):
            let id = try signal.readString()
            ids[try signal.readObjectPath()] = nil
            if sessions.removeValue(forKey: id) != nil, isKnown { delegate?.loginSessionEnded(id) }
        case (Self.properties, "PropertiesChanged") where signal.isSignature("sa{sv}as"):
            try changed(signal)
        default: break
        }
    }

    /// Of a session whose properties have been asked for and not been told yet, the answer will have this.
    private func changed(_ signal: BusMessage) throws(BrokerError) {
        guard let id = ids[signal.path], var session = sessions[id], try signal.readString() == Self.sessionInterface
        else { return }
        let changed = try signal.readProperties()
        if let active = changed["Active"]?.boolean { session.isActive = active }
        if let locked = changed["LockedHint"]?.boolean { session.isLocked = locked }
        took(session)
    }
}

extension Logind: MessageBusDelegate {
    public func busReady(_ bus: MessageBus) {
        bus.match("type='signal',sender='\(Self.name)',interface='\(Self.manager)'")
        bus.match(
            "type='signal',sender='\(Self.name)',interface='\(Self.properties)',path_namespace='\(Self.path)/session'")
        bus.match(MessageBus.ownerRule(Self.name))
        findOwner()
    }

    public func busLost(_ bus: MessageBus, _ why: String) { lost(why) }

    public func bus(_ bus: MessageBus, received signal: BusMessage) {
        // Nonsense from the bus or from logind is passed over: nothing was decided by it.
        try? take(signal)
    }
}

/// Receives logind's reports, on the loop's thread.
public protocol LogindDelegate: AnyObject {
    /// All login sessions, in the order of their ids. Earlier sessions that are missing here have ended.
    func logindKnows(_ sessions: [LoginSessionStatus])
    /// logind does not run, or no longer, and why. Its last reports are all that is known.
    func logindLost(_ why: String)
    /// The session is new, or one of its properties has changed.
    func loginSessionChanged(_ session: LoginSessionStatus)
    func loginSessionEnded(_ id: String)
    /// True: the machine is about to sleep, and waits for `letSleep`, for as long as `sleepDelay` at most.
    /// False: it is awake. Told when it changes.
    func machineSleeps(_ asleep: Bool)
    /// The machine will not wait before it sleeps, and why.
    func logindRefusedInhibitor(_ why: String)
}
