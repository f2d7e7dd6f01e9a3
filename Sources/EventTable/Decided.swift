package import Arbiter
package import ArbiterProtocol

// What the signal `Decided` has as data: a dictionary for the event, and one for each effect that its text shows.

extension Event {
    /// As subscribers have it.
    package func decided(_ names: any Naming) -> WireDictionary {
        let described = described
        var wire: WireDictionary = [DecidedKey.event: .string(kind.rawValue)]
        described.values(of: self).write(to: &wire)
        if let name = name(names) { wire.append(DecidedKey.name, .string(name)) }
        if let note = note(names) { wire.append(DecidedKey.note, .string(note)) }
        return wire
    }

    /// What a picture of a camera's holders says of the event: its line, without quotation marks; nil where what
    /// follows from it says it all.
    package func note(_ names: any Naming) -> String? {
        let described = described
        guard described.traits.contains(.noted) else { return nil }
        return described.line(of: self, names).map { String($0.filter { $0 != "\"" }) }
    }

    /// What the session that it is about is called, or else the client.
    package func name(_ names: any Naming) -> String? {
        var found: String?
        for subject in subjects {
            switch subject {
            case .session(let session): return names.name(of: session)
            case .client(let client): found = names.name(of: client)
            case .user, .camera, .grant, .loginSession: break
            }
        }
        return found
    }
}

extension Effect {
    /// As subscribers have it; nil for orders to recorders and for what has signals of its own.
    package func decided(_ names: any Naming) -> WireDictionary? {
        var name: String?
        switch self {
        case .refused: break
        case .notify(_, let session, _, _): name = names.name(of: session)
        case .answered, .cut, .killRecorder, .open, .resume, .configure, .openStream, .closeStreams, .capturePhoto,
            .capturePhotoBracket, .attachMicrophone, .detachMicrophone, .startRecording, .stopRecording,
            .pauseRecording,
            .resumeRecording, .appendMetadata, .setSlate, .announce:
            return nil
        }
        let values = values
        var wire = WireDictionary()
        wire.reserveCapacity(values.entries.count + 2)
        wire.append(DecidedKey.effect, .string(kind.rawValue))
        if let name { wire.append(DecidedKey.name, .string(name)) }
        values.write(to: &wire)
        return wire
    }
}
