#!/bin/sh
# Compiles the programs into ../classes/vacuous.jar; the same classes give the same bytes.
set -e
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
javac -Xlint:none -d "$out" ./*.java
jar=$(pwd)/../classes/vacuous.jar
cd "$out"
rm -f "$jar"
jar --create --date=2026-01-01T00:00:00Z --no-manifest --file "$jar" $(ls | LC_ALL=C sort)
