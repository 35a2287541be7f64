#!/bin/sh
# Compiles the programs into ../classes/newer.jar, with a javac of Java 25; the same classes give the same bytes.
set -e
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
javac --release 25 -Xlint:none -d "$out" ./*.java
jar=$(pwd)/../classes/newer.jar
cd "$out"
rm -f "$jar"
jar --create --date=2026-01-01T00:00:00Z --no-manifest --file "$jar" $(ls | LC_ALL=C sort)
