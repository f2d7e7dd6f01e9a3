/// How an event is said in a scenario: `presence APP gone [by SOURCE]` has the command `presence`, and behind the first
/// value the verb `gone`; the values are those of the event's fields.
package struct Sentence: Sendable {
    package enum Reading: Sendable {
        /// The line has what its event's fields say, and nothing else.
        case byFields
        /// The line means more than one event, or leaves out what lines before it have said: the reader of scenarios
        /// knows it by its command.
        case byParser
        /// Nobody says it: time passes.
        case never
    }

    /// What its line can begin with; of several the first value's word decides.
    package private(set) var commands: [String]
    package private(set) var verb: String?
    /// The fields, by their places, in the order in which they are said; nil: as they are.
    private(set) var order: [Int]?
    package private(set) var reading = Reading.byFields
    private(set) var beginsWithValue = false

    static func line(_ command: String, order: [Int]? = nil) -> Sentence {
        Sentence(commands: [command], order: order)
    }

    /// Read by the reader of scenarios.
    static func own(_ command: String, verb: String? = nil) -> Sentence {
        Sentence(commands: [command], verb: verb, reading: .byParser)
    }

    /// `recorder CAMERA verb …`: `gone` may mean a crash, and what is not said is what the recorder was told.
    static func recorder(_ verb: String) -> Sentence {
        Sentence(commands: [recorderCommand], verb: verb, reading: .byParser)
    }

    static func value(_ commands: [String], verb: String? = nil) -> Sentence {
        Sentence(commands: commands, verb: verb, reading: .byParser, beginsWithValue: true)
    }

    static let unsaid = Sentence(commands: [], reading: .never)

    package static let recorderCommand = "recorder"

    /// - Parameter said: what the fields say, in their own order; nil: nothing.
    func text(_ said: [String?]) -> String? {
        guard reading != .never else { return nil }
        var values = order.map { $0.map { said[$0] } } ?? said
        if let verb { values.insert(verb, at: min(1, values.count)) }
        if !beginsWithValue, let command = commands.first { values.insert(command, at: 0) }
        return values.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
