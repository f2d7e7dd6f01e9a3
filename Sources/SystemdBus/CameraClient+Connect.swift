public import ArbiterProtocol

extension CameraClient {
    /// Connects to a broker.
    /// - Parameter address: `unix:path=…` or a path; nil looks where `SocketAddress.candidates` says.
    /// - Throws: `.disconnected` and why, `.invalidValue` for an address that is none.
    public static func connect(address: String? = nil) throws(BrokerError) -> CameraClient {
        CameraClient(over: try BusTransport.connect(address: address))
    }
}
