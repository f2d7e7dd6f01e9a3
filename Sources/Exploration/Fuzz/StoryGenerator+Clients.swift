import ArbiterProtocol

extension StoryGenerator {
    mutating func connect() {
        let name = freshName("p")
        let (app, user) = (random.pick(FuzzNames.apps), random.pick(FuzzNames.users))
        var words = ["connect \(name) app=\(app)"]
        if user != FuzzNames.users[0] { words.append("user=\(user)") }
        switch random.below(100) {
        case 0..<25: words.append("login=\(random.pick(FuzzNames.logins))")
        case 25..<37: words.append("login=none")
        default: break
        }
        if random.chance(20) { words.append("groups=\(random.pick(FuzzNames.groups))") }
        if random.chance(10) { words.append("weak") }
        if random.chance(3) { words.append("own-broker") }
        if random.chance(12) { words.append(claim()) }
        words += attributes()
        if random.chance(50) {
            words.append("presence=\(random.pick(Presence.wireNames))")
            if random.chance(40) { words.append("focused") }
        }
        clients.append(Client(name: name, app: FuzzNames.app(app, user: user)))
        say(words.joined(separator: " "))
    }

    private mutating func claim() -> String {
        random.pick(["claimed", "unverified", "claimed=\(random.pick(FuzzNames.apps))"])
    }

    private mutating func attributes() -> [String] {
        var words: [String] = []
        if random.chance(35) { words.append("kind=\(random.pick(ClientKind.allCases).rawValue)") }
        if random.chance(30) { words.append("multitasking") }
        if random.chance(10) { words.append("full-screen") }
        return words
    }

    /// One that is connected, or now and then one that left.
    private mutating func anyClient() -> String? {
        let there = clients.filter(\.isConnected)
        if there.isEmpty || random.chance(4) { return clients.isEmpty ? nil : random.pick(clients).name }
        return random.pick(there).name
    }

    /// What a client does that is not about one of its sessions.
    mutating func client() {
        guard let name = anyClient() else { return connect() }
        switch random.below(100) {
        case 0..<30: disconnect(name)
        case 30..<50:
            let claimed = random.chance(15) ? ["claimed=\(random.pick(FuzzNames.apps))"] : []
            say((["declare \(name)"] + claimed + attributes()).joined(separator: " "))
        case 50..<75:
            let focus = random.chance(40) ? " focused" : ""
            say("declare-presence \(name) \(random.pick(Presence.wireNames))\(focus)")
        case 75..<88: say("lower \(name) \(random.pick(FuzzNames.ranks + ["everyone"]))")
        default:
            let attribute = random.pick(FuzzNames.attributes)
            say("lower \(name) \(attribute.name) \(random.pick(attribute.values))")
        }
    }

    private mutating func disconnect(_ name: String) {
        for index in clients.indices where clients[index].name == name { clients[index].isConnected = false }
        for index in sessions.indices where sessions[index].client == name { sessions[index].isOpen = false }
        say("disconnect \(name)")
    }

    /// The broker was restarted: cameras wait for those who had them, and these say that they ran.
    mutating func restart() {
        for camera in cameras where random.chance(60) { say("reserve \(camera) \(random.pick(FuzzNames.apps))") }
        connect()
        createSession(reestablished: true)
    }
}
