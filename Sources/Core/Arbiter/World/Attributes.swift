import Vocabulary

/// Attributes that a policy declares: set by trusted sources, lowered by clients.
extension Arbiter {
    mutating func attribute(_ id: AppID, _ name: String, _ value: String?) throws(Refusal) {
        guard let value else {
            // Also an attribute of another policy: its setter may always take it back.
            guard let app = state.appNames[id], state.apps[app].isAttributed else { return }
            var values = state.attributes[app]
            values[name] = nil
            return tell(app, values)
        }
        _ = try declared(name, value)
        let isAttributed = state.appNames[id].map { state.apps[$0].isAttributed } ?? false
        guard isAttributed || state.world.attributedApps < Bound.attributedAppsMax else {
            throw .tooManyAttributed(state.world.attributedApps)
        }
        let app = state.row(of: id)
        var values = state.attributes[app]
        values.keepOnly(policy.attributes)
        values[name] = value
        tell(app, values)
    }

    private mutating func tell(_ app: Slot<App>, _ values: AttributeValues) {
        let isNews = state.attributes[app] != values
        state.attributes[app] = values
        if state.apps[app].isAttributed != !values.isEmpty {
            state.apps[app].isAttributed = !values.isEmpty
            state.world.attributedApps += values.isEmpty ? -1 : 1
        }
        state.updateAttributes(app)
        touch(app)
        if isNews, state.policy.reads.attributes { notePriorities(of: app) }
        state.release(app)
    }

    /// Demotion only, and for the whole app: its value counts for all its sessions.
    mutating func lowerAttribute(_ id: ClientID, _ name: String, _ value: String) throws(Refusal) {
        guard let slot = state.client(id) else { return }
        let index = try declared(name, value)
        let attribute = policy.attributes[index]
        let app = state.clients[slot].app
        let current = state.apps[app.slot][app].attributes >> UInt64(8 * index) & 0xff
        guard attribute.place(of: value) >= current else {
            throw .raised(name, to: value, from: attribute.values[Int(current)])
        }
        if state.clientTexts[slot].loweredAttributes[name] == value { return }
        state.clientTexts[slot].loweredAttributes.keepOnly(policy.attributes)
        state.clientTexts[slot].loweredAttributes[name] = value
        state.identify(slot)
        state.updateAttributes(app.slot)
        touch(app: app)
        if state.policy.reads.attributes { notePriorities(of: app) }
    }

    /// The place of the attribute with this name and this value among the policy's.
    private func declared(_ name: String, _ value: String) throws(Refusal) -> Int {
        let attributes = policy.attributes
        guard let index = attributes.firstIndex(where: { $0.name == name }) else {
            throw .unknown("attribute", name, of: policy.name, has: attributes.map(\.name), .attributesOfThePolicy)
        }
        let values = attributes[index].values
        guard values.contains(value) else { throw .unknownValue(value, of: name, has: values) }
        return index
    }
}

extension State {
    /// Each of the two apps gets the name's value where that reaches it, or a weaker one where one of its clients
    /// lowered it.
    mutating func updateAttributes(_ slot: Slot<App>) {
        let declared = policy.source.attributes
        // Most policies declare none.
        if declared.isEmpty { return }
        for isClaimed in [false, true] {
            let app = ref(slot, isClaimed: isClaimed)
            let told = isReached(app) ? attributes[slot] : AttributeValues()
            let speakers = clients(of: app).map { clientTexts[$0].loweredAttributes }.filter { !$0.isEmpty }
            var packed: UInt64 = 0
            for (index, attribute) in declared.enumerated() {
                var place = attribute.place(of: told[attribute.name])
                for speaker in speakers {
                    // A value that the policy lacks lowers nothing, as with a rank that it lacks.
                    if let lowered = speaker[attribute.name], let weaker = attribute.values.firstIndex(of: lowered) {
                        place = max(place, weaker)
                    }
                }
                packed |= UInt64(place) << UInt64(8 * index)
            }
            apps[slot][app].attributes = packed
        }
    }
}
