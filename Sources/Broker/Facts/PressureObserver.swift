import Arbiter
import ArbiterProtocol
import Loop
import Machine
import MachineLoad

/// The machine's own figures as a fact for the core, while they matter: while a rule of the policy reads pressure, the
/// policy does not forbid it, and somebody asks for a camera. Else nothing is read, and nothing wakes the broker.
///
/// Files of `/proc` and `/sys` are read beside the loop (`SideWork`): a sensor behind a bus, or one that its firmware
/// answers for, takes its time, and may never answer. Then its reading is given up, and the machine counts as one that
/// says nothing, until it comes back.
///
/// Threading: on the loop's thread.
final class PressureObserver {
    private unowned let desktops: Desktops
    private var broker: Broker { desktops.broker }
    private let files: LoadFiles
    private let side: SideWork
    private var timer: Timer?
    private var gauge = PressureGauge()
    /// As `[pressure]` of the policy in force has it.
    private var settings = PressureSettings.usual
    /// The policy wants it looked at.
    private var isWanted = false
    /// Between the first reading and the last.
    private var isLooking = false
    /// As it was last told; nil while nobody looks.
    private var measured: SystemPressure?
    /// Why the machine's figures are not known although they are wanted; empty when they are.
    private(set) var trouble = ""

    /// How long a reading may take before it counts as none, in nanoseconds. Whole machines are read in a few milliseconds.
    static let readTimeMax: Int64 = 5_000_000_000

    init(_ desktops: Desktops, root: String) throws(SystemFault) {
        self.desktops = desktops
        files = LoadFiles(root: root)
        side = try SideWork(on: desktops.broker.loop)
        timer = try desktops.broker.loop.addTimer { [unowned self] in timerRang() }
    }

    /// The reading that says that the machine is pressed; empty while it is not.
    var why: String { gauge.why }

    // MARK: What may begin or end it

    /// Another policy is in force.
    func policyChanged() {
        settings = broker.arbiter.policy.pressure
        isWanted = settings.isWatched && broker.arbiter.policy.readsPressure
        if isLooking && !isWanted { end() }
        lookWhereWanted()
    }

    /// Called after every step: begins where somebody asks for a camera now.
    func lookWhereWanted() {
        guard isWanted, !isLooking, broker.arbiter.isAskedToRun else { return }
        isLooking = true
        read()
    }

    // MARK: Readings

    private func read() {
        let files = files
        let isBegun = side.begin({ files.read() }, done: { [unowned self] reading in take(reading) })
        // Without a thread there is no reading this time.
        timer?.arm(at: EventLoop.now + (isBegun ? Self.readTimeMax : PressureGauge.interval))
    }

    private func timerRang() {
        guard isLooking else { return }
        guard side.isBusy else { return broker.arbiter.isAskedToRun ? read() : end() }
        trouble = "the machine's sensors have not answered for \(Self.readTimeMax / 1_000_000_000) s"
        weigh(LoadReading())
        timer?.arm(at: EventLoop.now + Self.readTimeMax)
    }

    private func take(_ reading: LoadReading) {
        guard isLooking else { return }
        trouble = reading.isEmpty ? "this machine has neither /proc/pressure nor a thermal zone that can be read" : ""
        weigh(reading)
        timer?.arm(at: EventLoop.now + PressureGauge.interval)
    }

    private func weigh(_ reading: LoadReading) {
        let changed = gauge.take(reading, settings) != nil
        if measured == nil || changed { tell(gauge.level) }
        if changed {
            broker.journal.send(
                .notice,
                "the machine's pressure is \(gauge.level.wireName)" + (gauge.why.isEmpty ? "" : ": \(gauge.why)"))
        }
    }

    /// Nobody looks any more.
    private func end() {
        isLooking = false
        timer?.arm(at: nil)
        trouble = ""
        _ = gauge.forget()
        tell(nil)
    }

    private func tell(_ level: SystemPressure?) {
        measured = level
        desktops.say { $0.say(pressure: level, by: .gauge) }
    }
}
