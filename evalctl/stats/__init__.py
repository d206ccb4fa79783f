"""Pure arithmetic: estimates, clustered and exact bounds, sign flips, several tests at once, power."""

from .clusters import Clusters, clusters_needed, identical_low, plus_one_high, plus_one_low, standard_error
from .exact import clopper_pearson
from .means import interval, mean
from .multiple import holm_levels
from .power import clusters_for_pass, more_clusters, pass_power, visible_drop
from .signflip import SignFlip
from .summary import summary

__all__ = [
    "Clusters",
    "SignFlip",
    "clopper_pearson",
    "clusters_for_pass",
    "clusters_needed",
    "holm_levels",
    "identical_low",
    "interval",
    "mean",
    "more_clusters",
    "pass_power",
    "plus_one_high",
    "plus_one_low",
    "standard_error",
    "summary",
    "visible_drop",
]
