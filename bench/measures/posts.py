"""As many posts as are asked for, made from real ones, always the same. A program of its own:

    posts.py '{"source": FILE, "n": 2000000, "out": FILE.jsonl}'

First come the real posts, in an order drawn once, so that fewer are a sample of all. After those come copies, in each
of which three words of ten, one at least, are replaced by words of one other post: so under one in a hundred are equal
to another, and the vocabulary ends where the real one does.
"""
import json
import random
import sys

from data import texts_and_classes

REPLACED = 0.3
SHORTEST = 4  # letters of a word that takes another's place: shorter ones are mostly stop words


def replaced(text, texts, draw):
    """The text with some of its words replaced by words of another, drawn at random."""
    words, others = text.split() or [""], []
    while not others:
        others = [word for word in texts[draw.randrange(len(texts))].split() if len(word) >= SHORTEST]
    for _ in range(max(1, int(REPLACED * len(words)))):
        words[int(draw.random() * len(words))] = others[int(draw.random() * len(others))]
    return " ".join(words)


def made(texts, n):
    """n texts, one after the other."""
    draw = random.Random(1)
    order = list(range(len(texts)))
    draw.shuffle(order)
    for i in range(n):
        text = texts[order[i % len(order)]]
        if i >= len(order):
            text = replaced(text, texts, draw)
        yield text


def main(task):
    texts, _ = texts_and_classes(task["source"])
    size = 0
    with open(task["out"], "w", encoding="utf-8") as out:
        for i, text in enumerate(made(texts, task["n"])):
            size += len(text.encode())
            out.write(json.dumps({"id": f"{i:08}", "text": text}, ensure_ascii=False) + "\n")
    return {"bytes": size}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
