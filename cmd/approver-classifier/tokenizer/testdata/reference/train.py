"""Trains small Unigram models with SentencePiece, writes them as tokenizer.json
and prints the ids that SentencePiece gives for texts:

    train.py CORPUS TEXTS.json FOLDER

FOLDER gets unigram.json and bytes.json (with byte fallback), each with the
tokenizer, whose normalizers do what SentencePiece does, and the ids.

A text that spells a control piece ("<s>", "<0x41>") has null for its ids: SentencePiece
keeps such pieces out of texts, and tokenizer.json cannot say so.
"""

import base64
import json
import re
import sys

import sentencepiece


def fields(data):
    """Yields the fields of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        size = {0: None, 1: 8, 5: 4}.get(key & 7, 0)
        if size is None:
            yield key >> 3, varint()
            continue
        size = size or varint()
        yield key >> 3, data[at : at + size]
        at += size


control = re.compile("</?s>|<unk>|<0x")


def train(corpus, folder, name, **options):
    prefix = f"{folder}/{name}"
    sentencepiece.SentencePieceTrainer.train(
        input=corpus, model_prefix=prefix, model_type="unigram", hard_vocab_limit=False,
        minloglevel=2, num_threads=1, pad_id=0, bos_id=1, eos_id=2, unk_id=3, **options,
    )
    sp = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
    model = list(fields(open(prefix + ".model", "rb").read()))
    normalizer = dict(fields(next(v for k, v in model if k == 3)))
    return sp, base64.b64encode(normalizer[2]).decode()


def tokenizer(sp, charsmap, byte_fallback):
    pieces = [[sp.id_to_piece(i), sp.get_score(i)] for i in range(sp.get_piece_size())]
    normalizers = [
        {"type": "Precompiled", "precompiled_charsmap": charsmap},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}},
        },
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": byte_fallback},
    }


def main():
    corpus, texts, folder = sys.argv[1:]
    texts = json.load(open(texts, encoding="utf-8"))
    for name, options in {"unigram": {"vocab_size": 400}, "bytes": {"vocab_size": 500, "byte_fallback": True, "character_coverage": 0.99}}.items():
        sp, charsmap = train(corpus, folder, name, **options)
        out = {"tokenizer": tokenizer(sp, charsmap, name == "bytes"), "ids": [None if control.search(t) else sp.encode(t) for t in texts]}
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as f:
            json.dump(out, f)


main()
