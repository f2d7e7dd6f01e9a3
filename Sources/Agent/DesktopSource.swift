package import DesktopFacts

/// Whatever knows the windows of this user's desktop, and follows them on the loop. It looks again by itself for what went
/// away.
package protocol DesktopSource: AnyObject {
    /// Nil while the windows are not known; `trouble` then says why.
    var desktop: Desktop? { get }
    var trouble: String? { get }
    /// What it is, for people: `X11 display :0`.
    var name: String { get }
    func open()
}

extension DesktopSource {
    /// It is known, or known why not.
    package var isSettled: Bool { desktop != nil || trouble != nil }
}
