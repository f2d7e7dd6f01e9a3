import CSystemd

extension EventLoop {
    /// Feeds the service manager's watchdog, if there is one, by the loop's own turns and nothing else: a loop that
    /// hangs is noticed, and the service is started again.
    public func startWatchdog() { _ = sd_event_set_watchdog(event, 1) }
}
