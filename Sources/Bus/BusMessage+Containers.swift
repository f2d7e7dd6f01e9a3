public import ArbiterProtocol
import CSystemd

/// Reading, step by step, what other services' interfaces have and camarb's own have not.
extension BusMessage {
    /// Reads the container that comes next, as long as there is anything in it: an array's elements one after the other.
    /// - Parameters:
    ///   - kind: `a` for an array, `r` for a structure, `e` for an entry of a dictionary.
    ///   - contents: the signature of what is inside.
    ///   - most: of an array, so many elements at the most.
    ///   - read: reads one element, all of it.
    /// - Throws: `InvalidArgs` where something else comes, or more.
    public func readEach(
        _ kind: Unicode.Scalar, _ contents: String, most: Int, _ read: () throws(BrokerError) -> Void
    ) throws(BrokerError) {
        guard sd_bus_message_enter_container(pointer, CChar(truncatingIfNeeded: kind.value), contents) > 0 else {
            throw BrokerError(
                .invalidArguments, "The arguments are \"\(signature)\", and \"\(contents)\" was expected next.")
        }
        var count = 0
        while sd_bus_message_at_end(pointer, 0) == 0 {
            count += 1
            guard count <= most else {
                throw BrokerError(.invalidArguments, "A list of the message has more than \(most) elements.")
            }
            try read()
        }
        guard sd_bus_message_exit_container(pointer) >= 0 else {
            throw BrokerError(.invalidArguments, "The message's body is not what its signature says.")
        }
    }

    /// The `as` that comes next.
    public func readStrings(most: Int) throws(BrokerError) -> [String] {
        var strings: [String] = []
        try readEach("a", "s", most: most) { () throws(BrokerError) in strings.append(try readString()) }
        return strings
    }

    /// The `ai` that comes next.
    public func readInt32s(most: Int) throws(BrokerError) -> [Int32] {
        var numbers: [Int32] = []
        try readEach("a", "i", most: most) { () throws(BrokerError) in numbers.append(try readInt32()) }
        return numbers
    }

    /// Passes over values of these types.
    public func skip(_ types: String) throws(BrokerError) {
        guard sd_bus_message_skip(pointer, types) >= 0 else {
            throw BrokerError(
                .invalidArguments, "The arguments are \"\(signature)\", and \"\(types)\" was expected next.")
        }
    }
}

extension BusMessage {
    /// Reads from the first argument on again.
    public func rewind() { _ = sd_bus_message_rewind(pointer, 1) }
}
