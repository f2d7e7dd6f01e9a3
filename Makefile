# camarb: everything a person or a machine does with the checkout. `make help` lists it.

# One build serves all jobs: release, with the tests. What differed in flags would be built twice, so tests reach inside
# through `package` access and not through @testable, which wants flags of its own.
SWIFT_BUILD = @make/compile
# make/compile says how far it is, and make/packages before it what it installs: neither says how long all of it takes.
SAY_HOW_LONG = @[ -e .build/release/camclient ] || echo "The first build takes about ten minutes on two cores; later ones build what changed."
# libcamarb, the V4L2 door, and the modules for Python and GStreamer: in C, and no part of the Swift package.
CLIENTS = $(MAKE) --silent -C clients

.PHONY: help build test planted-bugs test-clients test-interop test-debian13 test-desktop test-vm demo pictures verify fuzz metamorphoses fuzz-inputs simulate test-threads torture torture-recordings bench bench-vm install deb check-deb format lint install-packages clean

help:
	@echo "make demo              two apps and a camera: the live timeline, and a recording, a photo, an SVG and a trace in ./out"
	@echo "                       (CAMERA=v4l2:IDENTITY: with a camera of this machine; camrecorder --list-cameras)"
	@echo "make pictures          the pictures of README.md, in docs/pictures"
	@echo "make test              everything that is tested: Swift, real D-Bus clients, real processes, planted bugs"
	@echo "make test-debian13     what depends on the release of Debian, on Debian 13, in a root that debootstrap makes; an hour the first time"
	@echo "make planted-bugs      plants every known bug, and requires that its test finds it; half an hour"
	@echo "make verify            every shipped policy in every state of small worlds, as far as MINUTES=10 each allow"
	@echo "make fuzz              random runs under random policies for MINUTES=10, and the smallest of each kind that breaks a promise"
	@echo "make metamorphoses     the same runs with what changes nothing behind each line: nobody hears of it (RUNS=20000, SEED=N)"
	@echo "make fuzz-inputs       libFuzzer on what reads other people's bytes, MINUTES=10 each (TARGET='words': only these)"
	@echo "make simulate          camarbd in simulated time, with faults by chance, for MINUTES=10 (SEED=N: from this seed on)"
	@echo "make test-threads      ThreadSanitizer on what has threads, built apart (TEST='filter': only these)"
	@echo "make torture           attacks, loads and faults against camarbd: promise, figure, met or not (ROW='words': only these)"
	@echo "make torture-recordings  200 kills of camrecorder over recordings with sound and metadata, half of them on a full disk"
	@echo "make test-interop      camarbd from outside: all claims, also those that take minutes (CLAIMS='words': only these)"
	@echo "make test-clients      libcamarb, the V4L2 door with real programs and browsers, Python, GStreamer (SHORT=1: as in make test)"
	@echo "make test-desktop      browsers through the desktop portal and PipeWire, and on the pages about policies; minutes (CLAIMS='words': only these)"
	@echo "make test-vm           real cameras' interfaces and login sessions, in a virtual machine (STEPS='words': only these)"
	@echo "make bench             the broker against programs of its own in C, as ratios (QUICK=1: fewer rounds)"
	@echo "make bench-vm          on the kernel's own virtual camera: processor time and delay of each kind of consumer, the cost of three at once, and the time of a handover"
	@echo "make build             the programs, in .build/release, and the libraries, in clients"
	@echo "make install           programs, libraries, units, policies and pages, below PREFIX (/usr/local)"
	@echo "make deb               the Debian packages, in .build-deb (RELEASE=trixie: those of Debian 13, in .build-deb/trixie)"
	@echo "make check-deb         the same; fails where lintian warns, or they are larger than they may be (RELEASE=…, too)"
	@echo "make test-packages     installs them from nothing by docs/installing.md, in a root of their own, and purges them (RELEASE=…, too)"
	@echo "make format            formats the Swift sources"
	@echo "make lint              says what \`make format\` would change, and fails if anything"
	@echo "make install-packages  the Debian packages for all of this"
	@echo "make clean             removes what was built"

install-packages:
	@make/packages build test clients demo bench bench-vm vm deb deb-check

build:
	@make/packages build
	$(SAY_HOW_LONG)
	$(SWIFT_BUILD)
	$(CLIENTS)

test:
	@make/packages build test roots
	$(SAY_HOW_LONG)
	@make/test

# The root and what is built in it are kept; some of it runs beside `make test`.
test-debian13:
	@make/inside trixie make/test release

# Every sixth of those in the core is part of `make test`.
planted-bugs:
	@make/packages build test desktop
	@Tests/planted-bugs/run

# Part of `make test`, too; here without bounds on states and memory that policies of your own could meet, and with all that
# the machine may do in worlds of three clients. Those are cut off by the time where they are too large, and say so.
VERIFY = .build/release/camclient policy verify --max-time $(or $(MINUTES),10)min --max-states 100000000 --max-memory 8G
verify:
	@make/packages build
	$(SWIFT_BUILD) camclient
	$(VERIFY) policies/*.toml; first=$$?; \
	second=0; \
	for policy in policies/*.toml; do \
		$(VERIFY) --everything --clients 2 --cameras 1 $$policy \
			|| { [ $$? = 6 ] && [ $$policy = policies/desktop-shared.toml ]; } || second=1; \
	done; \
	for policy in policies/*.toml; do \
		$(VERIFY) --everything --clients 3 --cameras 1 $$policy || [ $$? = 6 ] || exit 1; \
	done; \
	[ $$first = 0 ] && exit $$second; exit $$first

# Other runs each time, unless SEED says which; the last line says which they were.
fuzz:
	@make/packages build
	$(SWIFT_BUILD) explore
	@.build/release/explore fuzz --seed $(or $(SEED),$(shell date +%s)) --minutes $(or $(MINUTES),10) --keep-going

# What changes nothing, tried behind each line of such runs. Some of them are part of the tests.
metamorphoses:
	@make/packages build
	$(SWIFT_BUILD) explore
	@.build/release/explore fuzz --metamorphoses --seed $(or $(SEED),1) --runs $(or $(RUNS),20000) --keep-going

# A build of its own, in .build-fuzz.
fuzz-inputs:
	@make/packages build
	@Tests/fuzz/run --minutes $(or $(MINUTES),10) $(TARGET)

simulate:
	@make/packages build
	$(SWIFT_BUILD) simulate
	@/usr/bin/python3 Tests/simulation/run --seeds 0 --seed $(or $(SEED),$(shell date +%s)) --minutes $(or $(MINUTES),10)

# A build of its own, in .build-threads, and everything several times as slow: not part of `make test`.
test-threads:
	@make/packages build test
	@Tests/threads/run $(TEST)

test-desktop:
	@make/packages build test desktop
	$(SWIFT_BUILD)
	@/usr/bin/python3 Tests/desktop/run $(CLAIMS)

torture:
	@make/packages build test
	$(SWIFT_BUILD)
	@/usr/bin/python3 Tests/torture/run $(ROW)

# Twenty of the kills are part of `make torture`'s short form, and so of `make test`.
torture-recordings:
	@make/packages build test
	$(SWIFT_BUILD)
	@/usr/bin/python3 Tests/torture/run recordings-killed recordings-killed-disk-full

test-clients:
	@make/packages build test $(if $(SHORT),,clients)
	$(SWIFT_BUILD)
	@clients/check $(if $(SHORT),--short)

test-interop:
	@make/packages build test
	$(SWIFT_BUILD)
	$(CLIENTS)
	@/usr/bin/python3 Tests/interop/run --shards 2 $(CLAIMS)

test-vm:
	@make/packages build vm deb
	$(SWIFT_BUILD)
	@packaging/deb
	@Tests/vm/run $(STEPS)

# Of all programs those that it runs: not optimized, which takes minutes less, and where optimized ones have been built, those.
demo:
	@make/packages demo
	@[ -e .build/release/camclient ] || echo "The first build of what the demo runs takes about four minutes on two cores; later ones build what changed."
	@make/compile $(if $(wildcard .build/release/camclient),,--debug) camclient camarbd camrecorder camkeeper camwriter
	@demo/run $(if $(CAMERA),--camera "$(CAMERA)")

# docs/pictures; nothing else needs them to be made again, and a claim says when they are no longer what the programs do.
pictures:
	@make/packages programs pictures
	$(SWIFT_BUILD) camclient camarbd camrecorder camkeeper camwriter
	@docs/pictures/run

bench:
	@make/packages build bench
	$(SWIFT_BUILD)
	@bench/run $(if $(QUICK),--quick)

bench-vm:
	@make/packages build vm deb bench-vm
	$(SWIFT_BUILD)
	@packaging/deb
	@Tests/vm/run --bench

install: build
	@packaging/install --destdir "$(DESTDIR)" --prefix "$(or $(PREFIX),/usr/local)"
	@echo "Installed. As root: ldconfig; systemd-sysusers; systemd-tmpfiles --create camarb.conf; systemctl daemon-reload;"
	@echo "systemctl enable --now camarbd.socket camrecorder.socket; systemctl --global enable camagent.service;"
	@echo "udevadm control --reload; udevadm trigger --subsystem-match=video4linux --subsystem-match=media --action=change"
	@echo "(the package acl has setfacl, which the rules call)"

ifdef RELEASE
deb:
	@packaging/deb --release "$(RELEASE)"

check-deb:
	@packaging/deb --check --release "$(RELEASE)"
else
deb:
	@make/packages build deb
	$(SWIFT_BUILD)
	@packaging/deb

check-deb:
	@make/packages build deb deb-check
	$(SWIFT_BUILD)
	@packaging/deb --check
endif

# Part of `make test`, for this machine's release.
.PHONY: test-packages
test-packages: deb
	@Tests/packages/run $(RELEASE)

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests

clean:
	$(CLIENTS) clean
	rm -rf .build .build-bench .build-deb .build-demo .build-fuzz .build-planted .build-python .build-threads .build-trixie .build-vm out
