#!/bin/sh
# Opens the HTML report in a real browser, uses it, and keeps screenshots in target/screenshots.
# Needs node 20 or newer with npm, and Debian's chromium; what is missing is installed if that can be
# done. CHROMIUM names another browser, PAGES a folder with pages that were made before.
set -eu
cd "$(dirname "$0")"
root=$(cd .. && pwd)

# What is missing and cannot be had ends with 3, a failed test with 1.
fail() {
    echo "browser test: $1" >&2
    exit 3
}

install() {
    [ "$(id -u)" = 0 ] || fail "$1 is missing; install it (apt-get install $1) and run this again"
    echo "browser test: installing $1"
    (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1") \
        >/dev/null 2>&1 || fail "$1 is missing and could not be installed"
}

command -v node >/dev/null || fail "node is missing; version 20 or newer is needed"
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" = true ] \
    || fail "node $(node --version) is too old; version 20 or newer is needed"
if [ -z "${CHROMIUM:-}" ]; then
    command -v chromium >/dev/null || install chromium
    CHROMIUM=$(command -v chromium)
fi
if [ ! -d node_modules/playwright-core ] || [ ! -d node_modules/axe-core ]; then
    command -v npm >/dev/null || fail "npm is missing"
    npm ci --no-audit --no-fund --loglevel=error || fail "the packages could not be installed"
fi
if [ -z "${PAGES:-}" ]; then
    PAGES="$root/target/pages"
    (cd "$root" && cargo run --quiet --package selvedge-report --example html_fixture -- "$PAGES")
fi

export CHROMIUM PAGES
SCREENSHOTS="${SCREENSHOTS:-$root/target/screenshots}" exec node test.mjs
