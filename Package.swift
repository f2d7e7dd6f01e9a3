// swift-tools-version: 6.2
import PackageDescription

// Set by Tests/fuzz/run, which builds into a folder of its own: all code then counts its edges, with one more program.
let isForFuzzing = Context.environment["CAMARB_FUZZ"] == "1"

// Set by Tests/threads/run, for ThreadSanitizer: only targets with threads are built, and the Swift runtime is linked
// dynamically, since the sanitizer's is a library of its own.
let isForThreads = Context.environment["CAMARB_THREADS"] == "1"
let withoutThreads: Set<String> = [
    "Agent", "AgentTests", "CEdit", "CPipeWire", "camagent",
    "Workbench", "WorkbenchCommands", "PlayServing", "camclient", "camplay",
    "Campaigns", "ReferenceArbiter", "explore", "FuzzTargets", "FuzzTargetsTests",
    "arbiter-bench", "ArbiterTests", "MetricsTests", "ExplainTests", "PolicyFileTests", "ScenarioTests",
    "ExplorationTests", "TraceTests", "TimelineTests", "VideoNodesTests", "MachineLoadTests", "DesktopFactsTests",
    "DaemonSimulation", "simulate",
]
/// A program with the Swift runtime in itself, for a linker.
let standingAlone = isForThreads ? [] : ["-static-stdlib"]
/// The linker's options for a program that a package installs. All names are bound at the start and their table is read-only
/// from then on, which costs no time (performance: "process").
let linkedForPackage = standingAlone + ["-Xlinker", "-z", "-Xlinker", "now"]

// Every Swift target: Swift 6 mode (strict concurrency), warnings are errors, and a file may only
// use what it imports itself (the explicit-import check of docs/style.md).
let strict: [SwiftSetting] =
    [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (isForFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])

/// The floors of Sources, each of which imports only what is below it (docs/architecture.md), and Proof beside them.
let core = "Sources/Core/"
let language = "Sources/Language/"
let edge = "Sources/Edge/"
let cEdge = "Sources/Edge/C/"
let programs = "Sources/Programs/"
let proof = "Proof/"

/// - Parameter files: in the target's folder; they become part of its code.
func library(
    _ name: String, in floor: String, _ dependencies: [Target.Dependency] = [], embedding files: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: floor + name, resources: files.map { .embedInCode($0) },
        swiftSettings: strict)
}

/// A program that no package installs.
func program(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: proof + name, swiftSettings: strict)
}

/// A program that a package installs: it carries the Swift runtime in itself, because no Debian has one. Only a root
/// package may say so, and this one always is.
func installed(
    _ name: String, _ dependencies: [Target.Dependency] = [], linking libraries: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: programs + name, swiftSettings: strict,
        // No program looks up its symbols by name: exported, they would keep all code that nothing calls.
        linkerSettings: [
            .unsafeFlags(linkedForPackage + ["-Xlinker", "--no-export-dynamic"] + libraries.map { "-l" + $0 })
        ])
}

/// A program in C: Swift's driver links it, without Swift's libraries, which no user's machine has.
func installedInC(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["CLinux"], path: programs + name,
        linkerSettings: [
            .unsafeFlags(
                linkedForPackage + (isForThreads ? [] : ["-nostartfiles"]) + ["-Xlinker", "--as-needed"])
        ])
}

/// Unoptimized tests of optimized code compile in half the time. Tests that search themselves, or make pictures, are
/// `optimized`.
func tests(_ name: String, _ dependencies: [Target.Dependency], optimized: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: dependencies,
        swiftSettings: strict + (optimized ? [] : [.unsafeFlags(["-Onone"])]))
}

/// Swift's package manager knows no libFuzzer: its flags are given by hand, and lld because gold knows none of their sections.
let fuzzer: [Target] = [
    .target(name: "CFuzzer", path: proof + "CFuzzer"),
    .executableTarget(
        name: "fuzzer", dependencies: ["FuzzTargets", "CFuzzer"], path: proof + "fuzzer", swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
]

let package = Package(
    name: "camarb",
    products: [
        // The one library that an app imports.
        .library(name: "Camarb", targets: ["Camarb"]),
        .library(name: "Arbiter", targets: ["Arbiter"]),
    ],
    dependencies: [
        // Only camclient and its commands use it: the daemons stay free of Foundation (architecture: "Threads").
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only camplay uses it, which serves one page to one browser.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: ([
        // ── Core: what is decided, as values. No C, no clock, no I/O.

        // The terms of everything else, with the check of configurations: it imports nothing.
        // An optimized build calls libm's `trunc`, and nothing else here brings libm along.
        .target(
            name: "Vocabulary", path: core + "Vocabulary", swiftSettings: strict,
            linkerSettings: [.linkedLibrary("m")]),
        library("Arbiter", in: core, ["Vocabulary"]),
        // Explains decisions: it replays the last events, and the core does not import it.
        library("Explain", in: core, ["Arbiter", "Vocabulary"]),

        // ── Language: what people and programs write and read about the core.

        // The wire, and its values as text. It exports the vocabulary.
        library("ArbiterProtocol", in: language, ["Vocabulary"]),
        // TOML that people write, read with the place of each value, so that every problem has its line and its hint.
        library("TomlFile", in: language, ["Vocabulary", "CToml"]),
        library("PolicyFile", in: language, ["Arbiter", "ArbiterProtocol", "Vocabulary", "CLinux", "TomlFile"]),
        // The names of all events, in one table, and the languages on it: scenarios and traces.
        library("Scenario", in: language, ["Arbiter", "ArbiterProtocol", "Explain", "PolicyFile", "TomlFile"]),

        // ── Workbench: policies walked, and shown to people.
        .target(
            name: "Workbench",
            dependencies: ["Arbiter", "ArbiterProtocol", "Explain", "PolicyFile", "Scenario", "TomlFile"],
            path: "Sources/Workbench", exclude: ["Commands"],
            resources: ["Page/page.css", "Page/report.js", "Page/play.js"].map { .embedInCode($0) },
            swiftSettings: strict),

        // The commands of camclient that need no broker, and how all of its commands write and fail.
        .target(
            name: "WorkbenchCommands",
            dependencies: [
                "Arbiter", "ArbiterProtocol", "Explain", "PolicyFile", "Scenario", "System", "TomlFile", "Workbench",
                "CLinux", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Workbench/Commands", swiftSettings: strict),

        // ── Edge: the machine, and what Swift cannot import of C.
        .target(name: "CLinux", path: cEdge + "CLinux"),
        .target(name: "CEdit", path: cEdge + "CEdit", linkerSettings: [.linkedLibrary("edit")]),
        .target(name: "CSystemd", path: cEdge + "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CToml", path: cEdge + "CToml"),
        .target(
            name: "CMedia", path: cEdge + "CMedia",
            linkerSettings: ["avformat", "avcodec", "swscale", "swresample", "avutil", "v4lconvert", "turbojpeg"].map {
                .linkedLibrary($0)
            }),
        .target(
            name: "CXCB", path: cEdge + "CXCB",
            cSettings: isForFuzzing ? [.unsafeFlags(["-fsanitize=fuzzer-no-link"])] : [],
            linkerSettings: [.linkedLibrary("xcb"), .linkedLibrary("xcb-res")]),
        // The client library in C, of which Camarb is Swift's face; CPipeWire draws its slates.
        .target(
            name: "CCamarb", path: "clients/libcamarb",
            exclude: ["tests", "camarb.map", "camarb.pc.in", "slate-font"], publicHeadersPath: ".",
            // Only C programs ask the shared library for its version.
            cSettings: [.define("CAMARB_VERSION", to: "\"\"")], linkerSettings: [.linkedLibrary("systemd")]),
        // Headers alone: the library is opened at run time, where it is there.
        .target(
            name: "CPipeWire", dependencies: ["CCamarb"], path: cEdge + "CPipeWire",
            cSettings: [
                .unsafeFlags(["-isystem", "/usr/include/pipewire-0.3", "-isystem", "/usr/include/spa-0.2"])
            ]),
        // One thread's loop, the machine around it, and who an app is.
        library("System", in: edge, ["Vocabulary", "CSystemd", "CLinux"]),
        library("Bus", in: edge, ["System", "ArbiterProtocol", "CSystemd", "CLinux"]),
        library("FrameStream", in: edge, ["ArbiterProtocol", "CLinux"]),

        // ── Programs: thin; everything testable is in a library.
        library(
            "Broker", in: programs,
            [
                "Arbiter", "ArbiterProtocol", "Vocabulary", "Explain", "PolicyFile", "Scenario", "TomlFile", "Bus",
                "System", "CLinux",
            ]),
        library(
            "RecorderCore", in: programs,
            ["ArbiterProtocol", "FrameStream", "PolicyFile", "System", "CMedia", "CLinux"]),
        // The client library: everything that an app needs.
        library("Camarb", in: programs, ["ArbiterProtocol", "Bus", "System", "CCamarb", "CLinux"]),
        library(
            "Agent", in: programs,
            ["ArbiterProtocol", "Bus", "Camarb", "FrameStream", "System", "CXCB", "CPipeWire"]),
        // The page of `camclient policy play`, answered to a browser as somebody types.
        library(
            "PlayServing", in: programs,
            [
                "ArbiterProtocol", "TomlFile",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        // The daemon carries the Swift runtime in itself: half the memory and half the time to start
        // (performance: "process").
        installed("camarbd", ["Broker", "System"]),
        // Takes and closes clients' descriptors in camarbd's place: in C, since it may run a dozen times.
        installedInC("camkeeper"),
        // Each user runs one, all the time: small for the same reasons.
        installed("camagent", ["Agent", "System"]),
        installed("camrecorder", ["RecorderCore", "ArbiterProtocol", "PolicyFile", "Bus", "System", "CLinux"]),
        // Writes one file for a recorder core, in C: it is started for each photo.
        installedInC("camwriter"),
        installed(
            "camclient",
            [
                "ArbiterProtocol", "Camarb", "Explain", "FrameStream", "PolicyFile", "Scenario", "System", "TomlFile",
                "Workbench", "WorkbenchCommands", "CEdit", "CLinux", "CPipeWire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            // swift-argument-parser uses a few calls of FoundationEssentials, and this is what it stands on when it is linked
            // statically: nothing else names them to the linker. Never Foundation itself: ICU comes along, 40 MB.
            linking: ["FoundationEssentials", "_FoundationCollections", "_FoundationCShims", "stdc++"]),
        // Serves the page of `camclient policy play`, on the loopback: a program of its own, so that camclient has no server in it.
        installed(
            "camplay",
            [
                "ArbiterProtocol", "PlayServing", "TomlFile", "Workbench",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),

        // ── Proof: programs and libraries that no user runs. Nothing in Sources imports it.
        library("ReferenceArbiter", in: proof, ["ArbiterProtocol"]),
        // Random policies and stories, judged; and worlds that are walked to prove something about the core.
        library(
            "Campaigns", in: proof,
            ["Arbiter", "ArbiterProtocol", "Explain", "PolicyFile", "ReferenceArbiter", "Scenario", "Workbench"]),
        // Walks and simulates from the command line: planted bugs are built and run against it.
        program("explore", ["Arbiter", "ArbiterProtocol", "Campaigns", "PolicyFile", "Scenario", "Workbench"]),
        // camarbd as a whole in simulated time.
        library(
            "DaemonSimulation", in: proof,
            ["ArbiterProtocol", "Broker", "Bus", "Camarb", "PolicyFile", "System", "Workbench"]),
        program("simulate", ["DaemonSimulation", "System"]),
        // The readers of bytes from outside, with the properties that hold for them.
        library(
            "FuzzTargets", in: proof,
            [
                "Agent", "Arbiter", "ArbiterProtocol", "Broker", "Bus", "Explain", "FrameStream", "PlayServing",
                "PolicyFile", "RecorderCore", "Scenario", "System", "TomlFile", "Workbench", "CLinux", "CMedia",
                "CSystemd",
                "CXCB",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // How fine a camera sees, of the chart that a simulated one looks at.
        library("Resolution", in: proof, ["RecorderCore"]),
        // A second recorder core that speaks `.Recorder1`.
        program("tinyrecorder", ["ArbiterProtocol", "Bus", "FrameStream", "System", "CLinux"]),
        // The in-process half of `make bench`.
        program("arbiter-bench", ["Arbiter", "ArbiterProtocol", "Explain", "PolicyFile"]),
        // The recordings of `make bench`: what noisy footage becomes, and what a picture costs.
        program(
            "recording-bench",
            ["ArbiterProtocol", "CLinux", "CMedia", "FrameStream", "RecorderCore", "RecordingFootage"]),
        // Footage that is the same on every run, for it and for tests.
        .target(
            name: "RecordingFootage", dependencies: ["FrameStream"], path: "Tests/RecordingFootage",
            swiftSettings: strict),

        // ── Tests
        tests("ArbiterProtocolTests", ["ArbiterProtocol"]),
        tests(
            "ArbiterTests",
            ["Arbiter", "ArbiterProtocol", "CaptureTesting", "Explain", "PolicyFile", "Scenario"]),
        tests("MetricsTests", ["ArbiterProtocol", "Broker", "Arbiter"]),
        tests("ExplainTests", ["Explain", "Arbiter", "Vocabulary"]),
        // The rules of docs/capture.md a second time, independent of the check that it is compared with.
        .target(
            name: "CaptureTesting", dependencies: ["ArbiterProtocol"], path: "Tests/CaptureTesting",
            swiftSettings: strict),
        tests("CaptureModelTests", ["CaptureTesting", "ArbiterProtocol", "PolicyFile"]),
        tests("CameraFileTests", ["PolicyFile", "ArbiterProtocol", "TomlFile"]),
        tests(
            "PolicyFileTests", ["PolicyFile", "Arbiter", "ArbiterProtocol", "Campaigns", "TomlFile"]),
        tests("ScenarioTests", ["Scenario", "Arbiter", "ArbiterProtocol", "Explain", "PolicyFile"]),
        tests(
            "ExplorationTests",
            [
                "Arbiter", "ArbiterProtocol", "Campaigns", "Explain", "PolicyFile", "ReferenceArbiter", "Scenario",
                "Workbench",
            ],
            optimized: true),
        tests(
            "TraceTests",
            ["Arbiter", "ArbiterProtocol", "Campaigns", "Explain", "PolicyFile", "Scenario", "Workbench"]),
        tests("TimelineTests", ["Workbench", "ArbiterProtocol"]),
        tests("DesktopFactsTests", ["Agent", "ArbiterProtocol"]),
        tests("CamarbTests", ["Camarb", "BusTesting", "ArbiterProtocol", "Bus", "FrameStream", "System", "CLinux"]),
        // Waiting for loops and connections in tests.
        .target(
            name: "BusTesting", dependencies: ["ArbiterProtocol", "Bus", "System", "CLinux"], path: "Tests/BusTesting",
            swiftSettings: strict
        ),
        tests("LoopTests", ["System", "BusTesting", "CLinux"]),
        tests(
            "AgentTests",
            ["Agent", "ArbiterProtocol", "BusTesting", "Camarb", "CLinux", "CPipeWire", "FrameStream", "System"]),
        tests("BusTests", ["Bus", "System", "BusTesting", "ArbiterProtocol", "CLinux"]),
        tests("IdentityTests", ["System", "BusTesting", "CLinux"]),
        tests("MachineTests", ["System", "Bus", "BusTesting", "ArbiterProtocol"]),
        tests("VideoNodesTests", ["System"]),
        tests("FuzzTargetsTests", ["FuzzTargets"]),
        tests("MachineLoadTests", ["System", "Vocabulary"]),
        tests(
            "RecorderCoreTests",
            [
                "RecorderCore", "Resolution", "FrameStream", "ArbiterProtocol", "PolicyFile", "Bus", "System",
                "RecordingFootage", "CMedia", "CLinux",
            ],
            optimized: true),
        tests(
            "BrokerTests",
            [
                "Broker", "Arbiter", "ArbiterProtocol", "Explain", "PolicyFile", "Bus", "BusTesting", "Camarb",
                "FrameStream", "System", "CLinux",
            ]),
    ] + (isForFuzzing ? fuzzer : [])).filter { !isForThreads || !withoutThreads.contains($0.name) },
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// Set by make/compile: these programs and what they need, so that one build makes them all. The package manager takes no list.
if let names = Context.environment["CAMARB_ONLY"] {
    var wanted = Set(names.split(separator: " ").map(String.init))
    var before = 0
    while before < wanted.count {
        before = wanted.count
        for target in package.targets where wanted.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { wanted.insert(name) }
        }
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    // Nor is SwiftNIO fetched, the last of them, where nothing uses it.
    if !wanted.contains("PlayServing") { package.dependencies.removeLast() }
}
