import ArbiterProtocol
import PolicyFile
import TomlFile

/// Reads a scenario's text line by line, and goes on after a problem to find the others.
struct ScenarioParser {
    let file: String
    let policies: String
    /// The folder whose drop-ins are read over each policy file.
    let dropIns: String?
    var names = Names()
    var now = Moment.zero
    var policy: Policy?
    private var policyFiles: [Scenario.NamedPolicy] = []
    var cameras: [Scenario.Camera] = []
    var hasNoCameras = false
    var shows = Scenario.Shows()
    var stock = Stock()
    /// The shell attaches by itself with the first `presence`, unless a line mentions it.
    var shellWasMentioned = false
    /// The latest state of each login session. One that no line mentions appears with its first client: active, at the
    /// usual seat, of that client's user.
    var logins: [String: LoginSessionFacts] = [:]
    /// Lines for a running broker: its policy and cameras are there already.
    let isPlan: Bool
    private var problems: [ScenarioError.Problem] = []

    /// - Parameter names: those of a running broker, against which the lines are read.
    init(file: String, policies: String, dropIns: String? = nil, names: Names? = nil) {
        self.file = file
        self.policies = policies
        self.dropIns = dropIns
        self.names = names ?? Names()
        isPlan = names != nil
        if isPlan { stock.hasInput = true }
        // A running broker has its sources; a plan adds none of its own.
        shellWasMentioned = isPlan
    }

    mutating func parse(_ text: String) throws(ScenarioError) -> Scenario {
        let texts = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var lines: [Scenario.Line] = []
        var title: [String] = []
        var hasBegun = false
        var index = 0
        while index < texts.count {
            let line = texts[index]
            let number = index + 1
            index += 1
            func keep(_ content: Scenario.Content) {
                // A block goes with its line, so that the notices come behind it.
                let text = texts[(number - 1)..<index].joined(separator: "\n")
                lines.append(Scenario.Line(number: number, text: text, content: content))
            }
            let bare = line.drop { $0 == " " }
            if bare.isEmpty || bare.first == "#" {
                if !hasBegun, bare.first == "#" { title.append(String(bare.dropFirst().drop { $0 == " " })) }
                if bare.isEmpty, !title.isEmpty { hasBegun = true }
                keep(.verbatim)
                continue
            }
            hasBegun = true
            stock.expectsUnknownCamera =
                index < texts.count && texts[index].drop { $0 == " " }.hasPrefix(Self.unknownCameraNotice)
            // A block in three quotation marks belongs to the line that opens it.
            var block: String?
            if line.hasSuffix("\"\"\"") {
                block = Self.block(texts, &index)
                if block == nil {
                    // All later lines were read as the block.
                    report(
                        LineProblem(
                            column: line.count - 2, length: 3,
                            "this block has no closing \"\"\"; it stands on a line of its own, at column 1"), number,
                        line)
                    break
                }
            }
            do {
                let content = try self.content(of: line, block)
                keep(content)
            } catch {
                report(error, number, line)
                keep(.verbatim)
            }
        }
        if !problems.isEmpty { throw ScenarioError(problems) }
        let world = Scenario.World(
            policy: policy ?? (isPlan ? .firstCome : defaultPolicy()),
            cameras: cameras.isEmpty && !hasNoCameras ? Self.defaultCameras : cameras, shows: shows)
        if !problems.isEmpty { throw ScenarioError(problems) }
        return Scenario(
            file: file, title: title.joined(separator: " "), world: world, lines: lines, names: names,
            policyFiles: policyFiles)
    }

    /// The lines from `index` up to the closing line of a block, and moves `index` behind it; `nil` where no line
    /// closes it.
    private static func block(_ texts: [String], _ index: inout Int) -> String? {
        var body: [String] = []
        while index < texts.count {
            let line = texts[index]
            index += 1
            if line == "\"\"\"" { return body.joined(separator: "\n") + "\n" }
            body.append(line)
        }
        return nil
    }

    /// The world is complete with the first input.
    private mutating func takeStock() {
        guard !isPlan, stock.cameras == nil else { return }
        stock.cameras = Set((cameras.isEmpty ? Self.defaultCameras : cameras).map(\.id))
    }

    private mutating func report(_ problem: LineProblem, _ number: Int, _ text: String) {
        guard problems.count < ScenarioText.problemsMax else { return }
        problems.append(
            ScenarioError.Problem(
                file: file, line: number, column: problem.column, message: problem.message, text: text,
                length: problem.length))
    }

    // MARK: A line

    private mutating func content(of line: String, _ block: String?) throws(LineProblem) -> Scenario.Content {
        if line.contains("\t") { throw LineProblem(column: 1, "a scenario is indented with spaces, not with tabs") }
        let indent = line.prefix { $0 == " " }.count
        let text = block == nil ? line : String(line.dropLast(3))
        switch indent {
        case 0:
            if line.first?.isASCIIDigit == true { return try timed(text, block) }
            return try worldLine(text, block)
        case Scenario.inputIndent:
            stock.hasInput = true
            return .input(now, try actions(text.dropFirst(indent), column: indent + 1, block))
        case Scenario.noticeIndent:
            guard stock.hasInput else {
                throw LineProblem(
                    column: indent + 1, length: max(1, line.count - indent),
                    "a notice stands beneath the input that leads to it, and there is none yet")
            }
            return .notice(String(line.dropFirst(indent)))
        default:
            throw LineProblem(
                column: 1, length: max(1, indent),
                "an input is indented by \(Scenario.inputIndent) columns or begins with a time, a notice by "
                    + "\(Scenario.noticeIndent); this line is indented by \(indent)")
        }
    }

    private mutating func timed(_ line: String, _ block: String?) throws(LineProblem) -> Scenario.Content {
        let text = String(line.prefix { $0 != " " })
        let time = Word(column: 1, length: text.count, text: text, isQuoted: false)
        let moment = Moment.zero + (try time.time())
        guard moment >= now else {
            throw LineProblem(time, "time goes back: the line before is at \(TimeText.write(now))")
        }
        now = moment
        stock.hasInput = true
        let rest = line.dropFirst(text.count).drop { $0 == " " }
        if rest.isEmpty { return .time(moment) }
        return .input(moment, try actions(rest, column: line.count - rest.count + 1, block))
    }

    private mutating func actions(
        _ text: some StringProtocol, column: Int, _ block: String?
    ) throws(LineProblem) -> [Action] {
        takeStock()
        var words = try Words(text, startColumn: column)
        let actions = try input(&words, block)
        try words.end()
        return actions
    }

    // MARK: The world

    private mutating func worldLine(_ line: String, _ block: String?) throws(LineProblem) -> Scenario.Content {
        var words = try Words(line)
        let command = try words.word("a command")
        if now > .zero || !names.clientNames.isEmpty {
            throw LineProblem(
                command,
                "the world is described before the first event; an input is indented by "
                    + "\(Scenario.inputIndent) columns or begins with a time")
        }
        switch command.text {
        case "policy":
            if policy != nil { throw LineProblem(command, "a scenario has one policy; a later one is `policy-reload`") }
            policy = try readPolicy(&words, block)
        case "camera":
            let name = try words.word("the camera's name")
            let camera = CameraID(name.text)
            if cameras.contains(where: { $0.id == camera }) {
                throw LineProblem(name, "camera “\(name.text)” is there already; each has a name of its own")
            }
            cameras.append(try self.camera(camera, &words))
        case "cameras":
            guard words.take("none"), cameras.isEmpty else {
                throw LineProblem(command, "`cameras none` says that there is none until one is plugged in")
            }
            hasNoCameras = true
        case "show":
            while !words.isAtEnd { shows[keyPath: try words.choice("what is shown", Self.shown)] = true }
        default:
            throw command.notOne(
                of: Self.worldCommands,
                "; an input is indented by \(Scenario.inputIndent) columns or begins with a time")
        }
        try words.end()
        return .verbatim
    }

    private static let shown: [(name: String, value: any WritableKeyPath<Scenario.Shows, Bool> & Sendable)] = [
        ("announcements", \.announcements), ("orders", \.orders), ("sentences", \.sentences),
    ]

    /// `ios9.toml`, `built-in`, or a block of TOML.
    mutating func readPolicy(_ words: inout Words, _ block: String?) throws(LineProblem) -> Policy {
        if let block {
            let column = words.peek?.column ?? 1
            do { return try PolicyFile.parse(block, file: "\(file) (its policy)") } catch {
                throw LineProblem(column: column, length: 3, "the policy is not valid:\n\(error)")
            }
        }
        let word = try words.word("a policy file")
        if word.text == builtInPolicy { return .firstCome }
        if isPlan, word.text.contains("/") || !word.text.hasSuffix(".toml") {
            // A client writes the plan, and the broker reads files with its own rights: only those of its folder.
            throw LineProblem(word, "a plan takes policies of the broker's folder by their name, such as desktop.toml")
        }
        do { return try loadPolicy("\(policies)/\(word.text)") } catch {
            guard Scenario.exists("\(policies)/\(word.text)") else {
                // The current folder is not one that a user chose.
                throw LineProblem(
                    word,
                    policies == "."
                        ? "there is no \(word.text) in this folder"
                        : "there is no \(word.text) in the folder “\(policies)”; --policies names another")
            }
            throw LineProblem(word, "the policy is not valid:\n\(error)")
        }
    }

    private mutating func defaultPolicy() -> Policy {
        do { return try loadPolicy("\(policies)/ios9.toml") } catch {
            report(LineProblem(column: 1, "no `policy` line, and ios9.toml is not valid:\n\(error)"), 1, "")
            return .firstCome
        }
    }

    private mutating func loadPolicy(_ path: String) throws(FileProblems) -> Policy {
        // A broker's own folder of drop-ins may be missing.
        let policy = try PolicyFile.load(path: path, dropIns: dropIns, dropInsRequired: false).policy
        if !policyFiles.contains(where: { $0.path == path }) {
            policyFiles.append(Scenario.NamedPolicy(path: path, policy: policy))
        }
        return policy
    }

    static let defaultCameras = [
        Scenario.Camera(id: CameraID("back"), capabilities: CameraText.usual(CameraID("back"), .back)),
        Scenario.Camera(id: CameraID("front"), capabilities: CameraText.usual(CameraID("front"), .front)),
    ]
}
