import Arbiter
package import ArbiterProtocol
import Explain
package import System

package protocol PressureObserverOwner: AnyObject {
    var policy: Policy { get }
    var isAskedToRun: Bool { get }
    /// - Parameter level: of the machine's figures; `nil` where they are not read any more.
    func measured(_ level: SystemPressure?)
    func pressureChanged(_ words: String)
}

/// The machine's own figures as a fact for the core, while a rule of the policy reads pressure, the policy does not forbid it, and
/// somebody asks for a camera. Else nothing is read, and nothing wakes the broker.
///
/// Files of `/proc` and `/sys` are read beside the loop (`SideWork`): a sensor behind a bus, or one that its firmware
/// answers for, takes its time, and may never answer. Then its reading is given up, and the machine counts as one without
/// figures until it answers.
package final class PressureObserver {
    private unowned let owner: any PressureObserverOwner
    private let readings: @Sendable () -> LoadReading
    private let times: Times
    private let side: SideWork
    private var timer: Timer?
    private var gauge = PressureGauge()
    /// `[pressure]` of the policy in force.
    private var settings = PressureSettings.usual
    private var isWanted = false
    private var isLooking = false
    private var measured: SystemPressure?
    /// Why the machine's figures are not known although they are wanted; empty where they are.
    package private(set) var trouble = ""

    package struct Times {
        package var interval = PressureGauge.interval
        /// How long a reading may take before it counts as none. Whole machines are read in a few milliseconds.
        package var readMax: Int64 = 5_000_000_000

        package init() {}
    }

    package init(
        _ owner: any PressureObserverOwner, on loop: EventLoop, times: Times = Times(),
        _ readings: @escaping @Sendable () -> LoadReading
    ) throws(SystemFault) {
        (self.owner, self.readings, self.times) = (owner, readings, times)
        side = try SideWork(on: loop)
        timer = try loop.addTimer { [unowned self] in timerRang() }
    }

    /// The reading by which the machine is pressed; empty while it is not.
    package var why: String { gauge.why }

    package func policyChanged() {
        settings = owner.policy.pressure
        isWanted = settings.isWatched && owner.policy.readsPressure
        if isLooking && !isWanted { end() }
        lookWhereWanted()
    }

    /// Called after every step.
    package func lookWhereWanted() {
        guard isWanted, !isLooking, owner.isAskedToRun else { return }
        isLooking = true
        read()
    }

    private func read() {
        let isBegun = side.begin(readings, done: { [unowned self] reading in take(reading) })
        // Without a thread there is no reading this time.
        timer?.arm(at: EventLoop.now + (isBegun ? times.readMax : times.interval))
    }

    private func timerRang() {
        guard isLooking else { return }
        guard owner.isAskedToRun else { return end() }
        guard side.isBusy else { return read() }
        trouble = "the machine's sensors have not answered for \(times.readMax / 1_000_000_000) s"
        weigh(LoadReading())
        timer?.arm(at: EventLoop.now + times.readMax)
    }

    private func take(_ reading: LoadReading) {
        guard isLooking else { return }
        trouble = reading.isEmpty ? "this machine has neither /proc/pressure nor a thermal zone that can be read" : ""
        weigh(reading)
        timer?.arm(at: EventLoop.now + times.interval)
    }

    private func weigh(_ reading: LoadReading) {
        let changed = gauge.take(reading, settings) != nil
        if measured == nil || changed { report(gauge.level) }
        if changed {
            owner.pressureChanged(
                "the machine's pressure is \(gauge.level.wireName)" + (gauge.why.isEmpty ? "" : ": \(gauge.why)"))
        }
    }

    private func end() {
        isLooking = false
        timer?.arm(at: nil)
        trouble = ""
        _ = gauge.forget()
        report(nil)
    }

    private func report(_ level: SystemPressure?) {
        measured = level
        owner.measured(level)
    }
}
