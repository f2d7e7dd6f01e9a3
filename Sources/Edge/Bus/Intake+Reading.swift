extension Intake {
    package enum Reading {
        case nothing
        /// Bytes were taken, and no message is whole by them. While the peer authenticates they may have an answer.
        case part(answer: [UInt8])
        /// From now on messages come.
        case begun(AuthenticationGate, answer: [UInt8])
        /// `isAll`: it was all that had arrived.
        case message([UInt8], isAll: Bool)
        case atKeeper
        /// A message has come that brought more descriptors than one may, and nothing is left of it.
        case refused(Refused)
        case over(BusConnection.End)
    }

    package enum Peer {
        /// - user: its own, by the kernel.
        /// - keepers: `nil` where no peer passes descriptors; one that does is disconnected.
        case stranger(user: UInt32, keepers: DescriptorKeepers?, HeldBytes)
        case trusted
    }

    /// A message whose header names descriptors that are not here.
    package struct Refused {
        let descriptors: Int
        /// As much of it as has come, to its end.
        var header: [UInt8] = []

        /// The serial that an answer names; `nil` where none is wanted.
        var serial: UInt32? {
            // A call (1), without the flag by which it wants no answer (1).
            guard header.count == MessageFramer.headerBytes, header[1] == 1, header[2] & 1 == 0 else { return nil }
            let raw = header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self) }
            return header[0] == UInt8(ascii: "l") ? UInt32(littleEndian: raw) : UInt32(bigEndian: raw)
        }
    }
}
