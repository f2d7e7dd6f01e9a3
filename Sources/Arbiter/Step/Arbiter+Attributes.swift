import Vocabulary

/// Attributes that a policy declares: what apps are told of them, and what their clients give up.
extension Arbiter {
    /// The app's values under the policy in force: what it was told, or weaker where one of its clients lowered it.
    func attributes(of app: AppID) -> [Facts.AttributeValue] {
        // Most policies declare none.
        guard !state.policy.attributes.isEmpty else { return [] }
        let told = state.world.attributes[app]
        let connected = (state.apps[app] ?? []).compactMap { state.clients[$0] }
        // Who only claims to be an app that the kernel vouches for does not weaken it.
        let isVouchedFor = connected.contains { $0.isVerified }
        let speakers = connected.filter { !$0.loweredAttributes.isEmpty && ($0.isVerified || !isVouchedFor) }
        return state.policy.attributes.map { attribute in
            var place = attribute.place(of: told?[attribute.name])
            for speaker in speakers {
                // A value that the policy lacks gives nothing up, as with a rank that it lacks.
                if let lowered = speaker.loweredAttributes[attribute.name],
                    let weaker = attribute.values.firstIndex(of: lowered)
                {
                    place = max(place, weaker)
                }
            }
            return Facts.AttributeValue(name: attribute.name, value: attribute.values[place], place: place)
        }
    }

    mutating func attribute(_ app: AppID, _ name: String, _ value: String?, _ turn: inout Turn) {
        guard let value else {
            // Also one that another policy declared: whoever set it may always take it back.
            guard var values = state.world.attributes[app] else { return }
            values[name] = nil
            state.world.attributes[app] = values.isEmpty ? nil : values
            touch(app: app, &turn)
            return
        }
        guard declared(name, value, &turn) != nil else { return }
        guard state.world.attributes[app] != nil || state.world.attributes.count < Bound.attributedAppsMax else {
            turn.refuse(
                .limitExceeded,
                "\(state.world.attributes.count) apps have attributes, the most there may be; forget those of apps that are gone.",
                rule: "attributes of a bounded number of apps")
            return
        }
        var values = state.world.attributes[app] ?? AttributeValues()
        values.keepOnly(state.policy.attributes)
        values[name] = value
        state.world.attributes[app] = values
        touch(app: app, &turn)
    }

    /// Demotion only, and for the whole app: its value counts for all that it holds.
    mutating func lowerAttribute(_ id: ClientID, _ name: String, _ value: String, _ turn: inout Turn) {
        guard let client = state.clients[id] else { return }
        guard let attribute = declared(name, value, &turn) else { return }
        guard let current = attributes(of: client.app).first(where: { $0.name == name }),
            attribute.place(of: value) >= current.place
        else {
            let current = attributes(of: client.app).first { $0.name == name }
            turn.refuse(
                .priorityRaised,
                "\(name) \"\(value)\" is stronger than \"\(current?.value ?? attribute.defaultValue)\", the one in force; only weaker ones can be taken.",
                rule: "demotion only")
            return
        }
        var lowered = client.loweredAttributes
        lowered.keepOnly(state.policy.attributes)
        lowered[name] = value
        state.clients[id]?.loweredAttributes = lowered
        touch(app: client.app, &turn)
    }

    /// The attribute with this name and this value, or a refusal that names what there is.
    private func declared(_ name: String, _ value: String, _ turn: inout Turn) -> Attribute? {
        guard let attribute = state.policy.attributes.first(where: { $0.name == name }) else {
            let names = state.policy.attributes.map(\.name).joined(separator: ", ")
            turn.refuse(
                .invalidValue,
                "The policy \"\(state.policy.name)\" has no attribute \"\(name)\"; it has \(names.isEmpty ? "none" : names).",
                rule: "attributes are the policy's")
            return nil
        }
        guard attribute.values.contains(value) else {
            turn.refuse(
                .invalidValue,
                "The attribute \(name) has no value \"\(value)\"; it has \(attribute.values.joined(separator: ", ")).",
                rule: "attributes are the policy's")
            return nil
        }
        return attribute
    }
}
