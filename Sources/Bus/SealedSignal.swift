package import ArbiterProtocol

/// A signal that is written once, for any number of peers.
package final class SealedSignal {
    let bytes: [UInt8]
    let path: String
    let interface: String
    let member: String
    private let arguments: [WireValue]
    /// For peers that libsystemd sends to; made for the first of them.
    private var message: BusMessage?

    /// - Parameter arguments: without descriptors.
    package init(
        on connection: BusConnection, path: String, interface: String, member: String, _ arguments: [WireValue]
    ) {
        (self.path, self.interface, self.member, self.arguments) = (path, interface, member, arguments)
        var writer = MessageWriter()
        writer.message(
            .signal(path: path, interface: interface, member: member), serial: connection.traffic.nextSerial(),
            signature: arguments.map(\.signature).joined()
        ) { writer in for argument in arguments { writer.append(argument) } }
        bytes = writer.bytes
    }

    func send(on connection: BusConnection) {
        if message == nil {
            message = BusMessage.sealedSignal(
                on: connection, path: path, interface: interface, member: member, arguments)
        }
        if let message { connection.send(message) }
    }
}
