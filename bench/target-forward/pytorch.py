"""One forward a line of stdin, its features joined, by transformers; answers with its times and the memory held at most."""

import json
import resource
import sys
import time

import torch
from transformers import AutoModelForCausalLM

folder, threads, rows, length, ids = sys.argv[1:]
layer_ids = [int(i) for i in ids.split(",")]
torch.set_num_threads(int(threads))
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).model.eval()
# As ours, it stops after the last layer that is captured.
model.layers = model.layers[: max(layer_ids) + 1]
rows, length = int(rows), int(length)
tokens = (torch.arange(rows * length) * 7919) % model.config.vocab_size

for _ in sys.stdin:
    cpu, start = time.process_time(), time.perf_counter()
    with torch.inference_mode():
        states = model(tokens.view(rows, length), output_hidden_states=True, use_cache=False).hidden_states
        packing = time.perf_counter()
        torch.cat([states[i + 1] for i in layer_ids], dim=-1)
    end = time.perf_counter()
    answer = {
        "wall": 1000 * (end - start),
        "pack": 1000 * (end - packing),
        "cpu": 1000 * (time.process_time() - cpu),
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps(answer), flush=True)
