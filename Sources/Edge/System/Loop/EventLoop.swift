import CLinux
import CSystemd
import Glibc

/// Another library's state, one for each loop, such as the turns of its connections; it ends with the loop.
package protocol LoopPart: AnyObject {
    /// - Parameter loop: outlives it, so that `unowned` will do.
    init(on loop: EventLoop) throws(SystemFault)
}

/// One thread's event loop, over `sd_event`.
///
/// Descriptors, timers, signals and deferred work call their handlers one after the other on the thread
/// that calls `run`. Nothing here is safe to use from another thread, except a `Wakeup`.
public final class EventLoop {
    /// The `sd_event`, for other libraries of systemd's that attach to one.
    package let event: OpaquePointer
    /// The simulated time of the loop; `nil`: the machine's.
    let virtualTime: VirtualTime?
    private var deferred: [() -> Void] = []
    private var deferSource: OpaquePointer?
    private var signalSources: [LoopSource] = []
    private var parts: [any LoopPart] = []

    /// - Parameter virtualTime: of a simulation.
    public init(in virtualTime: VirtualTime? = nil) throws(SystemFault) {
        self.virtualTime = virtualTime
        var created: OpaquePointer?
        try check(sd_event_new(&created), "create an event loop")
        guard let created else { throw SystemFault("create an event loop", ENOMEM) }
        event = created
    }

    deinit {
        // The parts have sources of this loop.
        parts = []
        _ = sd_event_source_disable_unref(deferSource)
        _ = sd_event_unref(event)
    }

    /// Nanoseconds of CLOCK_MONOTONIC, read anew, or of a simulation's time.
    public static var now: Int64 { VirtualTime.now ?? camarb_monotonic_ns() }

    /// Runs until `exit`. Returns its code.
    public func run() throws(SystemFault) -> Int32 { try check(sd_event_loop(event), "run the event loop") }

    /// Ends `run` after the handlers that are due in this turn.
    public func exit(_ code: Int32 = 0) { _ = sd_event_exit(event, code) }

    /// One turn: waits at most `timeout` nanoseconds (negative: for ever) and runs what is due.
    /// False when nothing was due, or after `exit`. For tests, and for programs with a loop of their own.
    @discardableResult
    public func turn(timeout: Int64 = -1) throws(SystemFault) -> Bool {
        let microseconds = timeout < 0 ? UInt64.max : UInt64(timeout) / 1000
        if sd_event_get_state(event) == SD_EVENT_FINISHED { return false }
        return try check(sd_event_run(event, microseconds), "run the event loop") > 0
    }

    /// Watches a descriptor, level-triggered, until the source is cancelled or released. The descriptor
    /// stays the caller's, which cancels the source *before* closing it.
    public func addIO(
        _ descriptor: Int32, _ events: IOEvents, _ handler: @escaping (IOEvents) -> Void
    ) throws(SystemFault) -> IOSource {
        try IOSource(self, descriptor, events, handler)
    }

    /// A timer that is not armed yet.
    public func addTimer(_ handler: @escaping () -> Void) throws(SystemFault) -> Timer { try Timer(self, handler) }

    /// Calls the handler when the signal arrives. Blocks it for this thread, so call it before others start.
    public func addSignal(_ number: Int32, _ handler: @escaping () -> Void) throws(SystemFault) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let source = LoopSource(handler)
        var created: OpaquePointer?
        try check(
            sd_event_add_signal(event, &created, number, loopSignalled, source.unmanaged), "watch for signal \(number)")
        source.pointer = created
        signalSources.append(source)
    }

    /// Runs the work after the present handler, before the loop waits again. In order of the calls.
    public func `defer`(_ work: @escaping () -> Void) {
        deferred.append(work)
        if deferSource == nil {
            // Lives as long as the loop, whose `deinit` removes it.
            let this = Unmanaged.passUnretained(self).toOpaque()
            _ = sd_event_add_defer(event, &deferSource, loopDeferred, this)
        }
        _ = sd_event_source_set_enabled(deferSource, Int32(SD_EVENT_ONESHOT))
    }

    fileprivate func runDeferred() {
        let work = deferred
        deferred = []
        for item in work { item() }
    }

    /// A way for other threads to call `handler` on the loop.
    public func addWakeup(_ handler: @escaping () -> Void) throws(SystemFault) -> Wakeup { try Wakeup(self, handler) }

    /// The one `Part` of this loop, made on its first use.
    package func part<Part: LoopPart>(_: Part.Type) throws(SystemFault) -> Part {
        // A handful of kinds at the most, and frequent users keep theirs.
        for case let part as Part in parts { return part }
        let part = try Part(on: self)
        parts.append(part)
        return part
    }
}

private func loopSignalled(
    _ source: OpaquePointer?, _ info: UnsafePointer<signalfd_siginfo>?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    LoopSource.from(data).handler()
    return 0
}

private func loopDeferred(_ source: OpaquePointer?, _ data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data else { return 0 }
    Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue().runDeferred()
    return 0
}
