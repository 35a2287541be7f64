#!/bin/sh
# Compiles the programs into ../classes/units.jar, and those without `main` into ../classes/marked; the same
# classes give the same bytes.
set -e
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
javac -Xlint:none -d "$out" ./*.java
rm -rf ../classes/marked
javac -Xlint:none -d ../classes/marked marked/*.java
jar=$(pwd)/../classes/units.jar
cd "$out"
rm -f "$jar"
jar --create --date=2026-01-01T00:00:00Z --no-manifest --file "$jar" $(ls | LC_ALL=C sort)
