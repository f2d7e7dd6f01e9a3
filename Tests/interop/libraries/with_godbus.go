// An app that uses cameras through godbus. It says and does what the ones in Python do (lines.py).
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"log"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/godbus/dbus"
)

const (
	sessionInterface = "org.camarb.Session1"
	properties       = "org.freedesktop.DBus.Properties"
	// A packet of a preview stream, and the tag of one that carries a buffer.
	recordBytes = 40
	bufferTag   = 1
)

type line map[string]interface{}

var saying sync.Mutex

func say(what line) {
	text, err := json.Marshal(what)
	if err != nil {
		log.Fatal(err)
	}
	saying.Lock()
	defer saying.Unlock()
	os.Stdout.Write(append(text, '\n'))
}

// plain takes the variants off a dictionary's values, as deep as ours go.
func plain(value interface{}) interface{} {
	switch value := value.(type) {
	case dbus.Variant:
		return plain(value.Value())
	case map[string]dbus.Variant:
		all := line{}
		for name, one := range value {
			all[name] = plain(one)
		}
		return all
	case []string:
		// A list without anything in it is one, and not null.
		return append([]string{}, value...)
	}
	return value
}

// call ends the app where the broker refuses.
func call(object dbus.BusObject, method string, arguments ...interface{}) *dbus.Call {
	answer := object.Call(method, 0, arguments...)
	if answer.Err != nil {
		log.Fatalf("%s: %v", method, answer.Err)
	}
	return answer
}

func store(answer *dbus.Call, into ...interface{}) {
	if err := answer.Store(into...); err != nil {
		log.Fatal(err)
	}
}

// show reads the first packet of a preview stream, which comes with a buffer's descriptor.
func show(stream int) {
	record, control := make([]byte, recordBytes), make([]byte, 64)
	count, passed, _, _, err := syscall.Recvmsg(stream, record, control, 0)
	if err != nil || count != recordBytes || binary.LittleEndian.Uint32(record) != bufferTag {
		log.Fatalf("the stream begins with %d bytes: %v", count, err)
	}
	if messages, err := syscall.ParseSocketControlMessage(control[:passed]); err != nil || len(messages) != 1 {
		log.Fatalf("the buffer has %d control messages: %v", len(messages), err)
	}
	say(line{"stream": binary.LittleEndian.Uint32(record[8:])})
	syscall.Close(stream)
}

func hear(signals chan *dbus.Signal, session dbus.BusObject) {
	for signal := range signals {
		if signal.Path != session.Path() {
			continue
		}
		if signal.Name == properties+".PropertiesChanged" {
			say(line{"changed": plain(signal.Body[1]), "named": plain(signal.Body[2])})
			continue
		}
		body := []interface{}{}
		for _, value := range signal.Body {
			body = append(body, plain(value))
		}
		say(line{"signal": strings.TrimPrefix(signal.Name, sessionInterface+"."), "body": body})
		if signal.Name == sessionInterface+".DidStartRunning" {
			var stream dbus.UnixFD
			store(call(session, sessionInterface+".OpenStream"), &stream)
			show(int(stream))
		}
	}
}

func main() {
	way, address, camera := os.Args[1], os.Args[2], os.Args[3]
	connection, err := dbus.Dial(address)
	if err == nil {
		err = connection.Auth(nil)
	}
	if err == nil && way == "bus" {
		err = connection.Hello()
	}
	if err != nil {
		log.Fatal(err)
	}
	broker := connection.Object("org.camarb", "/org/camarb/Broker1")
	call(broker, "org.camarb.Broker1.DeclareClient", map[string]dbus.Variant{"app": dbus.MakeVariant("photos")})
	var path dbus.ObjectPath
	store(call(broker, "org.camarb.Broker1.CreateSession", camera, map[string]dbus.Variant{}), &path)
	session := connection.Object("org.camarb", path)
	signals := make(chan *dbus.Signal, 64)
	connection.Signal(signals)
	if way == "bus" {
		for _, name := range []string{sessionInterface, properties} {
			if err := connection.AddMatchSignal(dbus.WithMatchObjectPath(path), dbus.WithMatchInterface(name)); err != nil {
				log.Fatal(err)
			}
		}
	}
	var all map[string]dbus.Variant
	store(call(session, properties+".GetAll", sessionInterface), &all)
	say(line{"properties": plain(all)})
	go hear(signals, session)
	words := bufio.NewScanner(os.Stdin)
	for words.Scan() {
		method := map[string]string{"start": ".StartRunning", "stop": ".StopRunning"}[words.Text()]
		call(session, sessionInterface+method)
	}
	call(session, sessionInterface+".Close")
	say(line{"closed": path})
}
