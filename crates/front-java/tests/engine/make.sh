#!/bin/sh
# Compiles the programs about the analysis itself to ../classes/engine.jar, with javac 17.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
javac -g -proc:none -d "$folder" ./*.java
jar --create --no-manifest --date=1980-01-01T00:00:02Z --file ../classes/engine.jar -C "$folder" .
rm -r "$folder"
