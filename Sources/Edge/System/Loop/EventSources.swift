import CLinux
import CSystemd
import Glibc
import Synchronization

/// The events of a watched descriptor.
public struct IOEvents: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let readable = IOEvents(rawValue: 0x1)
    public static let writable = IOEvents(rawValue: 0x4)
    /// Always reported.
    public static let error = IOEvents(rawValue: 0x8)
}

/// The target of an `sd_event_source`'s pointer, which is not retained: the owner of the source object removes it from
/// the loop before it goes.
final class LoopSource {
    let handler: () -> Void
    var pointer: OpaquePointer?
    init(_ handler: @escaping () -> Void) { self.handler = handler }
    deinit { _ = sd_event_source_disable_unref(pointer) }
    var unmanaged: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
    static func from(_ data: UnsafeMutableRawPointer?) -> LoopSource {
        guard let data else { preconditionFailure("An event source always points back to its object.") }
        return Unmanaged<LoopSource>.fromOpaque(data).takeUnretainedValue()
    }
}

/// A watched descriptor. Releasing the last reference cancels it.
public final class IOSource {
    fileprivate let handler: (IOEvents) -> Void
    private var pointer: OpaquePointer?
    private var watched: IOEvents

    fileprivate init(
        creating loop: EventLoop, _ descriptor: Int32, _ events: IOEvents, _ handler: @escaping (IOEvents) -> Void
    ) {
        self.handler = handler
        watched = events
    }

    convenience init(
        _ loop: EventLoop, _ descriptor: Int32, _ events: IOEvents, _ handler: @escaping (IOEvents) -> Void
    ) throws(SystemFault) {
        self.init(creating: loop, descriptor, events, handler)
        let this = Unmanaged.passUnretained(self).toOpaque()
        try check(
            sd_event_add_io(loop.event, &pointer, descriptor, events.rawValue, ioReady, this),
            "watch descriptor \(descriptor)")
    }

    deinit { cancel() }

    /// The watched events. Setting the same value costs nothing.
    public var events: IOEvents {
        get { watched }
        set {
            if newValue == watched { return }
            watched = newValue
            _ = sd_event_source_set_io_events(pointer, newValue.rawValue)
        }
    }

    /// While false, no event of the descriptor is watched, its end neither. Setting the same value costs nothing.
    public var isEnabled = true {
        didSet {
            if isEnabled == oldValue { return }
            _ = sd_event_source_set_enabled(pointer, Int32(isEnabled ? SD_EVENT_ON : SD_EVENT_OFF))
        }
    }

    /// No handler call after this. Idempotent; fine inside the handler.
    public func cancel() {
        guard let source = pointer else { return }
        pointer = nil
        _ = sd_event_source_disable_unref(source)
    }
}

private func ioReady(
    _ source: OpaquePointer?, _ descriptor: Int32, _ events: UInt32, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let data else { return 0 }
    // Retained for the call: the handler may release the source.
    let this = Unmanaged<IOSource>.fromOpaque(data).retain()
    defer { this.release() }
    this.takeUnretainedValue().handler(IOEvents(rawValue: events))
    return 0
}

/// A one-shot timer on CLOCK_MONOTONIC that can be armed again and again.
public final class Timer {
    fileprivate let handler: () -> Void
    private var pointer: OpaquePointer?
    private var virtualTime: VirtualTime?
    /// The time when it fires, in nanoseconds of CLOCK_MONOTONIC; `nil` while it is not armed.
    public private(set) var deadline: Int64?

    fileprivate init(handler: @escaping () -> Void) { self.handler = handler }

    convenience init(_ loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemFault) {
        self.init(handler: handler)
        virtualTime = loop.virtualTime
        if virtualTime != nil { return }
        let this = Unmanaged.passUnretained(self).toOpaque()
        // Accuracy of 1 µs: with the default of 250 ms a cut's deadline would be none.
        try check(
            sd_event_add_time(loop.event, &pointer, CLOCK_MONOTONIC, UInt64.max, 1, timerFired, this), "create a timer")
        _ = sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF))
    }

    deinit {
        virtualTime?.set(nil, for: self)
        _ = sd_event_source_disable_unref(pointer)
    }

    /// Fires once at the deadline (nanoseconds of CLOCK_MONOTONIC), or in the next turn when it has passed; `nil`
    /// disarms. Never fires early: the time is rounded up to the next microsecond.
    public func arm(at newDeadline: Int64?) {
        if newDeadline == deadline { return }
        deadline = newDeadline
        if let virtualTime { return virtualTime.set(newDeadline, for: self) }
        guard let newDeadline else {
            _ = sd_event_source_set_enabled(pointer, Int32(SD_EVENT_OFF))
            return
        }
        let microseconds = UInt64(max(0, newDeadline)) / 1000 + 1
        _ = sd_event_source_set_time(pointer, microseconds)
        _ = sd_event_source_set_enabled(pointer, Int32(SD_EVENT_ONESHOT))
    }

    func fire() {
        deadline = nil
        handler()
    }
}

private func timerFired(_ source: OpaquePointer?, _ time: UInt64, _ data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data else { return 0 }
    let this = Unmanaged<Timer>.fromOpaque(data).retain()
    defer { this.release() }
    this.takeUnretainedValue().fire()
    return 0
}

/// Lets other threads run a handler on a loop. Several signals may become one call.
public final class Wakeup: Sendable {
    private let descriptor: Int32
    /// Touched on the loop's thread only.
    private nonisolated(unsafe) var source: IOSource?

    init(_ loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemFault) {
        let created = camarb_eventfd()
        descriptor = created
        try check(created, "create an eventfd")
        source = try loop.addIO(created, .readable) { _ in
            var count: UInt64 = 0
            _ = read(created, &count, 8)
            handler()
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// From any thread.
    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// On the loop's thread: no handler call after this.
    public func cancel() { source?.cancel() }
}

/// Messages of other threads and tasks to the loop, in order.
package final class LoopQueue<News: Sendable>: Sendable {
    private let items = Mutex<[News]>([])
    private let wakeup = Mutex<Wakeup?>(nil)

    package init() {}
    package func setWakeup(_ new: Wakeup) { wakeup.withLock { $0 = new } }

    package func post(_ news: News) {
        items.withLock { $0.append(news) }
        wakeup.withLock { $0?.signal() }
    }

    package func take() -> [News] {
        items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}
