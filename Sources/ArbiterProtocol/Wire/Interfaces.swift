extension Interface {
    /// The ones a client can meet.
    package static let publicInterfaces: [Interface] = [broker, camera, session, shell]
}

extension Interface.Method {
    /// A method that takes and gives nothing.
    init(_ name: String, _ summary: String) { self.init(name, [], gives: [], summary) }
    init(_ name: String, gives: [Interface.Argument], _ summary: String) { self.init(name, [], gives: gives, summary) }
}
