/// The form of an event's line: `presence APP gone [by SOURCE]` has the command `presence`, and behind the first value
/// the verb `gone`; the values are those of the event's fields.
package struct Sentence: Sendable {
    package enum Reading: Sendable {
        /// The line has the words of its event's fields, and nothing else.
        case byFields
        /// The line means more than one event, or leaves out words of earlier lines: `ScenarioParser` reads it by its
        /// command.
        case byParser
        /// There is no line for it: time passes.
        case never
    }

    /// The first words that its line can have, one for each first value.
    package private(set) var commands: [String]
    package private(set) var verb: String?
    /// The places of the fields in the line, where these are in another order.
    private(set) var order: [Int]?
    package private(set) var reading = Reading.byFields
    private(set) var beginsWithValue = false

    static func line(_ command: String, order: [Int]? = nil) -> Sentence {
        Sentence(commands: [command], order: order)
    }

    static func own(_ command: String, verb: String? = nil) -> Sentence {
        Sentence(commands: [command], verb: verb, reading: .byParser)
    }

    /// `recorder CAMERA verb …`: `gone` may mean a crash, and the stage knows the missing words.
    static func recorder(_ verb: String) -> Sentence {
        Sentence(commands: [recorderCommand], verb: verb, reading: .byParser)
    }

    static func value(_ commands: [String], verb: String? = nil) -> Sentence {
        Sentence(commands: commands, verb: verb, reading: .byParser, beginsWithValue: true)
    }

    static let unsaid = Sentence(commands: [], reading: .never)

    package static let recorderCommand = "recorder"

    /// - Parameter said: the words of the fields, in their own order; `nil` for a field without words.
    func text(_ said: [String?]) -> String? {
        guard reading != .never else { return nil }
        var values = order.map { $0.map { said[$0] } } ?? said
        if let verb { values.insert(verb, at: min(1, values.count)) }
        if !beginsWithValue, let command = commands.first { values.insert(command, at: 0) }
        return values.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
