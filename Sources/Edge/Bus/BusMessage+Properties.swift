package import ArbiterProtocol
import CSystemd

/// Reading what other services say, whose types camarb's own interfaces do not have.
extension BusMessage {
    /// The `a{sv}` that comes next. Of a structure its first member counts, as in logind's `(so)` for a seat; values of
    /// other types are passed over.
    package func readProperties() throws(BrokerError) -> WireDictionary {
        var found = WireDictionary()
        try enter("a", "{sv}")
        while try enter("e", "sv") {
            let key = try readString()
            if let value = try readVariant() { found[key] = value }
            try leave()
            guard found.entries.count <= Self.keysMax else {
                throw BrokerError(.invalidArguments, "There are more than \(Self.keysMax) properties.")
            }
        }
        try leave()
        return found
    }

    /// The sessions in the answer of logind's `ListSessions`, `a(susso)`.
    package func readLoginSessions() throws(BrokerError) -> [(id: String, path: String)] {
        var found: [(id: String, path: String)] = []
        try enter("a", "(susso)")
        while try enter("r", "susso") {
            let id = try readString()
            _ = try readUInt32()
            _ = try readString()
            _ = try readString()
            found.append((id, try readObjectPath()))
            try leave()
        }
        try leave()
        return found
    }

    package func readObjectPath() throws(BrokerError) -> String {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "o")), &text) > 0, let text else {
            throw unexpected("o")
        }
        return String(cString: text)
    }

    package func readVariant() throws(BrokerError) -> WireValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard sd_bus_message_peek_type(pointer, &type, &contents) > 0, UInt8(bitPattern: type) == UInt8(ascii: "v"),
            let contents
        else { throw BrokerError(.invalidArguments, "A variant was expected next.") }
        let signature = String(cString: contents)
        let inside = signature.hasPrefix("(") ? String(signature.dropFirst().dropLast()) : signature
        guard let first = inside.utf8.first, "bustxo".utf8.contains(first),
            inside != signature || inside.utf8.count == 1
        else {
            guard sd_bus_message_skip(pointer, "v") >= 0 else {
                throw BrokerError(.invalidArguments, "A value could not be passed over.")
            }
            return nil
        }
        try enter("v", signature)
        if inside != signature { try enter("r", inside) }
        let value: WireValue =
            switch first {
            case UInt8(ascii: "b"): .boolean(try readBool())
            case UInt8(ascii: "u"): .uint32(try readUInt32())
            case UInt8(ascii: "t"): .uint64(try readUInt64())
            case UInt8(ascii: "x"): .int64(try readInt64())
            case UInt8(ascii: "o"): .objectPath(try readObjectPath())
            default: .string(try readString())
            }
        if inside != signature {
            let rest = String(inside.dropFirst())
            if !rest.isEmpty, sd_bus_message_skip(pointer, rest) < 0 {
                throw BrokerError(.invalidArguments, "A structure could not be passed over.")
            }
            try leave()
        }
        try leave()
        return value
    }
}
