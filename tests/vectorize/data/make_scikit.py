"""Makes scikit-posts.jsonl and scikit-weights.tsv, with which test_scikit.c compares.

    zstd -dc <data>/reddit-posts/reddit-posts.jsonl.zst | /usr/bin/python3 make_scikit.py

run in this folder, with scikit-learn 1.2.1. The posts are of the Reddit Top 2.5 Million collection
(Open Data Commons Public Domain Dedication and License 1.0): forty, evenly spread over those of 80
to 400 characters with a body that are about some sober subjects, that mean the same to both
tokenisers (no underscore at a word's edge, lower case the same as NFKC_Casefold), and of which one
in five may hold characters beyond ASCII, none names a user (@, u/) or links anywhere.
"""

import json
import re
import sys
import unicodedata

from sklearn.feature_extraction.text import TfidfVectorizer

SUBJECTS = """AskElectronics AskEngineers Beekeeping Blacksmith Calligraphy HomeImprovement Permaculture
    Spanish Unity3D androiddev archlinux arduino bicycletouring bikecommuting botany compsci debian
    excel farming gamedev guitarlessons headphones homestead java languagelearning learnpython
    linux4noobs linuxquestions metalworking musictheory networking neuroscience photoshop piano
    running statistics sysadmin triathlon vmware""".split()

SETTINGS = {  # name: (scikit-learn's, ours)
    "default": ({}, "idf=smooth"),
    "sublinear": ({"sublinear_tf": True}, "tf=log idf=smooth"),
    "plus_one": ({"smooth_idf": False}, "idf=log_plus_one"),
    "filtered": ({"min_df": 2, "max_df": 0.3}, "idf=smooth min_df=2 max_df=0.3"),
    "bigrams": ({"ngram_range": (1, 2)}, "idf=smooth ngrams_max=2"),
    "counts": ({"use_idf": False, "norm": None}, "idf=none norm=none"),
    "binary": ({"use_idf": False, "binary": True}, "tf=binary idf=none"),
}


def means_the_same(text):
    folded = unicodedata.normalize("NFKC", text.casefold())
    return folded == text.lower() and not re.search(r"\b_|_\b", text)


def is_wanted(text):
    fits = 80 <= len(text) <= 400 and "\n" in text
    return fits and not re.search(r"@|u/|http|www", text) and means_the_same(text)


def spread(posts, n):
    return posts[:: len(posts) // n][:n]


posts = [line for line in map(json.loads, sys.stdin) if line["label"] in SUBJECTS]
posts = [post for post in posts if is_wanted(post["text"])]
ascii_posts = [post for post in posts if post["text"].isascii()]
posts = spread(ascii_posts, 32) + spread([p for p in posts if p not in ascii_posts], 8)
with open("scikit-posts.jsonl", "w", encoding="utf-8") as out:
    for post in posts:
        line = {"id": post["id"], "text": post["text"]}
        out.write(json.dumps(line, ensure_ascii=False) + "\n")

with open("scikit-weights.tsv", "w", encoding="utf-8") as out:
    out.write("# scikit-learn's TfidfVectorizer on scikit-posts.jsonl, by make_scikit.py\n")
    out.write("# = name, our settings; then row, term, weight\n")
    for name, (theirs, ours) in SETTINGS.items():
        vectorizer = TfidfVectorizer(**theirs)
        x = vectorizer.fit_transform(post["text"] for post in posts).tocsr()
        terms = vectorizer.get_feature_names_out()
        out.write(f"=\t{name}\t{ours}\n")
        for row in range(x.shape[0]):
            for at in range(x.indptr[row], x.indptr[row + 1]):
                out.write(f"{row}\t{terms[x.indices[at]]}\t{x.data[at]:.9g}\n")
