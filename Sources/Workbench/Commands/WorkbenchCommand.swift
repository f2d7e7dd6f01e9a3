package import ArgumentParser

/// The commands of `camclient` that need no broker. Its other commands, and the groups that have both, are its own.
package enum WorkbenchCommand {
    package typealias Command = any ParsableCommand.Type

    package static var test: Command { Test.self }
    package static var timeline: Command { TimelineCommand.self }
    package static var camera: Command { CameraCommand.self }
    package static var traceReplay: Command { TraceReplay.self }
    package static var traceConvert: Command { TraceConvert.self }
    package static var policyCheck: Command { PolicyCheck.self }
    package static var policyTest: Command { PolicyTest.self }
    package static var policyVerify: Command { PolicyVerify.self }
    package static var policyDiff: Command { PolicyDiff.self }
    package static var policyHash: Command { PolicyHashCommand.self }
    package static var policyReport: Command { PolicyReportCommand.self }
    package static var policyPlay: Command { PolicyPlay.self }
}
