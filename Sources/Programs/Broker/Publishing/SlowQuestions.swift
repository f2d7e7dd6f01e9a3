package import ArbiterProtocol
package import System

package protocol SlowAsker: AnyObject {
    var uid: UInt32 { get }
    var isGone: Bool { get }
}

/// Questions whose answers take longer than a turn of the loop: plans and explanations. They are worked out beside the
/// loop, on copies of values, one at a time for all clients.
///
/// The others wait, few of each user: refused at once they would never be answered beside a client that asks without
/// end. The last of a full queue waits two seconds at the most, far less than a caller's 25.
package final class SlowQuestions {
    /// Of one user, with the one under way.
    package static let ofUserMax = 2
    /// The same for a trusted user: tools that ask several things at once.
    package static let ofTrustedMax = 8
    /// In all; the last places are for trusted users.
    package static let countMax = 32
    package static let keptForTrusted = 8

    private struct Question {
        var client: any SlowAsker
        /// False: it could not be begun, and has been answered.
        var begin: () -> Bool
    }

    private var waiting: [Question] = []
    private var current: (any SlowAsker)?
    private let side: SideWork
    private let isTrusted: (UInt32) -> Bool

    /// One is under way, even if nobody waits for it any more.
    package var isBusy: Bool { side.isBusy || !waiting.isEmpty }

    package init(on loop: EventLoop, isTrusted: @escaping (UInt32) -> Bool) throws(SystemFault) {
        side = try SideWork(on: loop)
        self.isTrusted = isTrusted
    }

    /// Where none is under way the work begins in here, and `done` is called in here where it cannot.
    package func ask<Answer: Sendable>(
        _ client: any SlowAsker, prepare: @escaping () throws(BrokerError) -> @Sendable () -> Answer,
        done: @escaping (Result<Answer, BrokerError>) -> Void
    ) throws(BrokerError) {
        let trusted = isTrusted(client.uid)
        let ofUser = waiting.count { $0.client.uid == client.uid } + (current?.uid == client.uid ? 1 : 0)
        let most = trusted ? Self.ofTrustedMax : Self.ofUserMax
        guard ofUser < most else {
            throw BrokerError(
                .limitExceeded,
                "\(ofUser) plans or explanations of user \(client.uid) are being worked out, the most at a time; ask again when one is answered."
            )
        }
        guard waiting.count < Self.countMax - (trusted ? 0 : Self.keptForTrusted) else {
            throw BrokerError(
                .limitExceeded, "\(waiting.count) plans or explanations are waiting to be worked out; ask again.")
        }
        waiting.append(
            Question(client: client) { [self] in
                let work: @Sendable () -> Answer
                do throws(BrokerError) { work = try prepare() } catch {
                    done(.failure(error))
                    return false
                }
                let isBegun = side.begin(work) { [self] answer in
                    current = nil
                    done(.success(answer))
                    next()
                }
                if !isBegun { done(.failure(BrokerError(.outOfResources, "There is no thread to work it out."))) }
                return isBegun
            })
        next()
    }

    private func next() {
        while current == nil, !waiting.isEmpty {
            let question = waiting.removeFirst()
            // The client has gone: nobody waits for the answer.
            if question.client.isGone { continue }
            if question.begin() { current = question.client }
        }
    }
}
