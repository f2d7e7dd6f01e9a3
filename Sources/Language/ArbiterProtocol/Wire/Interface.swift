/// A D-Bus interface as data: dispatch, introspection, clients and documents all read this one table.
package struct Interface: Sendable {
    package var name: String
    package var summary: String
    package var methods: [Method]
    package var properties: [Property]
    private let makeSignals: @Sendable () -> [Signal]

    /// - Parameter signals: made anew for each reader: a broker dispatches by methods, and keeps no texts of its own signals.
    init(
        name: String, summary: String, methods: String = "",
        signals: @autoclosure @escaping @Sendable () -> [Signal] = [], properties: [Property] = []
    ) {
        (self.name, self.summary, self.properties) = (name, summary, properties)
        self.methods = Member.list(methods).map { Method($0) }
        makeSignals = signals
    }

    package var signals: [Signal] { makeSignals() }

    package struct Argument: Sendable {
        package var name: String
        /// A D-Bus signature of one complete type.
        package var type: String
        package init(_ name: String, _ type: String) { (self.name, self.type) = (name, type) }

        static func list(_ text: Substring) -> [Argument] {
            text.split(separator: ",").map { argument in
                let words = argument.split(separator: " ")
                precondition(words.count == 2, "An argument is a name and a type: \(text)")
                return Argument(String(words[0]), String(words[1]))
            }
        }
    }

    package struct Method: Sendable {
        package let name: String
        package let takes: [Argument]
        package let gives: [Argument]
        private let lines: [Substring]
        fileprivate init(_ member: Member) {
            (name, takes, gives, lines) = (member.name, member.takes, member.gives, member.lines)
        }
        package var summary: String { lines.joined(separator: " ") }
        package var signatureTaken: String { takes.map(\.type).joined() }
        package var signatureGiven: String { gives.map(\.type).joined() }
    }

    package struct Signal: Sendable {
        package let name: String
        package let carries: [Argument]
        package let summary: String
        package var signature: String { carries.map(\.type).joined() }
        package init(_ name: String, _ carries: [Argument], _ summary: String) {
            (self.name, self.carries, self.summary) = (name, carries, summary)
        }
        /// Read from the lines of `Member`.
        static func list(_ text: String) -> [Signal] {
            Member.list(text).map { Signal($0.name, $0.takes, $0.lines.joined(separator: " ")) }
        }
    }

    /// `Name(argument type, …) → argument type, …`, with its summary indented below it.
    fileprivate struct Member {
        let name: String
        let takes: [Argument]
        let gives: [Argument]
        var lines: [Substring] = []

        static func list(_ text: String) -> [Member] {
            text.utf8.split(separator: UInt8(ascii: "\n")).reduce(into: []) { members, line in
                if line.first == UInt8(ascii: " ") {
                    members[members.count - 1].lines.append(Substring(line.dropFirst(2)))
                } else {
                    members.append(Member(Substring(line)))
                }
            }
        }

        private init(_ line: Substring) {
            let parts = line.split(omittingEmptySubsequences: false) { $0 == "(" || $0 == ")" }
            precondition(parts.count == 3, "A member is a name with its arguments: \(line)")
            (name, takes) = (String(parts[0]), Argument.list(parts[1]))
            gives = Argument.list(parts[2].dropFirst(" → ".count))
        }
    }

    package struct Property: Sendable {
        package var name: String
        package var type: String
        package var changes: Change
        package var summary: String
        /// How `PropertiesChanged` announces a change, in the words of `EmitsChangedSignal`.
        package enum Change: String, Sendable {
            case never = "const"
            /// With its new value.
            case told = "true"
            /// Without a value, which clients read anew.
            case named = "invalidates"
        }
    }

    private static let emitsChanged = "org.freedesktop.DBus.Property.EmitsChangedSignal"

    package func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    package func signal(_ name: String) -> Signal? { signals.first { $0.name == name } }

    /// The first lines of a description, of an object or of an interface by itself.
    package static let introspectionHead = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node>

        """
    package static let introspectionEnd = "</node>\n"

    /// A file for `/usr/share/dbus-1/interfaces`.
    package var introspectionFile: String { Self.introspectionHead + introspectionXML + Self.introspectionEnd }

    /// The part of `Introspect` that is the same for every object with this interface, and of the file.
    package var introspectionXML: String {
        var xml = " <interface name=\"\(name)\">\n" + Self.words(summary, indent: "  ")
        for method in methods {
            xml += "  <method name=\"\(method.name)\">\n"
            xml += Self.arguments(method.takes, "in", says: true) + Self.arguments(method.gives, "out", says: true)
            xml += Self.words(method.summary)
            // GLib's generator needs it for descriptors.
            if (method.takes + method.gives).contains(where: { $0.type.contains("h") }) {
                xml += "   <annotation name=\"org.gtk.GDBus.C.UnixFD\" value=\"true\"/>\n"
            }
            xml += "  </method>\n"
        }
        for signal in signals {
            xml += "  <signal name=\"\(signal.name)\">\n"
            xml += Self.arguments(signal.carries, "out", says: false) + Self.words(signal.summary) + "  </signal>\n"
        }
        for property in properties {
            xml += "  <property name=\"\(property.name)\" type=\"\(property.type)\" access=\"read\">\n"
            // On each property, since busctl passes over that of the interface.
            xml += "   <annotation name=\"\(Self.emitsChanged)\" value=\"\(property.changes.rawValue)\"/>\n"
            xml += Self.qtType(of: property.type, "") + Self.words(property.summary) + "  </property>\n"
        }
        return xml + " </interface>\n"
    }

    /// A sentence as GLib's generator reads it.
    private static func words(_ summary: String, indent: String = "   ") -> String {
        let escaped = summary.reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(character)
            }
        }
        return "\(indent)<annotation name=\"org.gtk.GDBus.DocString\" value=\"\(escaped)\"/>\n"
    }

    private static func arguments(_ arguments: [Argument], _ direction: String, says: Bool) -> String {
        var xml = ""
        for (index, argument) in arguments.enumerated() {
            let type = qtType(of: argument.type, ".\(direction == "in" ? "In" : "Out")\(index)")
            xml +=
                "   <arg name=\"\(argument.name)\" type=\"\(argument.type)\"\(says ? " direction=\"\(direction)\"" : "")/>\n"
                + type
        }
        return xml
    }

    /// The types that Qt's generator needs a name for.
    private static let qtTypes = [
        "a{sv}": "QVariantMap", "aa{sv}": "QList&lt;QVariantMap&gt;", "at": "QList&lt;qulonglong&gt;",
        "ah": "QList&lt;QDBusUnixFileDescriptor&gt;",
    ]

    private static func qtType(of type: String, _ place: String) -> String {
        guard let name = qtTypes[type] else { return "" }
        return "   <annotation name=\"org.qtproject.QtDBus.QtTypeName\(place)\" value=\"\(name)\"/>\n"
    }
}

extension Interface {
    package static let publicInterfaces: [Interface] = [broker, camera, session, shell]
}
