package import ArbiterProtocol

package enum OpeningBound {
    /// A program that opens one for each of two cameras needs two.
    package static let ofSenderMax = 2
    /// Twice what a system bus lets one user have of connections (`max_connections_per_user`, 256), each with all of its calls.
    package static let waitingMax = 1024
    /// Questions to the bus under way: a bus lets each of its peers have 128.
    package static let askedMax = 32
}

/// Calls of `OpenConnection` that wait for the bus's word about their senders, in their order. The user of a sender is not known before
/// that word, so that what is bounded is each sender's part. A value, without a bus.
package struct Openings<Call> {
    private var waiting: [(call: Call, sender: String)] = []
    private var ofSender: [String: Int] = [:]
    private var asked = 0

    package init() {}
    package var isEmpty: Bool { ofSender.isEmpty }

    package mutating func add(_ call: Call, of sender: String) throws(BrokerError) {
        guard ofSender[sender, default: 0] < OpeningBound.ofSenderMax else {
            throw BrokerError(
                .limitExceeded,
                "\(sender) has \(OpeningBound.ofSenderMax) calls of OpenConnection that wait, the most it may; wait for an answer."
            )
        }
        guard waiting.count < OpeningBound.waitingMax else {
            throw BrokerError(
                .limitExceeded,
                "\(OpeningBound.waitingMax) calls of OpenConnection wait, the most that may; call again in a moment.")
        }
        ofSender[sender, default: 0] += 1
        waiting.append((call, sender))
    }

    /// The call that is next, as long as the bus may be asked more.
    package mutating func next() -> Call? {
        guard asked < OpeningBound.askedMax, !waiting.isEmpty else { return nil }
        asked += 1
        return waiting.removeFirst().call
    }

    /// The call that `next` gave has been answered.
    package mutating func done(_ sender: String) {
        asked -= 1
        let left = ofSender[sender, default: 1] - 1
        ofSender[sender] = left > 0 ? left : nil
    }
}
