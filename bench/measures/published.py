"""What others published of the collections, as far as it was found: other parts of them, other words,
and mostly models that were trained on much other text, so no more than something to hold on to.
"""
PEERJ = "PeerJ Computer Science 11 (2025) e2723, table 3, https://doi.org/10.7717/peerj-cs.2723"
PUGACHEV = ("Pugachev & Burtsev, Short Text Clustering with Transformers (2021), "
            "https://arxiv.org/abs/2102.00541, as https://www.wizwand.com/paper/68fa692c1e209131cea208b8 lists it")
SCCL = ("Zhang and others, Supporting Clustering with Contrastive Learning, NAACL 2021, "
        "https://arxiv.org/abs/2103.12953, as https://paperswithcode2.com/paper/207729 lists it")

FIGURES = {  # collection: (measure, figure, method, source)
    "ag-news": (("nmi", 0.585, "GSDMM", PEERJ), ("ari", 0.622, "GSDMM", PEERJ),
                ("accuracy", 0.8653, "sentence vectors of a Transformer", PUGACHEV)),
    "snippets": (("nmi", 0.580, "SeaNMF, its Snippets-1", PEERJ), ("ari", 0.634, "SeaNMF, its Snippets-1", PEERJ),
                 ("accuracy", 0.8767, "sentence vectors of a Transformer", PUGACHEV),
                 ("accuracy", 0.852, "SCCL, sentence vectors trained by contrast", SCCL)),
}


def best(collection):
    """The highest published NMI of a collection; None where there is none."""
    found = [figure for measure, figure, _, _ in FIGURES.get(collection, ()) if measure == "nmi"]
    return max(found, default=None)


def in_words(collection, names):
    """Lines of a list; none where nothing was found."""
    return [f"- published: {names[measure]} {figure:.3f} ({method}; {source})"
            for measure, figure, method, source in FIGURES.get(collection, ())]
