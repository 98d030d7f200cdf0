# The whole life of a checkout. Every target may be called at any time: what is done already
# is seen to be done, and skipped.
#
#   make install   packages, Rust binaries, kernel, object servers, .venv/bin/wavetank
#   make object    the last of these alone: servers and mounts of object storage
#   make demo      a first comparison, ending with the path of its report
#   make check     the fast loop: formatters, linters, strict types, unit tests
#   make test      the whole test suite: unit, guest, browser
#   make bench     ourselves against our limits and our peers
#   make docs      the manual, into site/
#   make clean     removes what was built here; the kernel in the user's cache stays

SHELL := /bin/sh
.DEFAULT_GOAL := help

PATH := $(HOME)/.cargo/bin:$(PATH)
export PATH
# Where src/wavetank/shipped.py looks for the binaries of a checkout.
CARGO_TARGET_DIR := $(CURDIR)/target
export CARGO_TARGET_DIR
unexport CARGO_BUILD_TARGET

BIN := .venv/bin
UNIT := not guest and not browser and not slow
DEMO = wavetank-runs/demo-$(shell date +%Y%m%d-%H%M%S)

# Those of object storage where all they are made of could be had.
HAS_OBJECT = for name in bin/versitygw swift/bin/swift-proxy-server bin/rclone; do \
    [ -x "$${XDG_CACHE_HOME:-$$HOME/.cache}/wavetank/programs/$$name" ] || exit 1; done; \
    command -v s3fs memcached fusermount3
DEMO_SYSTEMS = local,nfs4.2,iscsi$(shell ($(HAS_OBJECT)) >/dev/null 2>&1 && echo ,s3+s3fs,swift+rclone)

.PHONY: help install packages rust python binaries kernel object demo check test unit bench screenshot docs clean

help:
	@sed -n 's/^#   make/make/p' Makefile

install: packages binaries python kernel object
	@echo "wavetank: ready; .venv/bin/wavetank doctor tells more"

packages:
	@sh install/packages.sh

rust: packages
	@sh install/rust.sh

binaries: rust
	@cargo build --quiet --release --locked --target x86_64-unknown-linux-gnu

python:
	@sh install/python.sh dev

kernel: packages python
	@$(BIN)/wavetank kernel build

# What can't be had here is left out with a line: only s3... and swift... are made of it.
object: packages
	@sh install/object.sh

demo: install
	@set -e; out=$(DEMO); \
	$(BIN)/wavetank compare --systems $(DEMO_SYSTEMS) --networks ideal-100,realistic \
	    --workload batch --file-size 64KiB,1MiB --threads 1,8 --set-size 8MiB --duration 10s \
	    --disk ssd --out $$out; \
	echo "$(CURDIR)/$$out/report.html"

check: python rust
	cargo fmt --all --check
	@if cargo clippy --version >/dev/null 2>&1; then set -x; \
	    cargo clippy --quiet --workspace --all-targets --locked -- --deny warnings; \
	else echo "wavetank: this Rust has no clippy (rustup's has): its lints were NOT run"; fi
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	cargo test --quiet --workspace --locked
	$(BIN)/pytest --quiet -m "$(UNIT)"

unit: python
	$(BIN)/pytest --quiet -m "$(UNIT)"

# The packets are also looked at by tshark, and the path by iperf3.
test: install
	@sh install/packages.sh test
	cargo test --quiet --workspace --locked
	cargo test --quiet --package wavetank-object --test fuzz --locked -- --ignored
	$(BIN)/pytest

bench: install
	@sh install/packages.sh bench
	@set -e; for file in bench/*.py; do echo "== $$file"; $(BIN)/python $$file; done

# Retakes the picture in README.md from the newest demo; look at it before committing.
screenshot:
	chromium --headless --no-sandbox --hide-scrollbars --window-size=1280,1100 \
	    --virtual-time-budget=4000 --screenshot=docs/images/report.png \
	    "file://$(CURDIR)/$$(ls -d wavetank-runs/demo-*/ | tail -1)report.html" 2>/dev/null

docs:
	@sh install/python.sh docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf target site .mypy_cache .ruff_cache .pytest_cache .hypothesis .venv
