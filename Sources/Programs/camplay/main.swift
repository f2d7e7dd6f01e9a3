import ArbiterProtocol
import Glibc
import NIOCore
import NIOPosix
import PlayServing
import TomlFile
import Workbench

// Serves the page of `camclient policy play`: the workbench writes the answers, PlayServing decides who gets them.

private func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
}

private func end(_ sentence: String, _ status: Int32) -> Never {
    write("camplay: \(sentence)\n", to: 2)
    exit(status)
}

/// `[--port N] [--] [FOLDER]`, as `camclient policy play` writes it.
private func options() -> (port: Int, folder: String) {
    var words = CommandLine.arguments.dropFirst()
    if words == ["--version"] {
        write("camplay \(Release.version)\n", to: 1)
        exit(0)
    }
    var port = 0
    if words.first == "--port" {
        words.removeFirst()
        guard let number = words.popFirst().flatMap({ UInt16($0) }) else {
            end("--port takes a number from 0 to 65535.", 2)
        }
        port = Int(number)
    }
    if words.first == "--" { words.removeFirst() }
    guard words.count <= 1 else { end("It takes one folder; see camclient policy play --help.", 2) }
    return (port, words.first ?? ".")
}

/// 128 bits, as 32 digits.
private func token() -> String {
    (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
}

/// The cookbook and the shipped policies, each with a scenario: of the package, or of the checkout that the program was built in.
private func examples() -> [PlayExample] {
    guard let path = realpath("/proc/self/exe", nil) else { return [] }
    defer { free(path) }
    let parts = String(cString: path).split(separator: "/")
    let (cookbook, policies, scenarios): (String, String, String)
    if let place = parts.lastIndex(of: "libexec") {
        let share = "/" + (parts[..<place] + ["share", "camarb"]).joined(separator: "/")
        (cookbook, policies, scenarios) = ("\(share)/cookbook", "\(share)/policies", "\(share)/scenarios")
    } else if let place = parts.firstIndex(where: { $0.hasPrefix(".build") }) {
        let root = "/" + parts[..<place].joined(separator: "/")
        (cookbook, policies, scenarios) = (
            "\(root)/docs/cookbook", "\(root)/policies", "\(root)/Tests/scenarios/policies"
        )
    } else {
        return []
    }
    return PlayExample.all(of: cookbook, "Cookbook") { "\(cookbook)/\($0).scenario" }
        + PlayExample.all(of: policies, "Shipped policies") { first("\(scenarios)/\($0)/*.scenario") }
}

/// The first path of a pattern, by the order of the names.
private func first(_ pattern: String) -> String? {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern, 0, nil, &found) == 0 else { return nil }
    return found.gl_pathv[0].map { String(cString: $0) }
}

let (port, folder) = options()
// A write to a browser that has gone returns an error.
signal(SIGPIPE, SIG_IGN)
// Before nothing outside of the folder is read.
let known = examples()
// From here on every path counts from the folder, and none leads out of it.
guard chdir(folder) == 0 else { end("\(folder) cannot be entered: \(String(cString: strerror(errno))).", 5) }
guard RegularFile.confine(to: ".") else { end("\(folder) cannot be resolved: \(String(cString: strerror(errno))).", 5) }

let pages: PlayPages = (
    page: { folder, policies, scenarios, nonce in
        let page = PlayPage(folder: folder, policies: policies, scenarios: scenarios, examples: known)
        return (page.page(nonce: nonce), PlayPage.securityPolicy(nonce: nonce))
    },
    example: { number in
        guard known.indices.contains(number) else { return nil }
        let (file, policy, scenario) = known[number].texts
        return JSONEncoding.text(of: ["file": file, "policy": policy, "scenario": scenario] as JSONObject)
    },
    answer: { question, mayGoOn in PlayAnswer(question, while: mayGoOn).text }
)
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let secret = token()
do {
    let server = PlayServer(pages, folder: folder, token: secret, random: token)
    let channel = try await server.listen(on: port, group).get()
    let number = channel.localAddress?.port ?? port
    write("http://127.0.0.1:\(number)/\(secret)/\n", to: 1)
    write("Open this address in a browser of this machine; Ctrl-C ends it.\n", to: 2)
    try await channel.closeFuture.get()
} catch { end("127.0.0.1:\(port) cannot be listened on: \(error).", 5) }
