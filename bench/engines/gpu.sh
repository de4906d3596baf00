#!/usr/bin/env bash
# Tries the tensorflow-gpu engine on a Linux machine with an NVIDIA GPU, g++ and a pip that finds TensorFlow's CUDA build:
# installs that into a virtual environment, builds the binding against it, checks every engine and trains 200 steps.
set -euo pipefail
cd "$(dirname "$0")/../.."
environment=${1:-.tensorflow}
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/pip" install 'tensorflow[and-cuda]'
npx --yes pnpm@12.4.2 dflash engine install tensorflow --python "$environment/bin/python"
npx --yes pnpm@12.4.2 dflash doctor
npx --yes pnpm@12.4.2 dflash train --engine tensorflow-gpu --steps 200
