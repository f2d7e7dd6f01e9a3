import Arbiter
import ArbiterProtocol
import Broker
import BusTesting
import Foundation
import Synchronization
import System
import Testing

/// A machine that is as a test says, and can be made to answer for no reading.
private final class Machine: Sendable {
    private struct State {
        var reading = LoadReading()
        /// When each reading began.
        var begun: [Int64] = []
    }
    private let state = Mutex(State())
    /// Closed while its sensors hang.
    private let gate = NSCondition()
    private nonisolated(unsafe) var hangs = false

    func set(_ reading: LoadReading) { state.withLock { $0.reading = reading } }

    func set(hanging: Bool) {
        gate.lock()
        hangs = hanging
        gate.broadcast()
        gate.unlock()
    }

    var begun: [Int64] { state.withLock { $0.begun } }

    func read() -> LoadReading {
        state.withLock { $0.begun.append(EventLoop.now) }
        gate.lock()
        while hangs { gate.wait() }
        gate.unlock()
        return state.withLock { $0.reading }
    }
}

/// A broker around the observer, and what it was told.
private final class House: PressureObserverOwner {
    let loop: EventLoop
    let machine = Machine()
    var policy: Policy = House.hot
    var isAskedToRun = false
    private(set) var watch: PressureObserver!
    /// Levels, oldest first; nil: nobody looks.
    private(set) var told: [SystemPressure?] = []
    private(set) var sentences: [String] = []

    static let hot: Policy = {
        var policy = Policy(name: "hot")
        policy.causeRules = [
            CauseRule(
                name: "It is warm", when: [.pressure(atLeast: .serious)],
                cause: .videoDeviceNotAvailableDueToSystemPressure)
        ]
        return policy
    }()
    /// Readings that follow each other closely, so that a test is short, and for which a starved machine has all the time.
    static let times: PressureObserver.Times = patience(readMax: 3_600_000_000_000)

    static func patience(readMax: Int64) -> PressureObserver.Times {
        var times = PressureObserver.Times()
        times.interval = 10_000_000
        times.readMax = readMax
        return times
    }

    /// - Parameter reading: what the machine's figures are, which somebody asks for; nil: none are, and nobody does.
    init(_ reading: LoadReading? = nil, _ times: PressureObserver.Times = House.times) throws {
        loop = try EventLoop()
        watch = try PressureObserver(self, on: loop, times: times) { [machine] in machine.read() }
        watch.policyChanged()
        guard let reading else { return }
        machine.set(reading)
        ask(true)
    }

    deinit { machine.set(hanging: false) }

    func measured(_ level: SystemPressure?) { told.append(level) }
    func pressureChanged(_ words: String) { sentences.append(words) }

    /// As after each step of the core.
    func ask(_ asks: Bool) {
        isAskedToRun = asks
        watch.lookWhereWanted()
    }

    /// Until this was told last, behind others.
    func until(_ level: SystemPressure) throws { try loop.turn(until: { told.last == level }, "\(level)") }

    /// Until so many readings have been taken up since; the last of them has come back by then, too.
    func readings(_ count: Int) throws {
        let before = machine.begun.count
        try loop.turn(until: { machine.begun.count > before + count }, "\(count) readings")
    }

    func end() throws {
        ask(false)
        try loop.turn(until: { told.last == .some(nil) }, "the end of the readings")
    }

    /// Longer than several readings take.
    func rest() throws { try loop.turn(for: 10 * Self.times.interval) }

    static func zone(_ temperature: Double) -> LoadReading {
        LoadReading(zones: [ThermalZone(name: "cpu", temperature: temperature, passive: 80, critical: 100)])
    }
}

@Suite("The machine's own figures, while they matter", .timeLimit(.minutes(10)))
struct PressureObserverTests {
    // MARK: When it is looked at

    @Test("Nothing is read before somebody asks for a camera, and nothing after nobody does any more")
    func whileAsked() throws {
        let house = try House()
        try house.rest()
        #expect(house.machine.begun == [] && house.told == [])
        house.machine.set(House.zone(40))
        house.ask(true)
        house.ask(true)
        #expect(house.told == [], "the first reading has not come back")
        try house.readings(3)
        #expect(house.told == [.nominal])
        try house.end()
        let count = house.machine.begun.count
        try house.rest()
        #expect(house.machine.begun.count == count && house.told == [.nominal, nil])
    }

    @Test(
        "A policy that does not read pressure, or forbids it, has nothing read, from the moment on that it is in force")
    func unwanted() throws {
        for change in [{ $0.causeRules = [] }, { $0.pressure.isWatched = false }] as [(inout Policy) -> Void] {
            let house = try House(House.zone(90))
            try house.until(.serious)
            change(&house.policy)
            house.watch.policyChanged()
            #expect(house.told == [.nominal, .serious, nil] && house.watch.why.isEmpty)
            let count = house.machine.begun.count
            try house.rest()
            // One may have been under way, and is nobody's.
            #expect(house.machine.begun.count <= count + 1 && house.told.count == 3)
            house.policy = House.hot
            house.watch.policyChanged()
            try house.until(.serious)
            #expect(house.told == [.nominal, .serious, nil, .nominal, .serious])
        }
    }

    @Test("The machine is read at once, and then an interval after each reading")
    func interval() throws {
        let house = try House()
        let began = EventLoop.now
        house.ask(true)
        try house.readings(4)
        let begun = house.machine.begun
        #expect(begun[0] >= began)
        for (earlier, later) in zip(begun, begun.dropFirst()) { #expect(later - earlier >= House.times.interval) }
        #expect(PressureObserver.Times().interval == 2_000_000_000 && PressureObserver.Times().readMax == 5_000_000_000)
        // A long interval is none before the first one.
        var slow = House.times
        slow.interval = 3_600_000_000_000
        let other = try House(LoadReading(), slow)
        try other.loop.turn(until: { other.told == [.nominal] })
        try other.rest()
        #expect(other.machine.begun.count == 1)
    }

    // MARK: What is told

    @Test("A level is told when it changes, and the reading that brought it about is said")
    func levels() throws {
        let house = try House(House.zone(81))
        try house.until(.serious)
        #expect(house.watch.why == "cpu: 81.0 °C")
        try house.readings(3)
        house.machine.set(House.zone(30))
        try house.loop.turn(until: { house.told.last == .nominal && house.told.count > 1 })
        try house.readings(3)
        #expect(house.told == [.nominal, .serious, .nominal] && house.watch.why.isEmpty)
        #expect(
            house.sentences == [
                "the machine's pressure is serious: cpu: 81.0 °C", "the machine's pressure is nominal",
            ])
    }

    /// At 78 °C a machine that was at 80 is still hot, and one that was not is not.
    @Test("The next app does not meet the heat of an hour ago")
    func forgotten() throws {
        let house = try House(House.zone(90))
        try house.until(.serious)
        try house.end()
        #expect(house.watch.why.isEmpty)
        house.machine.set(House.zone(78))
        house.ask(true)
        try house.readings(4)
        #expect(house.told == [.nominal, .serious, nil, .nominal, .fair])
    }

    @Test("A processor that throttled itself while nobody looked, or a figure that jumped once before, is of the past")
    func countsForgotten() throws {
        let house = try House(LoadReading(throttles: 7))
        try house.readings(2)
        try house.end()
        house.machine.set(LoadReading(throttles: 70))
        house.ask(true)
        try house.readings(4)
        #expect(house.told == [.nominal, nil, .nominal])
        // Once at the end, and once at the next beginning: that is not twice in a row.
        try house.end()
        for _ in 0..<3 {
            house.machine.set(House.zone(90))
            house.ask(true)
            try house.until(.nominal)
            try house.end()
        }
        #expect(!house.told.contains(.serious))
    }

    // MARK: Trouble

    @Test("A sensor that hangs is given up: the machine counts as one that says nothing until it answers")
    func hangs() throws {
        // More than a thread of a busy machine waits for a processor: a reading that only starves is none that hangs.
        let readMax: Int64 = 2_000_000_000
        let house = try House(House.zone(90), House.patience(readMax: readMax))
        try house.until(.serious)
        // The reading that hangs begins in a later turn, and its time with it; its thread may begin after both.
        let before = EventLoop.now
        house.machine.set(hanging: true)
        try house.loop.turn(until: { house.told.last == .nominal && house.told.count > 1 })
        #expect(EventLoop.now - before >= readMax)
        #expect(house.watch.trouble.contains("have not answered") && house.watch.why.isEmpty)
        // No second reading is begun beside it, however long it takes.
        let began = house.machine.begun
        try house.loop.turn(for: 2 * readMax)
        #expect(house.machine.begun == began)
        house.machine.set(hanging: false)
        try house.until(.serious)
        #expect(house.watch.trouble.isEmpty && house.told == [.nominal, .serious, .nominal, .serious])
    }

    @Test("A reading that takes less than it may is waited for")
    func slow() throws {
        let house = try House()
        house.machine.set(House.zone(40))
        house.machine.set(hanging: true)
        house.ask(true)
        try house.rest()
        #expect(house.told == [] && house.watch.trouble.isEmpty)
        house.machine.set(hanging: false)
        try house.loop.turn(until: { house.told == [.nominal] })
    }

    @Test("Nobody is waited for while a sensor hangs, and its late answer is not told where nobody looks")
    func hangsForNobody() throws {
        let house = try House(nil, House.patience(readMax: 100_000_000))
        house.machine.set(House.zone(90))
        house.machine.set(hanging: true)
        house.ask(true)
        try house.loop.turn(until: { house.machine.begun.count == 1 && !house.watch.trouble.isEmpty })
        try house.end()
        #expect(house.watch.trouble.isEmpty)
        house.machine.set(hanging: false)
        try house.rest()
        #expect(house.told == [.nominal, nil] && house.machine.begun.count == 1)
    }
}
