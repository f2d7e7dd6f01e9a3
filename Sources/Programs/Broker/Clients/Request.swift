import ArbiterProtocol
import Bus

final class Request {
    let message: BusMessage
    let client: BrokerClient
    var files: [ClientFile] = []
    var isBracket = false
    var options = WireDictionary()
    /// A microphone's socket, until an effect takes it.
    var microphone: ClientMicrophone?
    var metadata: (group: MetadataGroup, session: SessionID)?
    private(set) var isAnswered = false

    init(_ message: BusMessage, _ client: BrokerClient) {
        self.message = message
        self.client = client
    }

    func answer(_ values: [WireValue] = []) {
        isAnswered = true
        message.answer(values)
    }

    /// Answers with what `body` appends, all of it of this signature.
    func answer(_ signature: String, _ body: (inout MessageWriter) -> Void) {
        isAnswered = true
        message.answer(signature, body)
    }

    func answer(_ error: BrokerError) {
        isAnswered = true
        message.answer(error)
    }

    /// The id that a step gave; of a bracket those of its photos, which follow each other.
    func answer(id: UInt64) {
        answer([isBracket ? .array(type: "t", files.indices.map { .uint64(id + UInt64($0)) }) : .uint64(id)])
    }

    /// The answer comes later, from elsewhere: every call is answered once.
    func answerLater() { isAnswered = true }

    /// Does deferred work, and answers with nothing where that has not answered.
    func carryOut(_ work: () throws(BrokerError) -> Void) {
        isAnswered = false
        do throws(BrokerError) { try work() } catch { return answer(error) }
        if !isAnswered { answer() }
    }
}
