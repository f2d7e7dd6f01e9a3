import Arbiter
import ArbiterProtocol
import Broker
import BusTesting
import Explain
import Foundation
import System
import Testing

/// A machine with figures that a test sets, and that can be made to answer no reading.
private final class Machine: Sendable {
    private nonisolated(unsafe) var reading = LoadReading()
    private nonisolated(unsafe) var all: [Int64] = []
    private nonisolated(unsafe) var hangs = false
    /// Guards all three; a reading waits here while the sensors hang.
    private let gate = NSCondition()

    func set(_ reading: LoadReading) { gate.withLock { self.reading = reading } }

    func set(hanging: Bool) {
        gate.withLock { hangs = hanging }
        gate.broadcast()
    }

    var begun: [Int64] { gate.withLock { all } }

    func read() -> LoadReading {
        gate.withLock {
            all.append(EventLoop.now)
            while hangs { gate.wait() }
            return reading
        }
    }
}

/// A broker around the observer, and its reports.
private final class House: PressureObserverOwner {
    let loop: EventLoop
    let machine = Machine()
    var policy: Policy = House.hot
    var isAskedToRun = false
    private(set) var watch: PressureObserver!
    /// Levels, oldest first; `nil` where the figures are not read any more.
    private(set) var told: [SystemPressure?] = []

    static let hot: Policy = {
        var policy = Policy(name: "hot")
        policy.causeRules = [
            CauseRule(
                name: "It is warm", when: [.pressure(atLeast: .serious)],
                cause: .videoDeviceNotAvailableDueToSystemPressure)
        ]
        return policy
    }()
    /// Readings follow each other closely, so that a test is short, and a starved machine has all the time for them.
    static let interval: Int64 = 10_000_000

    /// - Parameter reading: the machine's figures, which an app asks for; `nil` for none, which none asks for.
    init(_ reading: LoadReading? = nil, readMax: Int64 = 3_600_000_000_000) throws {
        var times = PressureObserver.Times()
        (times.interval, times.readMax) = (Self.interval, readMax)
        loop = try EventLoop()
        watch = try PressureObserver(self, on: loop, times: times) { [machine] in machine.read() }
        watch.policyChanged()
        guard let reading else { return }
        machine.set(reading)
        ask(true)
    }

    deinit { machine.set(hanging: false) }

    func measured(_ level: SystemPressure?) { told.append(level) }
    func pressureChanged(_ words: String) {}

    /// Like a step of the core.
    func ask(_ asks: Bool) {
        isAskedToRun = asks
        watch.lookWhereWanted()
    }

    /// Until this was the last report.
    func until(_ level: SystemPressure) throws { try loop.turn(until: { told.last == level }, "\(level)") }

    /// Until so many further readings have been taken; the last of them has come back by then, too.
    func readings(_ count: Int) throws {
        let before = machine.begun.count
        try loop.turn(until: { machine.begun.count > before + count }, "\(count) readings")
    }

    func end() throws {
        ask(false)
        try loop.turn(until: { told.last == .some(nil) }, "the end of the readings")
    }

    /// Longer than several readings take.
    func rest() throws { try loop.turn(for: 10 * Self.interval) }

    static func zone(_ temperature: Double) -> LoadReading {
        LoadReading(zones: [ThermalZone(name: "cpu", temperature: temperature, passive: 80, critical: 100)])
    }
}

@Suite("The machine's own figures, while they matter", .timeLimit(.minutes(10)))
struct PressureObserverTests {
    @Test("Nothing is read before somebody asks for a camera, nor after; a slow reading is waited for")
    func whileAsked() throws {
        let house = try House()
        try house.rest()
        #expect(house.machine.begun == [] && house.told == [])
        house.machine.set(House.zone(40))
        house.machine.set(hanging: true)
        for _ in 1...2 { house.ask(true) }
        try house.rest()
        #expect(house.told == [] && house.watch.trouble.isEmpty, "the first reading has not come back")
        house.machine.set(hanging: false)
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
            // One may have been under way, and does not count.
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
        for (earlier, later) in zip(begun, begun.dropFirst()) { #expect(later - earlier >= House.interval) }
        #expect(PressureObserver.Times().interval == 2_000_000_000 && PressureObserver.Times().readMax == 5_000_000_000)
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

    @Test("A sensor that hangs is given up: the machine counts as one that says nothing until it answers")
    func hangs() throws {
        // Longer than a thread of a busy machine waits for a processor, so that a starved reading does not count as one that hangs.
        let readMax: Int64 = 2_000_000_000
        let house = try House(House.zone(90), readMax: readMax)
        try house.until(.serious)
        // The reading that hangs begins in a later turn, and its time with it; its thread may begin after both.
        let before = EventLoop.now
        house.machine.set(hanging: true)
        try house.loop.turn(until: { house.told.last == .nominal && house.told.count > 1 })
        #expect(EventLoop.now - before >= readMax)
        #expect(house.watch.trouble.contains("have not answered") && house.watch.why.isEmpty)
        // No second reading begins beside it, however long it takes.
        let began = house.machine.begun
        try house.loop.turn(for: 2 * readMax)
        #expect(house.machine.begun == began)
        house.machine.set(hanging: false)
        try house.until(.serious)
        #expect(house.watch.trouble.isEmpty && house.told == [.nominal, .serious, .nominal, .serious])
    }

    @Test("Nobody is waited for while a sensor hangs, and its late answer is not told where nobody looks")
    func hangsForNobody() throws {
        let house = try House(readMax: 100_000_000)
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
