#!/bin/sh
# Compiles the programs into ../classes/frameworks.jar, without the stubs of the frameworks; the same classes
# give the same bytes.
set -e
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/stubs" "$out/own"
javac -Xlint:none -d "$out/stubs" $(find stubs -name '*.java' | LC_ALL=C sort)
javac -Xlint:none -cp "$out/stubs" -d "$out/own" wrong/*.java right/*.java
jar=$(pwd)/../classes/frameworks.jar
cd "$out/own"
rm -f "$jar"
jar --create --date=2026-01-01T00:00:00Z --no-manifest --file "$jar" $(find . -name '*.class' | cut -c3- | LC_ALL=C sort)
