import ArbiterProtocol

extension StoryGenerator {
    /// - Parameter returning: the app that a camera is kept for; nil: any.
    mutating func connect(returning: String? = nil) {
        let name = freshName("p")
        let app = returning ?? random.pick(FuzzNames.apps)
        let user = returning == nil ? random.pick(FuzzNames.users) : FuzzNames.users[0]
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
        if random.chance(returning == nil ? 12 : 4) { words.append(claim()) }
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

    /// The broker was restarted: cameras wait for the apps that had them, and these say that they ran, or go on with
    /// what their recorder cores still capture.
    mutating func restart() {
        for camera in cameras where random.chance(70) {
            let app = random.pick(FuzzNames.apps)
            guard random.chance(70) else {
                say("reserve \(camera) \(app)")
                continue
            }
            // Numbers that no story of this length comes to by itself, each only once.
            let number = Self.survivorsFrom + survivors.count
            let recording = random.chance(40) ? " recording=\(number)" : ""
            survivors.append(StorySurvivor(grant: number, camera: camera, app: app))
            say("reserve \(camera) \(app) grant=\(number)\(recording)")
        }
        connect()
        createSession(reestablished: true)
        for survivor in survivors where random.chance(85) {
            pass()
            reclaim(survivor)
        }
    }

    /// Its client is back, in time or not, and is or is not as it was.
    private mutating func reclaim(_ survivor: StorySurvivor) {
        connect(returning: survivor.app)
        guard let client = clients.last?.name else { return }
        let name = freshName("s")
        sessions.append(Session(name: name, client: client))
        let settings = random.chance(20) ? " sharingMode=sharedReadOnly" : random.chance(20) ? " videoZoomFactor=1" : ""
        say("session \(name) of \(client) camera=\(survivor.camera)\(settings)")
        if random.chance(15) { machine() }
        if random.chance(10) { user() }
        if random.chance(10) { session() }
        say("reclaim \(name) grant=\(survivor.grant)")
    }
}
