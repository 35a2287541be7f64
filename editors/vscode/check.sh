#!/bin/sh
# Compiles the extension, tests its grammars and packs it into out/selvedge.vsix. Needs node 20 or newer
# with npm; the packages are installed if that can be done.
set -eu
cd "$(dirname "$0")"

# What is missing and cannot be had ends with 3, a failed step with 1.
fail() {
    echo "extension: $1" >&2
    exit 3
}

command -v node >/dev/null || fail "node is missing; version 20 or newer is needed"
[ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" = true ] \
    || fail "node $(node --version) is too old; version 20 or newer is needed"
if [ ! -d node_modules/vscode-languageclient ] || [ ! -d node_modules/vscode-tmgrammar-test ]; then
    command -v npm >/dev/null || fail "npm is missing"
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error || fail "the packages could not be installed"
fi
npm run --silent compile || exit 1
npm test --silent || exit 1
npm run --silent package || exit 1
[ -s out/selvedge.vsix ] || exit 1
