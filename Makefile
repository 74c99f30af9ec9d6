# The two commands of the README are `make run` and `make test`; the others are parts of them or rarer.

DATADIR ?= data
PORT ?= 3306
CARGO ?= cargo
PYTEST ?= target/venv/bin/python -m pytest
# Words for the server (`make run ARGS="--innodb-buffer-pool-size=4G"`), pytest or a bench script.
ARGS ?=
SERVER ?=
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: run build pages install deb test needs lint fmt unit model simulate e2e bench criterion gate deny clean-data

# Serves on loopback with an empty root password; the first start makes ./data.
run: build
	@echo "connect with: mariadb -h 127.0.0.1 -P $(PORT) -u root"
	@exec $(TARGET)/release/clearway serve --datadir=$(abspath $(DATADIR)) --port=$(PORT) --bind-address=127.0.0.1 \
	  --socket=$(abspath $(DATADIR))/clearway.sock --initialize-insecure $(ARGS)

build:
	$(CARGO) build --release --locked

# The man page and the completions, of what the command says of itself.
pages: build
	@mkdir -p $(TARGET)/pages
	$(TARGET)/release/clearway manual man >$(TARGET)/pages/clearway.1
	$(TARGET)/release/clearway manual bash >$(TARGET)/pages/clearway.bash
	$(TARGET)/release/clearway manual zsh >$(TARGET)/pages/_clearway
	$(TARGET)/release/clearway manual fish >$(TARGET)/pages/clearway.fish

# make install PREFIX=/usr/local DESTDIR=/tmp/image; the service needs a user `clearway` and is not started.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
install: pages
	install -D -m 755 $(TARGET)/release/clearway $(DESTDIR)$(PREFIX)/bin/clearway
	install -D -m 644 $(TARGET)/pages/clearway.1 $(DESTDIR)$(PREFIX)/share/man/man1/clearway.1
	install -D -m 644 $(TARGET)/pages/clearway.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/clearway
	install -D -m 644 $(TARGET)/pages/_clearway $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_clearway
	install -D -m 644 $(TARGET)/pages/clearway.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/clearway.fish
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|/usr/bin|$(PREFIX)/bin|; s|/etc/clearway|$(SYSCONFDIR)/clearway|' packaging/debian/clearway.service \
	  >$(DESTDIR)$(PREFIX)/lib/systemd/system/clearway.service
	install -d $(DESTDIR)$(SYSCONFDIR)/clearway/conf.d
	[ -e $(DESTDIR)$(SYSCONFDIR)/clearway/clearway.cnf ] || \
	  sed 's|/etc/clearway|$(SYSCONFDIR)/clearway|' packaging/clearway.cnf >$(DESTDIR)$(SYSCONFDIR)/clearway/clearway.cnf

# A Debian package in target/debian. Minutes to install cargo-deb, so it is no part of anything else.
deb: pages
	$(CARGO) deb --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deb
	$(CARGO) deb --no-build

# What CI runs, in that order: one development build serves unit and e2e, whose server so checks its own assertions.
test: needs lint unit model simulate e2e

needs:
	@mkdir -p target
	@tests/needs.sh

fmt:
	$(CARGO) fmt --all

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) xtask check

# Unit and property tests of every crate, xtask's checks among them. A test that hangs is a failure, and the last one named is it.
unit:
	timeout 3000 $(CARGO) test --workspace --locked

# The primitives under loom, which replays every order of their steps; a build of its own.
model:
	RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=none $(CARGO) test --locked --release \
	  --target-dir $(TARGET)/loom -p sync -p path+file://$(CURDIR)/crates/store/log --test 'loom*'

# The engine by simulation, with small groups of pages (`space::map`); a build of its own. CLEARWAY_SIM_SEEDS=from..to runs more.
simulate:
	RUSTFLAGS="--cfg small_groups" $(CARGO) test --locked --target-dir $(TARGET)/small -p engine --test simulation

# Against another build: make e2e SERVER=target/release/clearway
e2e: needs
	[ -n "$(SERVER)" ] || $(CARGO) build --locked
	CLEARWAY=$(abspath $(or $(SERVER),$(TARGET)/debug/clearway)) $(PYTEST) tests/e2e $(ARGS)

bench: build
	bench/run.sh $(ARGS)

# Instructions of a point select and an indexed update against the counts that are kept (bench/gate.counts); needs valgrind.
gate: build
	bench/gate.sh $(ARGS)

# Licences, banned crates and sources of all dependencies (deny.toml). Minutes to install, so no part of `make lint`.
deny:
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check bans licenses sources

criterion:
	$(CARGO) bench --workspace --locked

clean-data:
	rm -rf $(DATADIR)
