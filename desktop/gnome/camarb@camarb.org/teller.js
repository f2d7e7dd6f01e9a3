// Follows GNOME Shell's windows, and tells the broker over its own socket (docs/wire.md, "Telling the broker about a
// desktop").
//
//     waiting ──time──▶ connecting ──there──▶ telling ──ended──▶ waiting, longer each time up to a bound
//
// Nothing here waits for the broker: calls go out, and answers come back to GNOME Shell's loop. It decides nothing, and
// keeps nothing that it could not see anew.
/* exported Teller */
'use strict';

const {Gio, GLib} = imports.gi;

const SHELL = ['/org/camarb/Shell1', 'org.camarb.Shell1'];
// From a change to the look at it: a change of focus is several events, with nobody focused between them.
const SETTLE_MS = 50;
// A broker that starts is there within a second; a machine without one is asked twice a minute.
const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 30000;
// Before it asks again to speak for the user where somebody else does.
const SILENCE_MS = 10000;

var Teller = class Teller {
    // `source` is what the status calls this; `Processes` and `placements` are the other files'.
    constructor(source, {Processes, placements}) {
        this._source = source;
        this._Processes = Processes;
        this._placements = placements;
        this._user = new Gio.Credentials().get_unix_user();
        this._handlers = [];
        this._timers = new Map();
        this._retry = RETRY_FIRST_MS;
    }

    start() {
        this._cancellable = new Gio.Cancellable();
        const change = () => this._later('look', SETTLE_MS, () => this._look());
        const display = global.display;
        this._follow(display, ['notify::focus-window', 'restacked', 'in-fullscreen-changed'], change);
        this._follow(global.workspace_manager, ['active-workspace-changed'], change);
        const followWindow = window => {
            this._follow(window, ['notify::minimized', 'workspace-changed', 'size-changed'], change);
            this._handlers.push([window, window.connect('unmanaged', () => {
                this._handlers = this._handlers.filter(([thing]) => thing !== window);
                change();
            })]);
        };
        this._handlers.push([display, display.connect('window-created', (_, window) => {
            followWindow(window);
            change();
        })]);
        this._windows().forEach(followWindow);
        this._connect();
    }

    stop() {
        this._cancellable.cancel();
        for (const [thing, handler] of this._handlers)
            thing.disconnect(handler);
        this._handlers = [];
        for (const name of [...this._timers.keys()])
            this._forget(name);
        this._leave();
    }

    // What is told of a later connection is nobody's to a former one.
    _leave() {
        const connection = this._connection;
        this._connection = this._told = null;
        this._isBusy = false;
        this._clients = [];
        if (connection) {
            connection.disconnect(this._closed);
            connection.close(null, null);
        }
    }

    _follow(thing, signals, handler) {
        for (const signal of signals)
            this._handlers.push([thing, thing.connect(signal, handler)]);
    }

    _windows() {
        return global.get_window_actors().map(actor => actor.meta_window);
    }

    // One that runs already comes soon enough.
    _later(name, milliseconds, work) {
        if (this._timers.has(name))
            return;
        this._timers.set(name, GLib.timeout_add(GLib.PRIORITY_DEFAULT, milliseconds, () => {
            this._timers.delete(name);
            work();
            return GLib.SOURCE_REMOVE;
        }));
    }

    _forget(name) {
        if (this._timers.has(name))
            GLib.source_remove(this._timers.get(name));
        this._timers.delete(name);
    }

    // Where clients look, and in their order.
    _addresses() {
        const own = GLib.getenv('CAMARB_SOCKET');
        const paths = own ? [own] : [`${GLib.get_user_runtime_dir()}/camarb/socket`, '/run/camarb/socket'];
        return paths.map(path => `unix:path=${Gio.dbus_address_escape_value(path)}`);
    }

    _connect(addresses = this._addresses()) {
        const [address, ...others] = addresses;
        const cancellable = this._cancellable;
        Gio.DBusConnection.new_for_address(
            address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, null, cancellable, (_, result) => {
                let connection = null;
                try {
                    connection = Gio.DBusConnection.new_for_address_finish(result);
                } catch (error) {
                    if (cancellable.is_cancelled())
                        return;
                    if (others.length > 0)
                        this._connect(others);
                    else
                        this._lost();
                    return;
                }
                if (cancellable.is_cancelled())
                    connection.close(null, null);
                else
                    this._connected(connection);
            });
    }

    _connected(connection) {
        this._connection = connection;
        this._retry = RETRY_FIRST_MS;
        this._closed = connection.connect('closed', () => this._lost());
        connection.signal_subscribe(
            null, SHELL[1], null, SHELL[0], null, Gio.DBusSignalFlags.NONE, (...[, , , , signal]) => {
                if (this._connection !== connection)
                    return;
                if (signal === 'ClientsChanged')
                    this._ask();
                else if (signal === 'Displaced')
                    this._beSilent();
            });
        this._ask();
    }

    _lost() {
        this._leave();
        this._later('connect', this._retry, () => this._connect());
        this._retry = Math.min(this._retry * 2, RETRY_LONGEST_MS);
    }

    // Somebody else speaks for the user: asks again in a while, and says everything then.
    _beSilent() {
        this._told = null;
        this._later('silence', SILENCE_MS, () => this._look());
    }

    _call(method, parameters, type, done) {
        const connection = this._connection;
        connection.call(
            null, ...SHELL, method, parameters, type && new GLib.VariantType(type), Gio.DBusCallFlags.NONE, -1,
            this._cancellable, (_, result) => {
                let answer = null, refusal = null;
                try {
                    answer = connection.call_finish(result);
                } catch (error) {
                    refusal = error;
                }
                if (this._connection === connection)
                    done(answer, refusal);
            });
    }

    _ask() {
        this._call('ListClients', null, '(aa{sv})', answer => {
            if (answer)
                [this._clients] = answer.recursiveUnpack();
            this._look();
        });
    }

    // Puts together what is seen, and tells what the broker does not know yet.
    _look() {
        // One batch of statements is on its way at a time; what is seen meanwhile goes with the next.
        if (!this._connection || this._isBusy || this._timers.has('silence'))
            return;
        const seen = this._placements(
            this._windows(), global.workspace_manager.get_active_workspace(), global.display.focus_window, this._clients,
            new this._Processes());
        const statements = this._told ? this._changes(seen) : this._everything(seen);
        this._told = seen;
        this._say(statements);
    }

    // With its user: without it the broker may take the name for another user's app.
    _name(app) {
        return `${app}@${this._user}`;
    }

    _everything(seen) {
        const apps = [...seen].map(([app, {presence, focused}]) => ({
            app: new GLib.Variant('s', this._name(app)), presence: new GLib.Variant('s', presence),
            focused: new GLib.Variant('b', focused),
        }));
        return [
            ['AttachPlacing', new GLib.Variant('(saa{sv})', ['shell', apps])],
            ['DescribeSource', new GLib.Variant('(s)', [this._source])],
        ];
    }

    // An app that steps back comes first and the focused one last, so that no moment shows two in front where there
    // never were two.
    _changes(seen) {
        const gone = [...this._told.keys()].filter(app => !seen.has(app))
            .map(app => [app, {presence: 'background', focused: false}]);
        const order = ({presence, focused}) => focused ? 3 : {background: 0, split: 1, fullscreen: 2}[presence];
        const isNew = (app, place) => {
            const before = this._told.get(app) ?? {presence: 'background', focused: false};
            return before.presence !== place.presence || before.focused !== place.focused;
        };
        return [...gone, ...seen].filter(([app, place]) => isNew(app, place))
            .sort(([, a], [, b]) => order(a) - order(b))
            .map(([app, {presence, focused}]) =>
                ['PlaceApp', new GLib.Variant('(ssb)', [this._name(app), presence, focused])]);
    }

    _say([statement, ...others]) {
        this._isBusy = Boolean(statement);
        if (!statement)
            return;
        this._call(...statement, null, (_, refusal) => {
            if (refusal && Gio.DBusError.is_remote_error(refusal)) {
                this._isBusy = false;
                this._noteRefusal(refusal);
                return this._beSilent();
            }
            this._say(others);
            if (others.length === 0)
                this._look();
        });
    }

    // The same refusal again is no news.
    _noteRefusal(refusal) {
        Gio.DBusError.strip_remote_error(refusal);
        if (this._refusal !== refusal.message)
            log(`camarb: the broker refused: ${refusal.message}`);
        this._refusal = refusal.message;
    }
};
