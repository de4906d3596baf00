#!/usr/bin/env bash
# Runs what bundleForGpu.sh has packed, in a copy of this repository on a machine with a GPU: webgpu.sh FOLDER OUT.
# Checks the webgpu engine, measures steps on it, and trains the default run.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath "${1:?usage: webgpu.sh FOLDER OUT}")
out=$(realpath "${2:?usage: webgpu.sh FOLDER OUT}")
app=$(mktemp -d)
python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$folder/app.tar.xz" "$app"
ln -s "$repository/data" "$app/data"
cd "$app"
dflash() { node apps/trainer/src/main.js "$@"; }
steps() { for _ in $(seq "$1"); do echo; done | node bench/engines/worker.js "${@:2}"; }

dflash doctor --check webgpu | tee "$out/doctor.txt"
for case in "dflash" "language-model" "dflash --composed"; do
  echo "webgpu, $case" | tee -a "$out/steps.txt"
  # shellcheck disable=SC2086
  steps 12 --engine webgpu --case $case | tee -a "$out/steps.txt"
done
dflash train --engine webgpu --steps "${STEPS:-300}" --out "$app/run" 2>&1 | tee "$out/train.txt"
cp "$app/run/summary.json" "$out/"
gzip -c "$app/run/log.ndjson" >"$out/log.ndjson.gz"
