/// The folder of a user's for what programs keep (XDG base directories).
package enum StateFolder {
    /// `camarb` in the user's folder; `nil`: the user has none.
    package static var ofUser: String? {
        func path(_ variable: String) -> String? { environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return (path("XDG_STATE_HOME") ?? path("HOME").map { "\($0)/.local/state" }).map { "\($0)/camarb" }
    }
}
