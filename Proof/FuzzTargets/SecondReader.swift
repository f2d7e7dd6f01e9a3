import Bus
import CSystemd
import Glibc
import Synchronization
import System

/// libsystemd's reading of a message, beside ours: what ours takes, libsystemd takes as the same.
///
/// One connection to itself for all messages, since libsystemd drops a message that is malformed and reads on.
package final class SecondReader {
    /// Of a message what both readers tell of it, and its body: letters and values, each as text.
    struct Reading: Equatable {
        var header: [String]
        /// `nil`: malformed.
        var body: String?
    }

    private let bus: OpaquePointer
    private let socket: Int32
    private var arrived: Reading?

    init() throws(SystemFault) {
        let (ours, its) = try UnixPair.make()
        var created: OpaquePointer?
        try check(sd_bus_new(&created), "create a connection")
        guard let created else { throw SystemFault("create a connection", ENOMEM) }
        (bus, socket) = (created, its)
        _ = sd_bus_set_fd(bus, ours, ours)
        _ = sd_bus_set_server(bus, 1, sd_id128_t(qwords: (1, 2)))
        _ = sd_bus_set_anonymous(bus, 1)
        _ = sd_bus_add_filter(
            bus, nil,
            { message, data, _ in
                guard let message, let data else { return 1 }
                let reader = Unmanaged<SecondReader>.fromOpaque(data).takeUnretainedValue()
                reader.arrived = Reading(libsystemd: message)
                return 1
            }, Unmanaged.passUnretained(self).toOpaque())
        try check(sd_bus_start(bus), "start a connection")
        let hello = Array("\0AUTH ANONYMOUS 30\r\nBEGIN\r\n".utf8)
        _ = Glibc.send(socket, hello, hello.count, 0)
        while sd_bus_is_ready(bus) <= 0 { try check(sd_bus_process(bus, nil), "start a connection") }
    }

    deinit {
        close(socket)
        sd_bus_close(bus)
        _ = sd_bus_unref(bus)
    }

    /// - Parameter message: as long as its header says, and as any may be.
    /// - Returns: `nil`: it is malformed.
    func read(_ message: [UInt8]) -> Reading? {
        arrived = nil
        precondition(Glibc.send(socket, message, message.count, Int32(MSG_DONTWAIT)) == message.count, "No room.")
        while sd_bus_process(bus, nil) > 0 {}
        return arrived
    }

    /// Tests run in parallel.
    private static let shared = Mutex(try? SecondReader())

    /// Opens its socket, which stays.
    static func begin() { shared.withLock { _ in } }

    /// Compares both readings of bytes; those that are not one message are none of either's.
    package static func compare(_ bytes: [UInt8]) {
        guard bytes.count >= MessageFramer.messageBytesMin, bytes.count <= MessageFramer.messageBytesMax else { return }
        var framer = MessageFramer()
        guard (try? bytes.withUnsafeBytes({ try framer.take($0) })) == bytes.count, framer.isBetween else { return }
        // A message that announces descriptors has none here, and both readers would refuse it.
        guard let own = try? MessageHead(bytes), own.descriptors == 0 else { return }
        let (first, second) = (Reading(own), shared.withLock { $0?.read(bytes) })
        guard let second else { preconditionFailure("libsystemd refuses a message that is taken: \(bytes)") }
        precondition(first.header == second.header, "A header is read as \(first.header), not \(second.header).")
        precondition(
            first.body == nil || first.body == second.body,
            "A body is read as \(first.body ?? ""), not \(second.body ?? "malformed"): \(bytes)")
    }
}

extension SecondReader.Reading {
    init(_ message: MessageHead) {
        let texts = [message.path, message.interface, message.member, message.destination, message.sender]
        header = (texts + [message.signature]).map { String(decoding: message.bytes[$0], as: UTF8.self) }
        header += ["\(message.kind.rawValue) \(message.serial) \(message.replySerial) \(message.expectsAnswer)"]
        var (reader, text) = (message.reader, "")
        body = (try? Self.describe(&reader, &text)).map { text }
    }

    private static func describe(
        _ reader: inout MessageReader, _ text: inout String
    ) throws(MessageReader.Malformed) {
        while let byte = reader.letter {
            let letter = Unicode.Scalar(byte)
            switch letter {
            case "s", "o", "g":
                text += "\(letter)\(try reader.readText(letter).utf8.map { String($0) }.joined(separator: ",")) "
            case "b": text += "b\(try reader.readBool() ? 1 : 0) "
            case "y": text += "y\(try reader.read(letter) as UInt8) "
            case "n", "q": text += "\(letter)\(try reader.read(letter) as UInt16) "
            case "i", "u": text += "\(letter)\(try reader.read(letter) as UInt32) "
            case "x", "t", "d": text += "\(letter)\(try reader.read(letter) as UInt64) "
            case "h": text += "h\(try reader.readDescriptor()) "
            default:
                let around = try reader.enter(letter)
                text += "\(letter)\(String(decoding: reader.bytes[around.inside], as: UTF8.self))[ "
                // An array's elements one after the other, else all members at once.
                while try reader.hasMore(in: around) {
                    try describe(&reader, &text)
                }
                try reader.leave(around)
                text += "] "
            }
        }
    }

    init(libsystemd message: OpaquePointer) {
        header = [
            sd_bus_message_get_path(message), sd_bus_message_get_interface(message), sd_bus_message_get_member(message),
            sd_bus_message_get_destination(message), sd_bus_message_get_sender(message),
            sd_bus_message_get_signature(message, 1),
        ].map { $0.map { String(cString: $0) } ?? "" }
        var type: UInt8 = 0
        _ = sd_bus_message_get_type(message, &type)
        var (cookie, reply): (UInt64, UInt64) = (0, 0)
        _ = sd_bus_message_get_cookie(message, &cookie)
        _ = sd_bus_message_get_reply_cookie(message, &reply)
        header += ["\(type) \(cookie) \(reply) \(sd_bus_message_get_expect_reply(message) > 0)"]
        _ = sd_bus_message_rewind(message, 1)
        var text = ""
        body = Self.describe(message, &text) ? text : nil
    }

    private static func describe(_ message: OpaquePointer, _ text: inout String) -> Bool {
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let found = sd_bus_message_peek_type(message, &type, &contents)
            if found <= 0 { return found == 0 }
            let letter = Unicode.Scalar(UInt8(bitPattern: type))
            switch letter {
            case "s", "o", "g":
                var value: UnsafePointer<CChar>?
                guard sd_bus_message_read_basic(message, type, &value) > 0, let value else { return false }
                text += "\(letter)\(String(cString: value).utf8.map { String($0) }.joined(separator: ",")) "
            case "y", "b", "n", "q", "i", "u", "x", "t", "d", "h":
                var value: UInt64 = 0
                guard sd_bus_message_read_basic(message, type, &value) > 0 else { return false }
                text += "\(letter)\(value) "
            default:
                let inside = contents.map { String(cString: $0) } ?? ""
                text += "\(letter == "r" ? "(" : letter == "e" ? "{" : letter)\(inside)[ "
                guard sd_bus_message_enter_container(message, type, inside) > 0, describe(message, &text),
                    sd_bus_message_exit_container(message) >= 0
                else { return false }
                text += "] "
            }
        }
    }
}
