import CLinux
import Glibc
import TomlFile

/// Where cameras' files lie. The first folder that has a name counts: an administrator's own camera covers a shipped one.
public enum CameraPlaces {
    /// - `$CAMARB_CAMERAS`, for who tries a camera out,
    /// - `/etc/camarb/cameras`,
    /// - `share/camarb/cameras` of the prefix that this program is installed in, and `/usr/share/camarb/cameras`,
    /// - `cameras` of the source tree that this program was built in.
    public static var folders: [String] {
        var folders = [String]()
        if let own = getenv("CAMARB_CAMERAS") { folders.append(String(cString: own)) }
        folders.append("/etc/camarb/cameras")
        let parts = (program ?? "").split(separator: "/").map(String.init)
        for below in ["bin", "libexec", "sbin", "lib"] {
            if let place = parts.lastIndex(of: below) {
                folders.append("/" + (parts[..<place] + ["share", "camarb", "cameras"]).joined(separator: "/"))
            }
        }
        folders.append("/usr/share/camarb/cameras")
        if let place = parts.firstIndex(where: { $0.hasPrefix(".build") }) {
            folders.append("/" + (parts[..<place] + ["cameras"]).joined(separator: "/"))
        }
        return folders
    }

    /// The file of a camera: a path as it stands, or the name of a file without its ending. Nil where there is none.
    public static func path(of model: String) -> String? {
        if model.hasPrefix("/") { return access(model, R_OK) == 0 ? model : nil }
        return folders.lazy.map { "\($0)/\(model).toml" }.first { access($0, R_OK) == 0 }
    }

    /// The names of all cameras in all places, sorted, each once.
    public static var names: [String] {
        var names: Set<String> = []
        for folder in folders { names.formUnion(self.names(in: folder)) }
        return names.sorted()
    }

    /// A folder that cannot be read has none: whoever asks for one of its cameras by name hears so.
    private static func names(in folder: String) -> [String] {
        let files = (try? RegularFile.dropIns(folder)) ?? nil
        return (files ?? []).map { String($0.dropLast(".toml".count)) }
    }

    private static var program: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = camarb_own_program(&buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }
}
