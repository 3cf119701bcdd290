"""How well a grouping meets known classes. Documents that a method leaves without a group are one
group more.
"""
import numpy
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import (adjusted_rand_score, homogeneity_completeness_v_measure,
                             normalized_mutual_info_score)
from sklearn.metrics.cluster import contingency_matrix

NAMES = {"nmi": "NMI", "ari": "ARI", "accuracy": "accuracy", "homogeneity": "homogeneity",
         "completeness": "completeness", "largest": "largest", "empty": "empty", "k": "clusters"}


def scores(classes, labels, asked=None):
    """Of a class and a label for each document; None: in no group. asked: the groups that the method
    was to make, None where it chose.

    NMI by the arithmetic mean of the entropies; accuracy with classes and groups matched one to one,
    for the most documents (Hungarian method); largest is the largest group's share of all.
    """
    _, classes = numpy.unique(classes, return_inverse=True)
    groups = {label for label in labels if label is not None}
    number = {label: i + 1 for i, label in enumerate(sorted(groups))}
    labels = numpy.array([number.get(label, 0) for label in labels])
    shared = contingency_matrix(classes, labels)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    homogeneity, completeness, _ = homogeneity_completeness_v_measure(classes, labels)
    sizes = numpy.bincount(labels, minlength=2)[1:]
    return {"nmi": float(normalized_mutual_info_score(classes, labels)),
            "ari": float(adjusted_rand_score(classes, labels)),
            "accuracy": float(shared[rows, columns].sum() / len(labels)),
            "homogeneity": float(homogeneity), "completeness": float(completeness),
            "largest": float(sizes.max() / len(labels)),
            "empty": asked - len(groups) if asked else 0, "k": len(groups)}
