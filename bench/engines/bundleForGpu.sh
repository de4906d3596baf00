#!/usr/bin/env bash
# Packs the trainer, this benchmark and that of ops into FOLDER/app.tar.xz, for a Linux x64 machine that has Node, a GPU's Vulkan
# driver and a copy of this repository's files, and no network. There, webgpu.sh runs it.
set -euo pipefail
folder=$(realpath "${1:?usage: bundleForGpu.sh FOLDER}")
cd "$(dirname "$0")"
node_modules/.bin/tsdown --logLevel error
cp pytorch.py dist/bench/engines/
cp ../ops/pytorch.py dist/bench/ops/
cp ../../apps/trainer/package.json dist/apps/trainer/
cd dist
cat >package.json <<'JSON'
{
  "type": "module",
  "dependencies": {
    "@tensorflow/tfjs-backend-cpu": "4.22.0",
    "@tensorflow/tfjs-backend-wasm": "4.22.0",
    "@tensorflow/tfjs-backend-webgpu": "4.22.0",
    "@tensorflow/tfjs-core": "4.22.0",
    "webgpu": "0.6.2"
  }
}
JSON
npm install --ignore-scripts --no-audit --no-fund --silent
# What Node doesn't load.
find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.md' -o -path '*/src/*' ! -path '*/long/*' \) -delete
find node_modules/@tensorflow/*/dist -type f -name '*.js' ! -name '*.node.js' ! -path '*/wasm-out/*' -delete
find node_modules/webgpu/dist -mindepth 1 -maxdepth 1 ! -name linux-x64 -exec rm -r {} +
ln -sfn ../data apps/data
tar -cJf "$folder/app.tar.xz" .
ls -l "$folder/app.tar.xz"
