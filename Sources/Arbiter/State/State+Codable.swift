import Vocabulary

/// A state as a snapshot keeps it: all of it but the policy, which stands beside it and comes back under
/// `CodingUserInfoKey.policy`.
extension State: Codable {
    private enum Key: String, CodingKey {
        case now, carriedTexts, clients, sessions, cameras, apps, logins, users, sources, timers, microphones
        case clientSlots, sessionSlots, appNames, cameraNames, loginNames, cameraOrder, seats
        case words, privateUsers, questionWatchers
        case clientTexts, sessionSettings, cameraSettings, attributes, modeWords, world, lastOrdinal, generation, ledger
    }

    package init(from decoder: any Decoder) throws {
        guard let policy = decoder.userInfo[.policy] as? Policy else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a snapshot is read with its policy"))
        }
        let members = try decoder.container(keyedBy: Key.self)
        func read<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        self.init(policy: CompiledPolicy(policy))
        now = try read(.now)
        carriedTexts = try read(.carriedTexts)
        clients = try read(.clients)
        sessions = try read(.sessions)
        cameras = try read(.cameras)
        apps = try read(.apps)
        logins = try read(.logins)
        users = try read(.users)
        sources = try read(.sources)
        timers = try read(.timers)
        microphones = try read(.microphones)
        words = try read(.words)
        privateUsers = try read(.privateUsers)
        questionWatchers = try read(.questionWatchers)
        clientSlots = try read(.clientSlots)
        sessionSlots = try read(.sessionSlots)
        appNames = try read(.appNames)
        cameraNames = try read(.cameraNames)
        loginNames = try read(.loginNames)
        cameraOrder = try read(.cameraOrder)
        seats = try read(.seats)
        clientTexts = try read(.clientTexts)
        sessionSettings = try read(.sessionSettings)
        cameraSettings = try read(.cameraSettings)
        attributes = try read(.attributes)
        modeWords = try read(.modeWords)
        world = try read(.world)
        lastOrdinal = try read(.lastOrdinal)
        generation = try read(.generation)
        ledger = try read(.ledger)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(now, forKey: .now)
        try members.encode(carriedTexts, forKey: .carriedTexts)
        try members.encode(clients, forKey: .clients)
        try members.encode(sessions, forKey: .sessions)
        try members.encode(cameras, forKey: .cameras)
        try members.encode(apps, forKey: .apps)
        try members.encode(logins, forKey: .logins)
        try members.encode(users, forKey: .users)
        try members.encode(sources, forKey: .sources)
        try members.encode(timers, forKey: .timers)
        try members.encode(microphones, forKey: .microphones)
        try members.encode(words, forKey: .words)
        try members.encode(privateUsers, forKey: .privateUsers)
        try members.encode(questionWatchers, forKey: .questionWatchers)
        try members.encode(clientSlots, forKey: .clientSlots)
        try members.encode(sessionSlots, forKey: .sessionSlots)
        try members.encode(appNames, forKey: .appNames)
        try members.encode(cameraNames, forKey: .cameraNames)
        try members.encode(loginNames, forKey: .loginNames)
        try members.encode(cameraOrder, forKey: .cameraOrder)
        try members.encode(seats, forKey: .seats)
        try members.encode(clientTexts, forKey: .clientTexts)
        try members.encode(sessionSettings, forKey: .sessionSettings)
        try members.encode(cameraSettings, forKey: .cameraSettings)
        try members.encode(attributes, forKey: .attributes)
        try members.encode(modeWords, forKey: .modeWords)
        try members.encode(world, forKey: .world)
        try members.encode(lastOrdinal, forKey: .lastOrdinal)
        try members.encode(generation, forKey: .generation)
        try members.encode(ledger, forKey: .ledger)
    }
}
