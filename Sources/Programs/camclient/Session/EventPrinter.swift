import ArbiterProtocol
import Camarb
import Workbench

/// Prints a session's events as they come, for people or for programs.
struct EventPrinter: Sendable {
    let app: String
    let isJSON: Bool
    let begin = Moment.now

    func print(_ notice: SessionNotice) {
        let now = Moment.now
        switch notice {
        case .event(let signal) where isJSON: Output.json(LogEntry.event(now, app: app, signal).json)
        case .event(let signal): line(now, signal.event.line)
        case .ended(let error):
            say(now, ["ended": error.kind.rawValue, "message": error.message], "ended: \(error.message)")
        }
    }

    func fact(_ fact: TimelineFact) {
        let now = Moment.now
        if isJSON { Output.json(LogEntry.fact(now, fact).json) }
    }

    func done(_ command: String, _ result: ScriptResult) {
        say(.now, (["command": command, "ok": true] as JSONObject).adding(result.json), "\(command): \(result.words)")
    }

    func failed(_ command: String, _ failure: Failure) {
        say(
            .now, ["command": command, "ok": false, "error": failure.name, "message": failure.message],
            "\(command): \(failure.message)")
    }

    private func say(_ now: Moment, _ members: JSONObject, _ words: String) {
        guard isJSON else { return line(now, words) }
        Output.json((["moment": now.nanoseconds, "app": app] as JSONObject).adding(members))
    }

    private func line(_ now: Moment, _ text: String) {
        Output.line("\((now - begin).shortText.leftPadded(8))  \(app.printable)  \(text)")
    }
}

/// What a command of a script came to, besides that it is done.
struct ScriptResult {
    var json: JSONObject = [:]
    var words = "done"
}
