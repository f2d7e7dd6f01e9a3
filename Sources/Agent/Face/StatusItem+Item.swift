import ArbiterProtocol
import Bus
import DesktopFacts

/// What the panel asks the item, and what both of its objects have in common.
extension StatusItem {
    static let itemInterface = "org.kde.StatusNotifierItem"
    static let menuInterface = "com.canonical.dbusmenu"
    private static let properties = "org.freedesktop.DBus.Properties"

    func answer(_ call: BusMessage) throws(BrokerError) {
        let (path, interface) = (call.path, call.interface)
        guard path == Self.itemPath || path == Self.menuPath else {
            throw BrokerError(
                .unknownObject, "There is no object \(path.quotedShort), only \(Self.itemPath) and \(Self.menuPath).")
        }
        switch interface {
        case Self.properties: try answerProperties(call, isMenu: path == Self.menuPath)
        case "org.freedesktop.DBus.Introspectable":
            call.answer([.string(path == Self.menuPath ? Self.menuDescription : Self.itemDescription)])
        case Self.itemInterface where path == Self.itemPath: try answerItem(call)
        case Self.menuInterface where path == Self.menuPath: try answerMenu(call)
        default:
            throw BrokerError(.unknownInterface, "\(path) has no interface \(interface.quotedShort).")
        }
    }

    /// All that a click on the icon could be said to mean is in the menu, which the panel shows itself.
    private func answerItem(_ call: BusMessage) throws(BrokerError) {
        switch call.member {
        case "Activate", "SecondaryActivate", "ContextMenu", "Scroll", "ProvideXdgActivationToken": call.answer()
        default: throw Self.unknown(call)
        }
    }

    static func unknown(_ call: BusMessage) -> BrokerError {
        BrokerError(.unknownMethod, "\(call.interface) has no method \(call.member.quotedShort).")
    }

    // MARK: Properties

    private func answerProperties(_ call: BusMessage, isMenu: Bool) throws(BrokerError) {
        let own = isMenu ? Self.menuInterface : Self.itemInterface
        let names = isMenu ? Self.menuProperties : Self.itemProperties
        func require(_ interface: String) throws(BrokerError) {
            // Some ask for the properties of all interfaces.
            guard interface == own || interface.isEmpty else {
                throw BrokerError(.unknownInterface, "\(interface.quotedShort) is none of this object's; \(own) is.")
            }
        }
        switch (call.member, call.signature) {
        case ("Get", "ss"):
            try require(try call.readString())
            let name = try call.readString()
            guard let property = names.first(where: { $0.name == name }) else {
                throw BrokerError(.unknownProperty, "\(own) has no property \(name.quotedShort).")
            }
            guard let answer = call.makeAnswer() else { return }
            append(property, isMenu, to: answer)
            answer.send()
        case ("GetAll", "s"):
            try require(try call.readString())
            guard let answer = call.makeAnswer() else { return }
            answer.container("a", "{sv}") {
                for property in names {
                    answer.container("e", "sv") {
                        answer.append(property.name)
                        append(property, isMenu, to: answer)
                    }
                }
            }
            answer.send()
        case ("Set", _): throw BrokerError(.propertyReadOnly, "Nothing of \(own) can be set.")
        default: throw Self.unknown(call)
        }
    }

    typealias Property = (name: String, type: String)

    static let itemProperties: [Property] = [
        ("Category", "s"), ("Id", "s"), ("Title", "s"), ("Status", "s"), ("WindowId", "i"), ("IconThemePath", "s"),
        ("Menu", "o"), ("ItemIsMenu", "b"), ("IconName", "s"), ("IconPixmap", "a(iiay)"), ("OverlayIconName", "s"),
        ("OverlayIconPixmap", "a(iiay)"), ("AttentionIconName", "s"), ("AttentionIconPixmap", "a(iiay)"),
        ("AttentionMovieName", "s"), ("ToolTip", "(sa(iiay)ss)"),
    ]

    static let menuProperties: [Property] = [
        ("Version", "u"), ("TextDirection", "s"), ("Status", "s"), ("IconThemePath", "as"),
    ]

    /// Appends the value as a variant.
    private func append(_ property: Property, _ isMenu: Bool, to message: BusMessage) {
        message.container("v", property.type) {
            switch property.name {
            case "Category": message.append("Hardware")
            case "Id": message.append("camarb")
            case "Title": message.append(indicator?.title ?? "")
            case "Status": message.append(isMenu ? "normal" : "Active")
            case "WindowId": message.append(Int32(0))
            case "Menu": message.append(objectPath: Self.menuPath)
            case "ItemIsMenu": message.append(true)
            case "IconName": message.append(indicator?.icon ?? "")
            case "ToolTip": appendToolTip(to: message)
            case "Version": message.append(UInt32(3))
            case "TextDirection": message.append("ltr")
            default: Self.appendNothing(of: property.type, to: message)
            }
        }
    }

    /// Empty: icons by their names are all there are.
    private static func appendNothing(of type: String, to message: BusMessage) {
        switch type {
        case "s": message.append("")
        case "as": message.append([String]())
        default: message.container("a", "(iiay)") {}
        }
    }

    private func appendToolTip(to message: BusMessage) {
        message.container("r", "sa(iiay)ss") {
            message.append(indicator?.icon ?? "")
            message.container("a", "(iiay)") {}
            message.append(indicator?.title ?? "")
            message.append(indicator?.tooltip ?? "")
        }
    }
}
