import Vocabulary

extension World {
    func write(into writer: inout FingerprintWriter) {
        // Nearly always nearly everything is empty: one word says what is not.
        writer.combine(
            isPrivate, isAsleep, sources.isEmpty, placements.isEmpty, declared.isEmpty, focus.isEmpty, inFront.isEmpty,
            microphones.isEmpty, operatorChoice == nil, loginSessions.isEmpty, falling.isEmpty, coolDowns.isEmpty,
            attributes.isEmpty)
        writer.combine(UInt64(pressure.rawValue))
        if !sources.isEmpty { writeSources(&writer) }
        if !placements.isEmpty {
            writer.unordered(placements) { writer, entry in
                writer.combine(entry.key.source.rawValue)
                writer.combine(entry.key.app)
                entry.value.write(into: &writer)
            }
        }
        if !declared.isEmpty {
            writer.unordered(declared) { writer, entry in
                writer.combine(UInt64(entry.key))
                writer.unordered(entry.value) { writer, entry in
                    writer.combine(entry.key)
                    entry.value.write(into: &writer)
                }
            }
        }
        if !focus.isEmpty {
            writer.unordered(focus) { writer, entry in
                writer.combine(entry.key.source.rawValue)
                writer.combine(UInt64(entry.key.user))
                writer.combine(entry.value)
            }
        }
        if !inFront.isEmpty {
            writer.unordered(inFront) { writer, entry in
                writer.combine(UInt64(entry.key))
                writer.unordered(entry.value) { $0.combine($1) }
            }
        }
        if !microphones.isEmpty { writer.unordered(microphones) { $0.combine($1) } }
        if let operatorChoice { writer.combine(operatorChoice) }
        if !attributes.isEmpty {
            writer.unordered(attributes) { writer, entry in
                writer.combine(entry.key)
                entry.value.write(into: &writer)
            }
        }
        if !loginSessions.isEmpty { writeLoginSessions(&writer) }
        if !falling.isEmpty { writeFalling(&writer) }
        if !coolDowns.isEmpty { writeCoolDowns(&writer) }
    }

    /// What concerns no app in particular.
    func writeShared(into writer: inout FingerprintWriter) {
        writer.combine(isPrivate, isAsleep, sources.isEmpty, loginSessions.isEmpty, falling.isEmpty)
        writer.combine(UInt64(pressure.rawValue))
        if !sources.isEmpty { writeSources(&writer) }
        if !loginSessions.isEmpty { writeLoginSessions(&writer) }
        if !falling.isEmpty { writeFalling(&writer) }
    }

    /// What concerns one app; who is in front follows from where apps are.
    func write(_ app: AppID, into writer: inout FingerprintWriter) {
        // Mostly nobody says where apps are, or only one source does.
        writer.combine(
            microphones.contains(app), operatorChoice == app, placements.isEmpty, focus.isEmpty, declared.isEmpty,
            attributes.isEmpty)
        if !placements.isEmpty || !focus.isEmpty {
            for source in [PresenceSource.shell, .agent] {
                writer.combine(placements[PlacementKey(source: source, app: app)]) { $1.write(into: &$0) }
                writer.combine(focus[FocusKey(source: source, user: app.user)] == app)
            }
        }
        if !declared.isEmpty { writer.combine(declared[app.user]?[app]) { $1.write(into: &$0) } }
        if !attributes.isEmpty { writer.combine(attributes[app]) { $1.write(into: &$0) } }
        for coolDown in coolDowns where coolDown.app == app {
            writer.combine(coolDown.camera)
            writer.combine(distanceTo: coolDown.until)
        }
    }

    private func writeLoginSessions(_ writer: inout FingerprintWriter) {
        writer.unordered(loginSessions) { writer, entry in
            writer.combine(entry.key.name)
            writer.combine(entry.value.isActive, entry.value.isLocked)
        }
    }

    private func writeSources(_ writer: inout FingerprintWriter) {
        writer.unordered(sources) { writer, entry in
            writer.combine(entry.key.source.rawValue)
            writer.combine(entry.key.user) { $0.combine(UInt64($1)) }
            switch entry.value {
            case .attached: writer.combine(0)
            case .lost: writer.combine(1)
            case .resumed(let until):
                writer.combine(2)
                writer.combine(distanceTo: until)
            case .frozen(let until):
                writer.combine(3)
                writer.combine(distanceTo: until)
            }
        }
    }

    private func writeFalling(_ writer: inout FingerprintWriter) {
        writer.combine(falling.count)
        for falling in falling {
            writer.combine(UInt64(falling.to.rawValue))
            writer.combine(distanceTo: falling.at)
        }
    }

    private func writeCoolDowns(_ writer: inout FingerprintWriter) {
        writer.combine(coolDowns.count)
        for coolDown in coolDowns {
            writer.combine(coolDown.app)
            writer.combine(coolDown.camera)
            writer.combine(distanceTo: coolDown.until)
        }
    }
}

extension World.Placement {
    fileprivate func write(into writer: inout FingerprintWriter) {
        switch presence {
        case .background: writer.combine(0)
        case .foreground(.fullscreen): writer.combine(1)
        case .foreground(.split): writer.combine(2)
        case .foreground(.slideOver): writer.combine(3)
        case .foreground(.pictureInPicture): writer.combine(4)
        }
        writer.combine(isFocused, isStale)
    }
}
