// Where windows put apps, as Sources/Programs/Agent/Facts/Desktop.swift and UserFacts.swift have it.
/* exported placements, PLACED_MAX */
'use strict';

const {Meta} = imports.gi;

// The broker takes no more at once.
var PLACED_MAX = 1024;

const BACKGROUND = {presence: 'background', focused: false};

function strength(place) {
    return place.focused ? 3 : {background: 0, split: 1, fullscreen: 2}[place.presence];
}

function stronger(a, b) {
    return !a || strength(b) > strength(a) ? b : a;
}

function isApplication(window) {
    return [Meta.WindowType.NORMAL, Meta.WindowType.DIALOG, Meta.WindowType.MODAL_DIALOG, Meta.WindowType.UTILITY]
        .includes(window.get_window_type()) && !window.is_override_redirect();
}

// The user can see it, unless another window lies before it.
function isShown(window, workspace) {
    return !window.minimized && window.showing_on_its_workspace() && window.located_on_workspace(workspace);
}

function place(window, above, workspace, focus) {
    if (!isShown(window, workspace))
        return BACKGROUND;
    const focused = window === focus;
    const frame = window.get_frame_rect();
    const isCovered = above.some(one => one.is_fullscreen() && isShown(one, workspace) &&
        one.get_frame_rect().contains_rect(frame));
    // The user works with it: then it is seen, whatever the stack says for a moment.
    if (isCovered && !focused)
        return BACKGROUND;
    return {presence: window.is_fullscreen() ? 'fullscreen' : 'split', focused};
}

// Each app by its name, with where it is. `windows` are from the bottom of the stack to its top; `clients` are the broker's:
// their process and what it calls them.
function placements(windows, workspace, focus, clients, processes) {
    const applications = windows.filter(isApplication);
    const owners = new Map();
    let focusOwner = null;
    applications.forEach((window, index) => {
        const pid = window.get_pid();
        if (pid <= 0)
            return;
        owners.set(pid, stronger(owners.get(pid), place(window, applications.slice(index + 1), workspace, focus)));
        if (window === focus)
            focusOwner = pid;
    });
    const known = new Map();
    for (const {app, process} of clients)
        known.set(process, [...known.get(process) ?? [], app]);
    const apps = new Map();
    const count = (app, where) => apps.set(app, stronger(apps.get(app), where));
    for (const [pid, where] of owners) {
        for (const app of known.get(pid) ?? [processes.name(pid)].filter(name => name))
            count(app, where);
    }
    const behindFocus = [];
    for (const {app, process} of clients) {
        const owner = processes.owner(process, owners);
        if (owner)
            count(app, owners.get(owner));
        if (owner && owner === focusOwner)
            behindFocus.push(app);
    }
    return keepingOneFocus(apps, known.get(focusOwner) ?? [], behindFocus);
}

// The focus is one: the client's whose window it is, else the first of the clients behind that window, by name.
function keepingOneFocus(apps, own, behind) {
    const focused = [...apps.keys()].filter(app => apps.get(app).focused).sort();
    const chosen = own.find(app => focused.includes(app)) ??
        behind.filter(app => focused.includes(app)).sort()[0] ?? focused[0];
    for (const app of focused) {
        if (app !== chosen)
            apps.set(app, {...apps.get(app), focused: false});
    }
    return new Map([...apps].slice(0, PLACED_MAX));
}
