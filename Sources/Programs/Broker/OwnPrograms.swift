import Glibc
import System

enum OwnPrograms {
    /// Where a program of ours is: beside this one, or where a package puts it, below this one's prefix or /usr.
    static func path(_ name: String) -> String {
        let own = OwnProcess.program
        if let slash = own.lastIndex(of: "/") {
            let folder = String(own[...slash])
            for place in ["", "../libexec/camarb/"] where access(folder + place + name, X_OK) == 0 {
                return folder + place + name
            }
        }
        return "/usr/libexec/camarb/" + name
    }
}
