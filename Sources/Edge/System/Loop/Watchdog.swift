import CSystemd

extension EventLoop {
    /// Tells the service manager's watchdog, if there is one, that this loop is alive. Nothing but the loop's own turns does
    /// so: a loop that hangs is noticed, and the service is started again.
    public func startWatchdog() { _ = sd_event_set_watchdog(event, 1) }
}
