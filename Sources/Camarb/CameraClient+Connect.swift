public import ArbiterProtocol

extension CameraClient {
    /// Connects to a broker.
    /// - Parameters:
    ///   - address: `unix:path=…` or a path; nil: what `$CAMARB_SOCKET` says, else the user's own broker, else the machine's.
    ///   - reconnects: whether the client finds the broker again when it is restarted, and its sessions, their pictures and
    ///     their recordings go on; otherwise every sequence of events ends with the connection.
    /// - Throws: `.disconnected` and why, `.invalidValue` for an address that is none.
    public static func connect(
        address: String? = nil, reconnects: Bool = true
    ) throws(BrokerError) -> CameraClient {
        guard reconnects else { return CameraClient(over: try BusTransport.connect(address: address)) }
        return CameraClient(
            over: try ReconnectingTransport { () throws(BrokerError) in try BusTransport.connect(address: address) })
    }
}
