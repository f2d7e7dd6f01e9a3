// Which app a process is, from /proc, in the broker's words (Sources/Edge/System/Identity/AppIdentity.swift), and which clients of
// the broker are behind which windows (Sources/Programs/Agent/Facts/Processes.swift says why it is so).
/* exported Processes */
'use strict';

const {GLib} = imports.gi;

// More generations than any program has between its window and the process that uses the camera.
const ANCESTORS_MAX = 32;
const APP_PREFIXES = ['app-', 'dbus-', 'flatpak-', 'snap.'];

function read(pid, name) {
    try {
        return new TextDecoder().decode(GLib.file_get_contents(`/proc/${pid}/${name}`)[1]);
    } catch (error) {
        return ''; // It is gone.
    }
}

// The fields of /proc/PID/stat behind the process's name, which may have any character in it.
function fields(pid) {
    const text = read(pid, 'stat');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function group(pid) {
    const line = read(pid, 'cgroup').split('\n').find(one => one.startsWith('0::'));
    return line ? line.slice(3) : '';
}

// The unit of the user's own manager with the slices before it, or null.
function userUnit(path) {
    const found = /^\/user\.slice\/user-(\d+)\.slice\/user@\1\.service\/((?:[^/]+\.slice\/)*)_?([^/]+\.(?:service|scope))/
        .exec(path);
    return found ? {slices: found[2], name: found[3]} : null;
}

// As systemd writes what has a meaning in a unit's name: `\x2d` is a hyphen.
function unescaped(name) {
    const bytes = [];
    for (let rest = new TextEncoder().encode(name), at = 0; at < rest.length; at++) {
        const code = /^\\x([0-9a-f]{2})/i.exec(String.fromCharCode(...rest.slice(at, at + 4)));
        bytes.push(code ? parseInt(code[1], 16) : rest[at]);
        at += code ? 3 : 0;
    }
    return new TextDecoder().decode(new Uint8Array(bytes));
}

// `firefox` of `app-gnome-firefox-1234.scope`.
function appName(unit) {
    const name = unit.split('@')[0].replace(/\.(scope|service)$/, '');
    const words = name.split('-').filter(word => word);
    if (words[0] === 'app')
        words.shift();
    if (words.length > 1 && /^\d+$/.test(words[words.length - 1]))
        words.pop();
    if (words.length > 1 && ['gnome', 'kde', 'flatpak', 'sway'].includes(words[0]))
        words.shift();
    // `snap.firefox.firefox-UUID.scope`: five words of hexadecimal digits, others at each start.
    if (name.startsWith('snap.') && words.length > 5 && words.slice(-5).every(word => /^[0-9a-f]+$/i.test(word)))
        words.splice(-5);
    return unescaped(words.join('-')) || null;
}

// Of one moment: what is asked twice is read once.
var Processes = class Processes {
    constructor() {
        this._parents = new Map();
        this._units = new Map();
    }

    name(pid) {
        const path = group(pid);
        const own = userUnit(path);
        const command = read(pid, 'comm').trim();
        if (own)
            return (own.name.startsWith('init.') ? null : appName(own.name)) ?? command;
        const unit = /^\/(?:[^/]+\.slice\/)*_?([^/]+\.(?:service|scope))/.exec(path)?.[1];
        if (!unit || ['session-', 'user@', 'init.'].some(prefix => unit.startsWith(prefix)))
            return command;
        return unit.endsWith('.service') ? unit : appName(unit) ?? command;
    }

    parent(pid) {
        if (!this._parents.has(pid))
            this._parents.set(pid, Number(fields(pid)[1] ?? 0));
        return this._parents.get(pid);
    }

    // The nearest of a process and its ancestors that is one of `owners`, or null.
    ancestor(pid, owners) {
        for (let step = 0; step < ANCESTORS_MAX && pid > 1; step++) {
            if (owners.has(pid))
                return pid;
            pid = this.parent(pid);
        }
        return null;
    }

    // The unit that the desktop made for one app; null for what was started in a terminal, whose unit several share.
    unit(pid) {
        if (!this._units.has(pid)) {
            const own = userUnit(group(pid));
            const isApp = own && APP_PREFIXES.some(prefix => own.name.startsWith(prefix));
            const hasTerminal = Number(fields(pid)[4] ?? 0) !== 0;
            this._units.set(pid, isApp && !hasTerminal ? own.slices + own.name : null);
        }
        return this._units.get(pid);
    }

    // The owner of a window that a client is behind, or null.
    owner(client, owners) {
        const above = this.ancestor(client, owners);
        if (above)
            return above;
        const unit = this.unit(client);
        if (!unit)
            return null;
        const first = [...owners].filter(one => this.unit(one) === unit && !this.ancestor(this.parent(one), owners));
        return first.length === 1 ? first[0] : null;
    }
};
