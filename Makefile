# The two commands of the README are `make run` and `make test`; the others are parts of them or rarer.

DATADIR ?= data
PORT ?= 3306
CARGO ?= cargo
PYTEST ?= target/venv/bin/python -m pytest
# Words for the server (`make run ARGS="--innodb-buffer-pool-size=4G"`), pytest or a bench script.
ARGS ?=

.PHONY: run build test needs lint fmt unit model e2e bench criterion clean-data

# Serves on loopback with an empty root password; the first start makes ./data.
run: build
	@echo "connect with: mariadb -h 127.0.0.1 -P $(PORT) -u root"
	@exec target/release/clearway serve --datadir=$(abspath $(DATADIR)) --port=$(PORT) --bind-address=127.0.0.1 \
	  --socket=$(abspath $(DATADIR))/clearway.sock --initialize-insecure $(ARGS)

build:
	$(CARGO) build --release --locked

# What CI runs. One build for tests, one for the server under test.
test: needs lint unit model e2e

needs:
	@mkdir -p target
	@tests/needs.sh

fmt:
	$(CARGO) fmt --all

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) xtask check

# Unit and property tests of every crate, xtask's checks among them.
unit:
	$(CARGO) test --workspace --locked

# The primitives under loom, which replays every order of their steps; a build of its own.
model:
	RUSTFLAGS="--cfg loom" $(CARGO) test --locked --release --target-dir target/loom -p sync -p path+file://$(CURDIR)/crates/store/log --test 'loom*'

e2e: needs build
	$(CARGO) build --release --locked -p canned
	$(PYTEST) tests/e2e $(ARGS)

bench: build
	bench/run.sh $(ARGS)

criterion:
	$(CARGO) bench --workspace --locked

clean-data:
	rm -rf $(DATADIR)
