import CLinux
import Glibc

/// Our other programs.
enum OwnPrograms {
    /// Where a program of ours is: beside this one, or where a package puts it, below this one's prefix or /usr.
    static func path(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = camarb_own_program(&buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let slash = own.lastIndex(of: "/") {
            let folder = String(own[...slash])
            for place in ["", "../libexec/camarb/"] where access(folder + place + name, X_OK) == 0 {
                return folder + place + name
            }
        }
        return "/usr/libexec/camarb/" + name
    }
}
