#!/bin/sh
# Compiles the programs into ../classes/causes.jar, and without lines into ../classes/causes-without-lines.jar;
# the same classes give the same bytes.
set -e
cd "$(dirname "$0")"
here=$(pwd)
for debug in lines,source none; do
    out=$(mktemp -d)
    case $debug in
    none) jar=causes-without-lines.jar ;;
    *) jar=causes.jar ;;
    esac
    javac -Xlint:none -g:$debug -d "$out" ./*.java
    rm -f "$here/../classes/$jar"
    (cd "$out" && jar --create --date=2026-01-01T00:00:00Z --no-manifest --file "$here/../classes/$jar" $(ls | LC_ALL=C sort))
    rm -rf "$out"
done
