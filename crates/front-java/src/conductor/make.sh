#!/bin/sh
# Compiles the conductor into conductor.jar, by javac 17 for Java 8; the same source gives the same bytes.
set -e
cd "$(dirname "$0")"
here=$(pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
javac --release 8 -g:none -Xlint:none -d "$out" Conductor.java
cd "$out"
rm -f "$here/conductor.jar"
jar --create --date=2026-01-01T00:00:00Z --no-manifest --file "$here/conductor.jar" $(find selvedge -name '*.class' | LC_ALL=C sort)
