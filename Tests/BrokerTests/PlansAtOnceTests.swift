import ArbiterProtocol
import Bus
import System
import Testing

@Suite("Plans and explanations that are asked at once") struct PlansAtOnceTests {
    /// Asks all questions before any is answered.
    /// - Returns: the answers' first texts, in their order.
    private func ask(
        _ client: TestClient, _ questions: [(member: String, text: String)]
    ) throws -> [Result<String, BrokerError>] {
        var answers: [Result<String, BrokerError>] = []
        let connection = try #require(client.connection)
        for (member, text) in questions {
            connection.call(
                path: ObjectPath.broker, interface: InterfaceName.broker, member: member, [.string(text)]
            ) { answer in
                let values = answer.flatMap { message in
                    Result { () throws(BrokerError) in try message.arguments() }
                }
                answers.append(values.map { $0.first?.string ?? "" })
            }
        }
        try client.process.wait("\(questions.count) answers (so far \(answers))") {
            answers.count == questions.count
        }
        return answers
    }

    @Test("Of as many as a user may ask at once each is answered, in their order, and so again")
    func allAreAnswered() throws {
        let process = try BrokerProcess()
        let client = try process.client("photos")
        let session = try client.session()
        try session.run()
        let questions = [(member: "Plan", text: "stop photos"), (member: "ExplainApp", text: "photos")]
        // One after the other, and then as many as may be.
        let alone = try questions.flatMap { try ask(client, [$0]) }
        #expect(try alone[0].get().contains("photos didStopRunning") == true)
        #expect(try alone[1].get().isEmpty == false)
        let order = [0, 1, 0, 0, 1, 1, 0, 1]
        for _ in 0..<3 {
            let answers = try ask(client, order.map { questions[$0] })
            #expect(answers == order.map { alone[$0] })
        }
        #expect(session.names == ["DidStartRunning"])
    }

    @Test("Who leaves with questions that wait keeps nobody else's from being answered")
    func whoLeaves() throws {
        let process = try BrokerProcess()
        let stays = try process.client("photos")
        _ = try stays.session()
        let question = (member: "Plan", text: "start photos")
        let alone = try ask(stays, [question])
        // It works longer than its client's end takes to be seen.
        let long = String(repeating: "start photos\nstop photos\n", count: 300)
        let leaves = try process.client("call")
        let connection = try #require(leaves.connection)
        for _ in 0..<4 {
            connection.call(
                path: ObjectPath.broker, interface: InterfaceName.broker, member: "Plan", [.string(long)]
            ) { _ in }
        }
        // The questions are sent.
        _ = try process.loop.turn(timeout: 0)
        leaves.close()
        let answers = try ask(stays, Array(repeating: question, count: 4))
        #expect(answers == Array(repeating: alone[0], count: 4))
    }
}
