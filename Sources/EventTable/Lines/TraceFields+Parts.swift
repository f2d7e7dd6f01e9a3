package import Arbiter
import ArbiterProtocol
import PolicyFile
import TomlFile

/// Rights to cameras came later than the first traces of this version. Lines without them are read as things were then:
/// every connected client had a right, and every login session and camera was at the one seat.
extension TraceFields {
    mutating func identity() throws(LineFault) -> ClientIdentity {
        let verified = try flag("verified")
        let login = try nullableText("loginSession").map { LoginSessionID($0) }
        guard has("atSeat") else {
            return ClientIdentity(verified: verified, login: login.map { .session($0) } ?? .outside, own: true)
        }
        let atSeat = try flag("atSeat")
        guard login == nil || !atSeat else { throw LineFault("a client with a “loginSession” is not “atSeat” besides") }
        let (weak, own) = (try flag("weak"), try flag("own"))
        let groups: [UInt32] = try integers("groups", countMax: ClientIdentity.groupsMax)
        return ClientIdentity(
            verified: verified, weak: weak, groups: groups,
            login: login.map { .session($0) } ?? (atSeat ? .seat : .outside), own: own)
    }

    mutating func loginSessionFacts() throws(LineFault) -> LoginSessionFacts {
        let (active, locked) = (try flag("active"), try flag("locked"))
        return LoginSessionFacts(
            active: active, locked: locked, seat: try seat(),
            user: has("user") ? try integer("user") : LoginSessionFacts.userUnknown)
    }

    /// Recorder cores outlive their broker since later than the first traces of this version.
    mutating func survivor() throws(LineFault) -> Survivor? {
        guard has("grant") else { return nil }
        let grant = try nullable("grant") { (fields) throws(LineFault) in GrantID(try fields.count("grant")) }
        let recording = try nullable("recording") { (fields) throws(LineFault) in try fields.count("recording") }
        guard let grant else {
            if recording != nil { throw LineFault("a “recording” is under way only for a “grant”") }
            return nil
        }
        return Survivor(grant: grant, recording: recording)
    }

    /// `null` is none; a line that does not speak of it means the usual one.
    mutating func seat() throws(LineFault) -> SeatID? {
        guard has("seat") else { return .usual }
        return try nullableText("seat").map { SeatID($0) }
    }

    /// A policy as TOML text; the line's column is no use to anybody, so the text's own places are named.
    package mutating func policy(_ key: String) throws(LineFault) -> Policy {
        let text = try text(key)
        if text == builtInPolicy { return .firstCome }
        do throws(FileProblems) {
            return try PolicyFile.parse(text, file: "its policy")
        } catch { throw LineFault("the policy in it is not valid:\n\(error)") }
    }
}

/// What stands for the policy that needs no file: its text could not say that nothing else was to be had.
package let builtInPolicy = "built-in"

extension Policy {
    package var traceText: String { self == .firstCome ? builtInPolicy : PolicyWriter.text(self, numbersOnly: true) }
}
