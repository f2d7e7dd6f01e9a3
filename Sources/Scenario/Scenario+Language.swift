import EventTable

extension Scenario {
    /// Every word that an input line can begin with.
    public static let inputWords = EventDescription.commands
    /// Every word that says what a recorder does or says.
    public static let recorderWords = ScenarioParser.verbs
    /// Every word that describes the world, before the first input.
    public static let worldWords = ScenarioParser.worldCommands
}
