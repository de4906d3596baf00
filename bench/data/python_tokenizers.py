"""Times transformers' chat template and tokenizers on the same rows: reads {folder, records, rounds} (JSON) from standard
input, prints tokens and a list of seconds, one a round, for each kind of work."""

import json
import os
import sys
import time

os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

from tokenizers import Tokenizer
from transformers.utils.chat_template_utils import render_jinja_template

job = json.load(sys.stdin)
tokenizer = Tokenizer.from_file(job["folder"] + "/tokenizer.json")
template = json.load(open(job["folder"] + "/tokenizer_config.json"))["chat_template"]


def render():
    return render_jinja_template([record["messages"] for record in job["records"]], chat_template=template)[0]


texts = render()


def encode_one_by_one():
    return sum(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts)


def encode_batch():
    return sum(len(encoding.ids) for encoding in tokenizer.encode_batch(texts, add_special_tokens=False))


def timed(work):
    seconds = []
    for _ in range(job["rounds"]):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


tokens = encode_one_by_one()
work = {
    "transformers: chat template": timed(render),
    "tokenizers: ids, one by one": timed(encode_one_by_one),
    "tokenizers: ids, encode_batch on all cores": timed(encode_batch),
}
json.dump({"tokens": tokens, "work": work}, sys.stdout)
