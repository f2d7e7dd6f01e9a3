import Arbiter
import ArbiterProtocol
import EventTable

/// What the lines so far say is there: enough to see that a later one contradicts them.
struct Stock {
    /// Nil: nobody knows, since the lines are read against a broker that runs.
    var cameras: Set<CameraID>?
    var clients: Set<String> = []
    var sessions: Set<String> = []
    /// The next line expects that the broker knows no such camera: then the line means it.
    var expectsUnknownCamera = false
    /// A line that notices can follow.
    var hasInput = false
}

extension ScenarioParser {
    /// The expected notice that lets an input name a camera there is not.
    static let unknownCameraNotice = "refused UnknownCamera"

    /// A camera of the scenario's world, or one that was plugged in since.
    func known(_ camera: Word) throws(LineProblem) -> CameraID {
        let id = CameraID(camera.text)
        guard let cameras = stock.cameras, !cameras.contains(id), !stock.expectsUnknownCamera else { return id }
        throw LineProblem(
            camera,
            "no camera is called “\(camera.text)”" + among(camera.text, cameras.map(\.name).sorted())
                + "; a `camera` line at the top or `plug` brings one")
    }

    func checkIsNew(client word: Word) throws(LineProblem) {
        guard stock.clients.contains(word.text) else { return }
        throw LineProblem(
            word,
            "“\(word.text)” is connected already; `disconnect \(word.text)` comes first, or a second client of the app: "
                + "connect \(word.text)-2 app=\(word.text)")
    }

    func checkIsNew(session word: Word) throws(LineProblem) {
        guard stock.sessions.contains(word.text) else { return }
        let owner = names.session(word.text).flatMap { names.client(of: $0) }.map { names.name(of: $0) } ?? word.text
        throw LineProblem(
            word,
            "“\(word.text)” is a session already; `close \(word.text)` comes first, or another name: "
                + "session \(word.text)-2 of \(owner)")
    }

    /// A client takes its sessions with it.
    mutating func forget(client name: String) {
        stock.clients.remove(name)
        guard let client = names.client(name) else { return }
        stock.sessions = stock.sessions.filter { session in
            names.session(session).flatMap { names.client(of: $0) } != client
        }
    }

    /// The nearest, or all there are.
    func among(_ name: String, _ names: [String]) -> String {
        if let guess = NearestWord.of(name, among: names) { return "; did you mean “\(guess)”?" }
        return names.isEmpty ? "; there is none yet" : "; there are: \(names.joined(separator: ", "))"
    }
}
