import Timeline

extension TimeArgument {
    static let tenSeconds = TimeArgument(duration: .seconds(10))

    init(duration: Duration) { self.duration = duration }

    /// What help shows as the default.
    var defaultValueDescription: String { duration.shortText }
}
